"""despur: five papers on representations that do not lean on spurious features, from raw data to tables and figures.

snakemake --cores all                                    the bundled run (config.yaml)
snakemake --cores all --configfile config/mnist.yaml     real MNIST
snakemake --cores all cnc                                one paper
snakemake --cores all results/runs/colored_digits/cnc+temperature=0.05/s0-2/metrics.csv
"""

from snakemake.utils import min_version

min_version("9.23")


# A configuration that names papers and data sets stands alone; any other changes config.yaml.
if not {"papers", "datasets"} <= set(config):

    configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/machine.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/stage1.smk"
include: "workflow/rules/groups.smk"
include: "workflow/rules/stage2.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/saliency.smk"


onstart:
    refuse_without_slurm()
    lift_job_limit()


report: "workflow/report/workflow.rst"


# Snakemake makes tables and figures itself: the jobs that it starts elsewhere need not know them, and so start faster.
# Where this is a module of another workflow, rules of that one may name them.
if workflow.is_main_process or IS_MODULE:

    include: "workflow/rules/papers.smk"
    include: "workflow/rules/report.smk"

    rule all:
        default_target: not IS_MODULE
        input:
            [artifact_files.list_paper_outputs(config, paper) for paper in config["papers"]],
            rules.scorecard.output,
        message:
            f"Made all tables and figures; the verdicts are in {OUT}/scorecard.html"


refuse_unknown_targets()
