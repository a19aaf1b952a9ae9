# What the rules share: the checked configuration, and what each path needs. No rules here, no maths.

import json
import math
import os
import shutil
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from despur.orchestration import (
    configuration,
    experiments,
    gpu_slots,
    locks,
    matrix,
    resources,
    slurm,
)
from despur.specs import paths
from despur.storage.digest import declarations_digest, cache_key, script_digest
from despur.specs.settings import SettingError


def refuse(error):
    """Print one message and stop. To the message of an exception Snakemake adds the lines of code where it was raised."""
    logger.error(f"Error: {error}")
    sys.exit(1)


try:
    config.update(configuration.complete_configuration(config))
    # A workflow does not see its targets before it has been read. Values of these options look like targets, and may have old names.
    if not {"--report", "--archive", "--cleanup-metadata"} & set(sys.argv):
        for word in sys.argv[1:]:
            configuration.check_target(config, Path(word))
except SettingError as error:
    refuse(error)

OUT = config["outputs"]
SUMMARY = "★ Summary"  # the report sorts categories: this one comes first
# After a kill -9, go on without --unlock. A cluster's jobs read this file, too, on nodes that cannot see who holds the lock.
ALIVE = locks.clear_stale_locks() if workflow.is_main_process else None
# Jobs that this Snakemake runs itself need not import libraries (despur/warm); those on other machines have no server.
os.environ.pop("DESPUR_WARM", None)
if workflow.is_main_process:
    os.environ.update(DESPUR_WARM=str(os.getpid()))


def of_profile(resource):
    """What a profile sets a resource to, by rule (set-resources)."""
    overwritten = workflow.resource_settings._parsed_overwrite_resources
    return {
        name: int(own[resource].value)
        for name, own in overwritten.items()
        if resource in own
    }


AT_ONCE = getattr(workflow.global_resources.get("gpu"), "value", None)
JOBS_PER_GPU = min(of_profile("jobs_per_gpu").values(), default=0)
# A profile that shares GPUs says how many jobs run on one device (jobs_per_gpu), and perhaps how many run at once (gpu): else all that fit.
if JOBS_PER_GPU:
    try:
        AT_ONCE = gpu_slots.count_slots(
            AT_ONCE,
            JOBS_PER_GPU,
            gpu_slots.list_visible_gpus(),
        )
    except gpu_slots.DeviceError as error:
        refuse(error)
    workflow.register_resource("gpu", AT_ONCE)
GPUS = math.inf if AT_ONCE is None else AT_ONCE // max(1, JOBS_PER_GPU)


def refuse_without_slurm():
    """One clear message before anything runs, not one for each job."""
    if workflow.executor_plugin.name != "slurm":
        return
    if not shutil.which("sbatch"):
        refuse(
            "this machine has no sbatch: start profiles/slurm on a login node of the cluster, or leave --workflow-profile out"
        )
    try:
        slurm.check_partitions(partitions())
    except slurm.SlurmError as error:
        refuse(error)


def partitions():
    """Where rules send their jobs, as the profile says it; what goes to a cluster by name is left out: sinfo speaks of its own."""
    sent = [rule.resources for rule in workflow.rules if not workflow.is_local(rule)]
    named = {"slurm_cluster", "clusters", "cluster"}
    return {
        str(own["slurm_partition"].raw)
        for own in sent
        if own.get("slurm_partition").raw and not named & set(own)
    }


wildcard_constraints:
    dataset=paths.NAME,
    base=paths.NAME,
    inference=paths.NAME,
    method=paths.NAME,
    seeds=paths.SEEDS,


def result_path(stage, wildcards):
    """What a job's wildcards ask for."""
    name = next(
        (
            wildcards[key]
            for key in ("base", "inference", "method")
            if key in wildcards.keys()
        ),
        "",
    )
    return paths.ResultPath(
        Path("results"), stage, wildcards.dataset, name, wildcards.get("seeds", "")
    )


def clearly(function):
    """Turn a bad name into one clear message."""

    def wrapped(wildcards):
        try:
            return function(wildcards)
        except SettingError as error:
            raise WorkflowError(str(error))

    return wrapped


def ask(stage):
    """The canonical string behind a job: specification and digest of the code. The only parameter, so that any change is seen."""
    return clearly(lambda wildcards: cache_key(result_path(stage, wildcards)))


def data_of(stage):
    """The data files that a job reads."""
    files = ("inputs.npy", "masks.npy", "table.parquet", "groups.npz")
    return clearly(
        lambda wildcards: [
            result_path(stage, wildcards).data.folder / file for file in files
        ]
    )


def upstream_of(stage, part, file):
    """A file of the folders of a component (stage1, groups) that a job reads."""
    return clearly(
        lambda wildcards: [
            up.folder / file for up in result_path(stage, wildcards).upstream(part)
        ]
    )


def needs_of(stage, resource):
    """How much of a resource a job asks for: more at each attempt. Profiles limit it (gpu) or set another (set-resources)."""
    name = {"stage1": "train_stage1", "runs": "train_stage2"}.get(stage)
    gpus = 0 if of_profile("gpu").get(name) == 0 else GPUS

    def asked(wildcards, attempt):
        return resources.estimate_resources(result_path(stage, wildcards), attempt, gpus)[
            resource
        ]

    return asked


def cells_of(paper, artifact):
    """The one string that an artifact's script takes: its cells, and the digest of the code behind it."""
    cells = [cell.plain() for cell in experiments.list_artifact_runs(config, paper, artifact)]
    script, _ = experiments.find_script(artifact)
    asked = {"cells": cells, "code": script_digest(f"papers/{paper}/{script}")}
    if experiments.configure_artifact(config, paper, artifact).get("shows_settings"):
        asked["settings"] = declarations_digest()
    return json.dumps(asked)


def cells_of_matrix():
    """As ``cells_of``, for the cross-paper matrix."""
    asked = [cell.plain() for cell in matrix.list_artifact_runs(config)]
    return json.dumps(
        {"cells": asked, "code": script_digest("despur/reporting/comparison.py")}
    )


def prefix(wildcards, output):
    """What the files of an artifact have in common: their path without a suffix."""
    return Path(output[0]).with_suffix("")


def shown(paper, artifact):
    """The files that the rule of an artifact writes. The report has each to look at or to download, unless it is not for people."""
    files = experiments.list_outputs(config, paper, artifact)
    if files[0].endswith(".parquet"):
        return files
    order = list(experiments.load_experiments(paper)["artifacts"]).index(artifact) + 1
    caption = f"../papers/{paper}/captions/{artifact}.rst"
    return reported(files, caption, experiments.load_experiments(paper)["title"], order)


def reported(files, caption, category, order, label=""):
    """Files as the report has them: sorted by ``order`` within their category; called by their names, unless all have one ``label``."""

    def flagged(file):
        labels = {
            "no.": f"{order:02}",
            "artifact": label or experiments.format_label(Path(file).stem),
            "file": Path(file).suffix[1:],
        }
        return report(file, caption=caption, category=category, labels=labels)

    return [flagged(file) for file in files]
