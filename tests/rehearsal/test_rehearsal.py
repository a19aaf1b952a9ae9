"""The miniature of the published configuration: its raw files are read, and all of its jobs are planned."""

import pytest
import yaml
from project import SOURCE

from despur.orchestration import artifact_files
from rehearsal.__main__ import CONFIG, derive_configuration, prepare

PUBLISHED = yaml.safe_load((SOURCE / "config/published.yaml").read_text())
READ = """
import sys
from importlib import import_module
from pathlib import Path
from despur.specs.resolution import resolve
for name in sys.argv[1:]:
    point = resolve("datasets", name).points[0]
    point = point.source or point
    made = import_module(f"despur.datasets.{point.base_name}").build(point.settings, Path("data"))
    assert {"train", "test"} <= {split.partition("_")[0] for split in made.splits}, name
    assert len(made.inputs[0:2]) == 2, name
"""


def test_the_derived_configuration_keeps_all_papers_and_data_sets_with_one_seed():
    derived = derive_configuration(PUBLISHED, [])
    assert derived["papers"] == PUBLISHED["papers"] and derived["seeds"] == 1
    bases = {name: data.split("+")[0] for name, data in derived["datasets"].items()}
    assert bases == {name: data.split("+")[0] for name, data in PUBLISHED["datasets"].items()}
    assert {own["seeds"] for own in derived["artifacts"]["fair_cl"].values()} == {1}
    assert derive_configuration(PUBLISHED, ["cnc"])["papers"] == ["cnc"]


@pytest.mark.long
def test_every_raw_file_is_read_and_every_job_is_planned(tmp_path):
    project = prepare(tmp_path / "project", [])
    datasets = yaml.safe_load((project.root / CONFIG).read_text())["datasets"]
    project.python("-c", READ, *(data.replace("+draw=seed", "") for data in datasets.values()))
    plan = project.plan("--configfile", CONFIG)
    artifacts = {
        f"{paper}_{artifact}"
        for paper in PUBLISHED["papers"]
        for artifact in artifact_files.list_artifacts(PUBLISHED, paper)
    }
    assert artifacts | {"matrix", "scorecard"} <= set(plan)
    assert {name.split("/")[0].split(" ")[-1].split("+")[0] for name in plan if name.startswith("evaluate ")} == {
        data.split("+")[0] for data in datasets.values()
    }
