"""The table of stages says what the rules do."""

import re

import pytest
from project import SOURCE

from despur.orchestration.estimates import load_estimates
from despur.specs import stages


def read_rule(stage):
    """The text of a stage's rule."""
    files = (SOURCE / "workflow/rules").glob("*.smk")
    return next(text for file in files if f"\nrule {stage.rule}:" in (text := file.read_text()))


@pytest.mark.parametrize("stage", stages.TABLE, ids=lambda stage: stage.name)
def test_a_rule_writes_the_files_of_its_stage_and_starts_its_program(stage):
    text = read_rule(stage)
    written = re.findall(
        rf"results/{stage.folder}/[^/\n]+/\S*?([\w.]+)\",", text.partition("output:")[2].partition("log:")[0]
    )
    assert sorted(written) == sorted(stage.files.values())
    assert f"despur.{stage.program} " in text
    assert (f'job_resource("{stage.name}", "gpu")' in text) == stage.trains


@pytest.mark.parametrize("stage", stages.TABLE, ids=lambda stage: stage.name)
def test_a_rule_reads_the_earlier_stages_that_its_row_names(stage):
    inputs = read_rule(stage).partition("input:")[2].partition("output:")[0]
    files = re.findall(r'"results/(\w+)/\S*?([\w.]+)"', inputs)
    named = {stages.find_stage(folder, file).name for folder, file in files}
    assert named | set(re.findall(r'upstream_files\("\w+", "(\w+)"', inputs)) == set(stage.reads)


def test_each_stage_has_an_estimate_of_its_jobs():
    assert set(load_estimates()["stages"]) == set(stages.STAGES)


def test_the_stage_of_a_file_is_the_one_that_writes_it():
    found = {(folder, file): stages.find_stage(folder, file).name for folder, file in (
        ("runs", "metrics.csv"), ("runs", "saliency.csv"), ("runs", "models.safetensors"), ("runs", "notes.txt"),
        ("groups", "agreement.csv"), ("stage1", "metrics.csv"),
    )}  # fmt: skip
    assert list(found.values()) == ["evaluate", "saliency", "runs", "runs", "groups", "stage1"]
