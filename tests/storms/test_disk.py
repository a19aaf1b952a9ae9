"""A disk that takes no more (a limit on the size of files) or nothing (read-only), at each job: one message, nothing
half-written."""

import json
import resource
import subprocess

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from helpers import limited
from project import tiny_project
from storage.test_store import made_up

from despur.reporting.figures import write_figure
from despur.storage.archives import unpack
from despur.storage.containers import save_arrays
from despur.storage.store import InputError, save_dataset, write_csv, write_json
from despur.training.progress import Progress, save_checkpoint

pytestmark = pytest.mark.storm
STORM = (
    "disks that are full or read-only, at every stage",
    "one message each, nothing half-written, what was there is kept",
)


class Method:
    """A method whose state is as large as it is here."""

    def state(self):
        return {"weights": torch.zeros(100_000)}


def draw(path):
    figure, axis = plt.subplots()
    axis.plot(range(9))
    write_figure(path, figure)


WRITERS = {
    "models": lambda path: save_arrays(path, {"a": np.zeros(100_000)}),
    "data": lambda path: save_dataset(path, {"toy": made_up(9000)}),
    "metadata": lambda path: write_json(path, "a" * 100_000),
    "metrics": lambda path: write_csv(path, pd.DataFrame({"value": np.arange(100_000)})),
    "checkpoint": lambda path: save_checkpoint(path, Method(), Progress()),
    "figure": draw,
}


@pytest.mark.parametrize("size", [0, 5000])
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_file_that_the_disk_does_not_take_is_one_message(tmp_path, write, size):
    with limited(size), pytest.raises(InputError) as caught:
        write(tmp_path / "result")
    text = str(caught.value)
    assert "cannot be written: File too large. Make room" in text and "\n" not in text
    assert [path.stat().st_size for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size > size] == []
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]


def test_an_archive_for_which_there_is_no_room_is_kept(tmp_path):
    (tmp_path / "a").write_bytes(bytes(99_999))
    subprocess.run(["tar", "czf", "a.tgz", "a"], cwd=tmp_path, check=True)
    (tmp_path / "folder").mkdir()
    with limited(5000), pytest.raises(InputError, match=r"File too large.*is kept"):
        unpack(tmp_path / "a.tgz", tmp_path / "folder")
    assert (tmp_path / "a.tgz").exists()


# Every stage, the scorecard and a table, one after the other, in one process: what it says.
JOBS = {
    "despur.data": ["results/data/colored_digits"],
    "despur.stage1": ["results/stage1/colored_digits/erm/s0-1"],
    "despur.groups": ["results/groups/colored_digits/predictions/s0-1"],
    "despur.stage2": ["results/runs/colored_digits/cnc/s0-1"],
    "despur.evaluate": ["results/runs/colored_digits/cnc/s0-1"],
    "despur.saliency": ["results/runs/colored_digits/cnc/s0-1"],
    "despur.reporting.pages.scorecard": ["--configfile", "config.yaml", "--output", "results/scorecard"],
    "despur.papers.cnc.tables": ["table_1", "--output", "results/papers/cnc/table_1", "--artifact-runs"],
}
SCRIPT = """
import json, resource, runpy, sys
from pathlib import Path
from despur.orchestration.configuration import load_configuration
from despur.orchestration.jobs import serialize_artifact

said = {}
jobs, size = map(json.loads, sys.argv[1:])
jobs["despur.papers.cnc.tables"].append(serialize_artifact(load_configuration(Path("config.yaml")), "cnc", "table_1"))
resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
for module, arguments in jobs.items():
    sys.argv[1:] = arguments
    try:
        runpy.run_module(module, run_name="__main__")
    except SystemExit as error:
        said[module] = str(error)
print("SAID " + json.dumps(said))
"""


@pytest.fixture
def project(tmp_path, tmp_path_factory):
    return tiny_project(tmp_path_factory).copy(tmp_path / "project")


def run_jobs(project, size):
    """What every job says where no file may be larger than ``size`` bytes."""
    text = project.python("-c", SCRIPT, json.dumps(JOBS), json.dumps(size))
    return json.loads(text.partition("SAID ")[2].splitlines()[0])


def check_jobs(project, said, why):
    assert set(said) == set(JOBS)
    for job, text in said.items():
        assert text.startswith("error: results/") and f"cannot be written: {why}. Make room" in text, (job, text)
        assert len(text.splitlines()) == 1
    assert not [path for path in (project.root / "results").rglob("[.]*.*") if path.is_file()]


@pytest.mark.long
def test_every_job_says_that_the_disk_is_full_and_keeps_what_was_there(project):
    before = project.results()
    check_jobs(project, run_jobs(project, 200), "File too large")
    assert project.results() == before


@pytest.mark.long
def test_every_job_says_that_the_disk_is_read_only(project):
    results = project.root / "results"
    mount = ["mount", "--bind", results, results]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", results], check=True)
        said = run_jobs(project, resource.RLIM_INFINITY)
    finally:
        subprocess.run(["umount", results], check=True)
    check_jobs(project, said, "Read-only file system")
