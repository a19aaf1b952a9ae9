"""Between-workflow caching (--cache): two checkouts share work; after an edit of a method only that method misses."""

import re
from functools import partial
from pathlib import Path

import pytest
from project import TINY, Project

pytestmark = pytest.mark.long

RUNS = [f"results/runs/colored_digits/{method}/s0/metrics.csv" for method in ("erm", "gdro")]
ALL = {
    "data/colored_digits/table.parquet",
    "groups/colored_digits/oracle/s0/agreement.csv",
    *(
        f"runs/colored_digits/{method}/s0/{file}"
        for method in ("erm", "gdro")
        for file in ("history.csv", "metrics.csv")
    ),
}


def checkout(root, cache):
    """The project with tiny settings and this cache."""
    project = Project.fresh(root)
    for old, new in TINY["workflow/despur/datasets/colored_digits.py"].items():
        project.edit("workflow/despur/datasets/colored_digits.py", partial(re.sub, old, new, count=1, flags=re.DOTALL))
    project.environment["SNAKEMAKE_OUTPUT_CACHE"] = str(cache)
    return project


def made(project):
    """A file of each job of a call that ran; the results of the others are links to what was in the cache before."""
    folder = Path(project.environment["SNAKEMAKE_OUTPUT_CACHE"])
    before = set(folder.iterdir())
    project.snakemake("--cache", "--", *RUNS)
    return {file for file in ALL if (project.root / "results" / file).resolve(strict=True) not in before}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache that one checkout has filled."""
    folder = tmp_path_factory.mktemp("cache")
    assert made(checkout(tmp_path_factory.mktemp("first") / "project", folder)) == ALL
    return folder


def test_a_second_checkout_runs_nothing_that_the_first_has_run(cache, tmp_path):
    second = checkout(tmp_path / "project", cache)
    assert made(second) == set()
    assert all((second.root / "results" / file).is_symlink() for file in ALL)
    assert "worst_group_accuracy" in (second.root / RUNS[0]).read_text()


def test_after_an_edit_of_a_method_only_that_method_is_run_again(cache, tmp_path):
    third = checkout(tmp_path / "project", cache)
    third.edit("workflow/despur/methods/gdro.py", lambda text: f"{text}\nEDITED = True\n")
    assert made(third) == {f"runs/colored_digits/gdro/s0/{file}" for file in ("history.csv", "metrics.csv")}


def test_a_comment_misses_nothing(cache, tmp_path):
    fourth = checkout(tmp_path / "project", cache)
    fourth.edit("workflow/despur/methods/gdro.py", lambda text: f"# Edited.\n{text}")
    assert made(fourth) == set()
