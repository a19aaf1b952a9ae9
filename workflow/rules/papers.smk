# results/runs, results/groups -> results/papers/{paper}/{artifact}: every table and figure of every room (workflow/papers/<paper>/).
# What an artifact shows is data: experiments.yaml of its room. Tables are drawn by the room's tables.py, figures by its figures.py,
# the maps of representations behind its figures by its projections.py.

for paper in config["papers"]:
    for artifact in experiments.list_artifacts(config, paper):

        rule:
            name:
                f"{paper}_{artifact}"
            input:
                experiments.list_inputs(config, paper, artifact),
            output:
                shown(paper, artifact),
            log:
                f"{OUT}/logs/papers/{paper}/{artifact}.log",
            localrule: True
            conda:
                "../../envs/despur.yaml"
            params:
                script=f"workflow/papers/{paper}/{experiments.find_script(artifact)[0]} {artifact}",
                cells=cells_of(paper, artifact),
                prefix=prefix,
            shell:
                "python -m despur.warm {params.script} --cells {params.cells:q} --output {params.prefix} > {log} 2>&1"

    rule:
        name:
            paper
        input:
            [
                experiments.list_outputs(config, paper, artifact)
                for artifact in experiments.list_artifacts(config, paper)
            ],
