"""Snakemake starts Snakemake for each job of a cluster. That one knows the rules that such jobs may need."""

import re

import pytest
from project import Project

from despur.specs.stages import TABLE

STAGES = {stage.rule for stage in TABLE}
OTHER = """
module despur:
    snakefile: "Snakefile"
    config: config


use rule * from despur as despur_*


rule own:
    input: rules.despur_scorecard.output
    output: "own.txt"
    shell: "cp {input[0]} {output}"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    fresh = Project.fresh(tmp_path_factory.mktemp("jobs") / "project")
    (fresh.root / "Other").write_text(OTHER)
    return fresh


def list_rules(project, *arguments):
    code, text = project.call_snakemake("--list-rules", *arguments, seconds=60)
    assert code == 0, text
    return {*re.findall(r"^(\w+)$", text, re.MULTILINE)}


def test_a_job_elsewhere_knows_the_stages_and_no_tables(project):
    assert list_rules(project, "--mode", "remote") == STAGES


def test_where_this_is_a_module_jobs_of_the_other_workflow_know_all_rules(project):
    found = list_rules(project, "--snakefile", "Other", "--configfile", "config.yaml", "--mode", "remote")
    assert {"own", "despur_scorecard", "despur_evaluate"} <= found
