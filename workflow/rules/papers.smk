# results/runs, results/groups -> results/papers/{paper}/{artifact}: every table and figure of every paper.
# What an artifact shows is data: experiments.yaml of its paper's folder, workflow/despur/papers/<paper>. There
# tables.py makes the tables, figures.py the figures, and projections.py the maps of representations behind figures.

for paper in config["papers"]:
    for artifact in artifact_files.list_artifacts(config, paper):

        rule:
            name:
                f"{paper}_{artifact}"
            input:
                artifact_files.list_inputs(config, paper, artifact),
                template=artifact_files.list_templates(artifact),
            output:
                artifact_outputs(paper, artifact),
            log:
                f"{OUT}/logs/papers/{paper}/{artifact}.log",
            localrule: True
            conda:
                "../../envs/despur.yaml"
            params:
                module=[f"despur.papers.{paper}.{artifact_files.find_module(artifact)[0]}", artifact],
                artifact_runs=when_planned(jobs.serialize_artifact, config, paper, artifact),
                prefix=path_without_suffix,
            message:
                f"Making {artifact_files.format_label(artifact)} of {paper}"
            shell:
                "python -m despur.warm -m {params.module:q} --artifact-runs {params.artifact_runs:q}"
                " --output {params.prefix} > {log} 2>&1"

    rule:
        name:
            paper
        input:
            artifact_files.list_paper_outputs(config, paper),
        message:
            f"Made all tables and figures of {paper}"
