# All papers together -> results/matrix.* (every method on the same data), results/scorecard.* (verdicts on one page).

MATRIX = matrix.list_outputs(config)

if MATRIX:

    rule matrix:
        input:
            matrix.list_inputs(config),
        output:
            report_files(
                MATRIX,
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
            artifact_runs=when_planned(jobs.serialize_matrix, config),
            prefix=path_without_suffix,
        message:
            "Comparing all methods on the same data"
        shell:
            "python -m despur.warm -m despur.reporting.pages.comparison matrix"
            " --artifact-runs {params.artifact_runs:q} --output {params.prefix} > {log} 2>&1"


rule scorecard:
    input:
        [artifact_files.list_paper_outputs(config, paper) for paper in config["papers"]],
        MATRIX,
        template=[
            artifact_files.spell_template(f"scorecard.{kind}") for kind in ("html.jinja", "macros.jinja", "css", "js")
        ],
    output:
        report_files(
            [f"{OUT}/scorecard.{kind}" for kind in ("html", "csv", "rst", "yaml")],
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
        code=when_planned(script_digest, "despur/reporting/pages/scorecard.py"),
        prefix=path_without_suffix,
    message:
        "Collecting the verdicts"
    shell:
        "python -m despur.warm -m despur.reporting.pages.scorecard"
        " --config {params.config:q} --output {params.prefix} > {log} 2>&1"
