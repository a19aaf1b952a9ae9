"""Between-workflow caching (--cache): two checkouts share work; after an edit of a method only that method misses."""

from pathlib import Path

import pytest
from project import Project, shrink

pytestmark = pytest.mark.long

EVALUATED, TRAINED = "runs/colored_digits/erm/s0/metrics.csv", "runs/colored_digits/gdro/s0/history.csv"
ALL = {
    "data/colored_digits/table.parquet",
    "groups/colored_digits/oracle/s0/agreement.csv",
    "runs/colored_digits/erm/s0/history.csv",
    EVALUATED,
    TRAINED,
}


def checkout(root, cache):
    """The project with tiny settings and this cache."""
    project = shrink(Project.fresh(root))
    project.environment["SNAKEMAKE_OUTPUT_CACHE"] = str(cache)
    return project


def made(project):
    """A file of each job of a call that ran; the results of the others are links to what was in the cache before."""
    folder = Path(project.environment["SNAKEMAKE_OUTPUT_CACHE"])
    before = set(folder.iterdir())
    project.snakemake("--cache", "--", f"results/{EVALUATED}", f"results/{TRAINED}")
    return {file for file in ALL if (project.root / "results" / file).resolve(strict=True) not in before}


def test_a_second_checkout_runs_only_the_method_that_it_has_edited(tmp_path):
    (tmp_path / "cache").mkdir()
    first, second = (checkout(tmp_path / name / "project", tmp_path / "cache") for name in ("first", "second"))
    assert made(first) == ALL
    second.edit("workflow/despur/methods/erm.py", lambda text: f"# A comment.\n{text}")
    second.edit("workflow/despur/methods/gdro.py", lambda text: f"{text}\nEDITED = True\n")
    assert made(second) == {TRAINED}
    assert all((second.root / "results" / file).is_symlink() for file in ALL)
    assert "worst_group_accuracy" in (second.root / "results" / EVALUATED).read_text()
