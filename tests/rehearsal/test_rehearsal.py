"""The miniature of the published configuration: its raw files are read, and all of its runs have a name."""

import numpy as np
import pytest
import yaml
from project import SOURCE

from catalog.datasets import write_example
from despur.orchestration import experiments
from despur.specs.declarations import list_components
from rehearsal import again
from rehearsal.__main__ import CONFIG, derive_configuration, prepare, reduce_dataset

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

RUNS = """
import sys
from pathlib import Path
from despur.orchestration import artifact_files, configuration, matrix
from despur.specs.paths import locate_result
config = configuration.load_configuration(Path(sys.argv[1]))
artifacts = [(paper, each) for paper in config["papers"] for each in artifact_files.list_artifacts(config, paper)]
files = [*matrix.list_inputs(config), *(file for own in artifacts for file in artifact_files.list_inputs(config, *own))]
runs = [run for file in files if file.endswith("metrics.csv") for run in locate_result(file).runs()]
print(*{run.data.base_name for run in runs})
"""


def list_bases(config):
    """The data set used for each of the papers', without settings."""
    return {name: experiments.list_substitutes(config, name)[0].split("+")[0] for name in config["datasets"]}


EXAMPLES = """
import doctest
import sys
parse, run = doctest.DocTestParser().get_doctest, doctest.DocTestRunner().run
failed = [example for example in sys.argv[1:] if run(parse(example, {}, example, None, 0)).failed]
assert not failed, failed
"""


def test_the_derived_configuration_keeps_all_papers_and_data_sets_with_one_seed():
    derived = derive_configuration(PUBLISHED, [])
    assert derived["papers"] == PUBLISHED["papers"] and derived["seeds"] == 1
    assert list_bases(derived) == list_bases(PUBLISHED)
    assert derived["datasets"]["civilcomments"]["methods"] == PUBLISHED["datasets"]["civilcomments"]["methods"]
    assert {own["seeds"] for own in derived["artifacts"]["fair_cl"].values()} == {1}
    assert derive_configuration(PUBLISHED, ["cnc"])["papers"] == ["cnc"]


def write_examples():
    """The examples of the catalog, of smaller data where a default is too large for the miniature."""
    examples = {
        name: write_example(name).replace(f'"{name}"', f'"{reduce_dataset(name)}"')
        for name in list_components("datasets")
    }
    return [example for example in examples.values() if example]


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


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("rehearsal") / "project", [])


@pytest.mark.long
def test_every_raw_file_is_read_every_example_holds_and_every_run_has_a_name(project):
    config = yaml.safe_load((project.root / CONFIG).read_text())
    datasets = [experiments.list_substitutes(config, name)[0].replace("+draw=seed", "") for name in config["datasets"]]
    project.python("-c", READ, *datasets)
    own = project.root / "data/bring_your_own/mine.npz"
    own.parent.mkdir()
    np.savez(
        own,
        features=np.eye(8),
        y=np.arange(8) % 2,
        a=np.arange(8) // 4,
        split=np.array(["train"] * 6 + ["val", "test"]),
    )
    project.python("-c", EXAMPLES, *write_examples())
    assert set(project.python("-c", RUNS, CONFIG).splitlines()[-1].split()) == set(list_bases(config).values())


@pytest.mark.long
def test_a_frozen_encoder_takes_a_paper_s_data_from_raw_files_to_the_page(project):
    config = "config/frozen.yaml"
    project.edit(config, lambda text: text.replace(": waterbirds", ": waterbirds+size=32").replace('"0-2"', '"0"'))
    project.snakemake("--configfile", config)
    page = (project.root / "results/frozen/scorecard.html").read_text()
    assert "with another encoder: orders only" in page and "encoder.model=ViT-B-32" in page
