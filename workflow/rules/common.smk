# What the rules share: the checked configuration, and what they fill in for a job. No rules here, no maths.

import json
import os
import sys
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from despur.orchestration import (
    artifact_files,
    configuration,
    experiments,
    jobs,
    matrix,
    paper_folders,
    resources,
    targets,
)
from despur.specs import paths
from despur.specs.settings import SettingError
from despur.specs.stages import STAGES
from despur.specs.yaml_files import load_file
from despur.storage.digest import cache_key, script_digest
from despur.storage.reading import InputError


def refuse(error):
    """Print one message and stop. Snakemake would add lines of code to the message of an exception."""
    logger.error(f"Error: {error}")
    sys.exit(1)


# Whether another workflow includes the Snakefile, which includes this file, or uses it as a module.
IS_MODULE = len(workflow.included_stack) > 2


try:  # a job's own Snakemake does not check again what the one that started it has checked
    if workflow.is_main_process and not IS_MODULE:
        for file in (*workflow.overwrite_configfiles, *workflow.configfiles):
            load_file(Path(os.path.relpath(file)))  # of a key that stands twice, Snakemake takes the last
    complete = configuration.complete_configuration(config, check=workflow.is_main_process)
    config.clear()
    config.update(complete)
except SettingError as error:
    refuse(error)


def refuse_unknown_targets():
    """One message with the nearest name for a target that nothing makes any more, or never did. Called when all rules
    are known, but not where another workflow has rules of its own."""
    if IS_MODULE or not workflow.is_main_process or "snakemake" not in Path(sys.argv[0]).parts:
        return
    from snakemake.cli import get_argument_parser

    asked = get_argument_parser().parse_args(sys.argv[1:]).targets
    named = [target for target in asked if not os.path.exists(target)]
    wanted = [target if os.path.isabs(target) else os.path.relpath(target) for target in named]  # as Snakemake does
    outputs = [str(file) for rule in workflow.rules for file in rule.output]
    is_made = lambda path: any(rule.is_producer(path) for rule in workflow.rules)
    try:
        for target in asked:
            targets.check_target(config, Path(target))
        targets.check_targets(wanted, [rule.name for rule in workflow.rules], outputs, is_made)
    except SettingError as error:
        refuse(error)


OUT = config["outputs"]
SUMMARY = "★ Summary"  # the report sorts categories: this one comes first


wildcard_constraints:
    dataset=paths.NAME,
    base=paths.NAME,
    inference=paths.NAME,
    method=paths.NAME,
    seeds=paths.SEEDS.removeprefix("s"),


def for_job(stage, function):
    """``function`` of the result that a job makes, as a function of its wildcards. A bad name is one clear message."""

    def call(wildcards):
        try:
            return function(jobs.find_result(stage, wildcards))
        except SettingError as error:
            raise WorkflowError(str(error))

    return call


def job_cache_key(stage):
    """The canonical string of a job: specification and digest of code. The only parameter: any change is seen."""
    return for_job(stage, cache_key)


def when_planned(function, *arguments):
    """A parameter that is computed for planned jobs only: digests of the code of all papers take a second."""
    return lambda wildcards: function(*arguments)


MISSING = set()  # lines that were said


def data_files(stage):
    """The data files that a job reads. Before they are made, what the job will lack is named."""

    def call(result):
        if workflow.is_main_process:
            name_missing(result)
        return jobs.list_data_files(result)

    return for_job(stage, call)


def name_missing(result):
    """Say once what is missing; stop where a run lacks weights that nothing brings."""
    try:
        lines = dict.fromkeys(line for line in jobs.list_missing(result) if line not in MISSING)
    except InputError as error:
        refuse(error)
    for line in lines:
        logger.warning(line)
    MISSING.update(lines)


def upstream_files(stage, component, file):
    """A file of the folders of a component (stage1, groups) that a job reads."""
    return for_job(stage, partial(jobs.list_upstream_files, component=component, file=file))


def job_resource(stage, resource):
    """How much of a resource a job requests: more at each attempt; cores, at least its threads (--set-threads).
    Profiles limit it (gpu) or replace it."""
    gpus = 0 if profile_resource("gpu").get(STAGES[stage].rule) == 0 else GPUS

    def amount(wildcards, attempt, threads):
        estimated = resources.estimate_resources(jobs.find_result(stage, wildcards), attempt, gpus)[resource]
        return max(threads, estimated) if resource == "cpus_per_task" else estimated

    return amount


def path_without_suffix(wildcards, output):
    """What the files of an artifact have in common."""
    return Path(output[0]).with_suffix("")


def artifact_outputs(paper, artifact):
    """The files that the rule of an artifact writes. The report shows one of each, unless it is not for people."""
    files, title = artifact_files.list_outputs(config, paper, artifact), experiments.load_experiments(paper)["title"]
    caption = str(paper_folders.find_paper(paper) / "captions" / f"{artifact}.rst")
    return report_files(files, caption, title, artifact_files.sort_for_report(paper).index(artifact) + 1)


def report_files(files, caption, category, order, label=""):
    """Files; the report shows pages and pictures, by ``order`` within their category, with their name or ``label``."""

    def flag(file):
        name = label or artifact_files.format_label(Path(file).stem)
        return report(file, caption=caption, category=category, labels={"artifact": f"{order:02} · {name}"})

    return [flag(file) if Path(file).suffix in (".html", ".png") else file for file in files]
