# All papers together -> results/matrix.* (every method on the same data) and results/scorecard.* (the verdict on one page).

if config.get("matrix"):

    rule matrix:
        input:
            matrix.list_inputs(config),
        output:
            reported(
                matrix.list_outputs(config),
                "../report/matrix.rst",
                SUMMARY,
                2,
                "All methods",
            ),
        log:
            f"{OUT}/logs/matrix.log",
        localrule: True
        conda:
            "../../envs/despur.yaml"
        params:
            cells=cells_of_matrix(),
            prefix=prefix,
        shell:
            "python -m despur.warm -m despur.reporting.comparison --cells {params.cells:q} --output {params.prefix} > {log} 2>&1"


rule scorecard:
    input:
        [
            experiments.list_outputs(config, paper, artifact)
            for paper in config["papers"]
            for artifact in experiments.list_artifacts(config, paper)
        ],
        matrix.list_outputs(config),
        template="workflow/report/scorecard.html.jinja",
    output:
        reported(
            [f"{OUT}/scorecard.{kind}" for kind in ("html", "csv")],
            "../report/scorecard.rst",
            SUMMARY,
            1,
            "Scorecard",
        ),
    log:
        f"{OUT}/logs/scorecard.log",
    localrule: True
    conda:
        "../../envs/despur.yaml"
    params:
        config=json.dumps(config),
        code=script_digest("despur/reporting/scorecard.py"),
        prefix=prefix,
    shell:
        "python -m despur.warm -m despur.reporting.scorecard --config {params.config:q} --output {params.prefix} > {log} 2>&1"
