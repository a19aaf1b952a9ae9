"""The examples of docs/adding_*.md, in a copy of the project: they pass their tests, the pipeline runs them."""

import shutil
import subprocess
import sys

import pandas as pd
import pytest
from documents import commands, examples
from project import SOURCE, Project

PAGES = [f"adding_{thing}" for thing in ("a_method", "a_data_set", "an_encoder", "an_inference", "a_metric", "a_paper")]
RUN = "results/runs/tumors/gce+epochs=1/s0/metrics.csv"
GROUPS = (
    "results/runs/colored_digits/gdro+encoder=tiny_convnet+epochs=1+groups=high_loss+stage1.epochs=1/s0/metrics.csv"
)
OF_ALL_COMPONENTS = (
    "tests/catalog/test_equations.py",
    "tests/specs/test_settings.py",
    "tests/specs/test_spec.py",
    "tests/test_public_names.py",
)
FOLDER, CONFIG = "results/liu2021/papers/liu2021", "config/liu2021.yaml"
TABLE, CLAIMS = f"{FOLDER}/table_1.csv", f"{FOLDER}/claims.csv"


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """The project with everything that the pages add."""
    project = Project.fresh(tmp_path_factory.mktemp("examples") / "project")
    for file in ("pyproject.toml", "tests/conftest.py", "tests/helpers.py", "tests/project.py"):
        (project.root / file).parent.mkdir(exist_ok=True)
        shutil.copy2(SOURCE / file, project.root / file)
    for page in PAGES:
        for file, text in examples(page).items():
            (project.root / file).parent.mkdir(parents=True, exist_ok=True)
            (project.root / file).write_text(text)
    return project


def written(pages=PAGES):
    """The Python files of the examples."""
    return [file for page in pages for file in examples(page) if file.endswith(".py")]


def test_pages_show_a_component_and_its_test():
    for page in PAGES[:-1]:
        assert len(examples(page)) == 2 and sum(file.startswith("tests/") for file in examples(page)) == 1, page
    assert len(examples("adding_a_paper")) == 7


@pytest.mark.long
def test_examples_pass_their_tests(extended):
    tests = [file for file in written() if file.startswith("tests/")]
    extended.python("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *tests)


@pytest.mark.long
def test_tests_of_all_components_hold_with_the_examples(extended):
    """A component is one file: there is no list to edit."""
    shutil.copytree(SOURCE / "tests", extended.root / "tests", dirs_exist_ok=True)
    extended.python("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *OF_ALL_COMPONENTS)


def test_examples_are_formatted(extended):
    for command in (["check"], ["format", "--check"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *written()], cwd=extended.root, check=True)


def test_targets_of_the_pages_can_be_made(extended):
    said = [line for page in PAGES for line in commands((SOURCE / f"docs/{page}.md").read_text())]
    targets = {word for line in said for word in line.split() if word.startswith("results/runs/") and "." in word}
    assert len(targets) >= 4
    extended.snakemake("-n", *sorted(targets))


@pytest.mark.long
def test_the_pipeline_runs_the_examples(extended):
    extended.snakemake(RUN, GROUPS, TABLE, CLAIMS, "--configfile", CONFIG)
    for file in (RUN, GROUPS):
        metrics = pd.read_csv(extended.root / file)
        values = metrics[(metrics["metric"] == "overconfidence") & (metrics["split"] == "test")]["value"]
        assert len(values) and values.between(-1, 1).all()
    table = pd.read_csv(extended.root / TABLE)
    assert table["reported"].tolist() == [72.6, 97.3, 86.7, 93.3] and table["ours"].between(0, 100).all()
    (claim,) = pd.read_csv(extended.root / CLAIMS).to_dict("records")
    assert claim["printed"] == "holds" and "1 seed" in f"{claim['reason']} {claim['collapsed']}".replace("1 of 1", "1")
    assert claim["verdict"] in ("not seen", "not run here")  # one seed; after one epoch it may count as collapsed
