"""The miniature of the published configuration: its raw files are read, and all of its jobs are planned."""

import pytest
import yaml
from project import SOURCE

from despur.orchestration import artifact_files, experiments
from rehearsal import again
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


def list_bases(config):
    """The data set used for each of the papers', without settings."""
    return {name: experiments.list_substitutes(config, name)[0].split("+")[0] for name in config["datasets"]}


def test_the_derived_configuration_keeps_all_papers_and_data_sets_with_one_seed():
    derived = derive_configuration(PUBLISHED, [])
    assert derived["papers"] == PUBLISHED["papers"] and derived["seeds"] == 1
    assert list_bases(derived) == list_bases(PUBLISHED)
    assert derived["datasets"]["civilcomments"]["methods"] == PUBLISHED["datasets"]["civilcomments"]["methods"]
    assert {own["seeds"] for own in derived["artifacts"]["fair_cl"].values()} == {1}
    assert derive_configuration(PUBLISHED, ["cnc"])["papers"] == ["cnc"]


def details(inputs, outputs):
    named = {"input": inputs, "output": outputs, "log": ["none"]}
    return "".join(f"    {kind}: {', '.join(files)}\n" for kind, files in named.items() if files)


def test_one_job_of_each_kind_is_made_again_and_none_that_depends_on_another():
    jobs = {
        "build_data small": details([], ["a", "b"]),
        "build_data large": details([], ["c"]),
        "evaluate small/erm/s0": details(["b"], ["d"]),
        "evaluate large/erm/s0": details(["c"], ["e"]),
        "evaluate large/cnc/s0": details(["c"], ["f"]),
        "cnc_table_1": details(["d"], ["g"]),
        "cnc_table_2": details(["e", "f"], ["h"]),
        "scorecard": details(["g", "h"], ["i"]),
        "all": details(["i"], []),
    }
    dependents = again.find_dependents(jobs)
    assert dependents["build_data small"] == {"evaluate small/erm/s0", "cnc_table_1", "scorecard", "all"}
    assert again.choose_jobs(dependents) == ["cnc_table_1", "evaluate large/cnc/s0"]


@pytest.mark.long
def test_every_raw_file_is_read_and_every_job_is_planned(tmp_path):
    project = prepare(tmp_path / "project", [])
    config = yaml.safe_load((project.root / CONFIG).read_text())
    datasets = [experiments.list_substitutes(config, name)[0].replace("+draw=seed", "") for name in config["datasets"]]
    project.python("-c", READ, *datasets)
    plan = project.plan("--configfile", CONFIG)
    artifacts = {
        f"{paper}_{artifact}"
        for paper in PUBLISHED["papers"]
        for artifact in artifact_files.list_artifacts(PUBLISHED, paper)
    }
    assert artifacts | {"matrix", "scorecard"} <= set(plan)
    evaluated = {name.split(" ")[1].split("/")[0].split("+")[0] for name in plan if name.startswith("evaluate")}
    assert evaluated == set(list_bases(config).values())
