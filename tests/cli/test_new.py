"""What `despur new` writes runs, and passes its test."""

import os
import re
import shutil

import forked
import pytest
from project import SOURCE, Project

from despur.cli.list import list_kind
from despur.cli.new import CREATED, create
from despur.orchestration import paper_folders
from despur.reporting.pages import scorecard
from despur.specs.extensions import VARIABLE
from despur.specs.settings import SettingError


def test_a_folder_that_cannot_be_written_is_named_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    command = ["-m", "despur", "new", "method", "my_own", "--folder", str(tmp_path / "file")]
    code, text = forked.run(command, tmp_path, dict(os.environ), 60)
    assert code == 1 and re.fullmatch(r"error: .*file.*: (File exists|Not a directory)\n", text)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project and its tests, with something new of every kind."""
    made = Project.fresh(tmp_path_factory.mktemp("new") / "project")
    shutil.copytree(SOURCE / "tests", made.root / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(SOURCE / "pyproject.toml", made.root)
    for kind in CREATED:
        assert f"test_my_{kind}.py" in made.python("-m", "despur", "new", kind, f"my_{kind}")
    return made


@pytest.mark.long
def test_all_that_is_new_passes_its_tests_and_is_clean(project):
    tests = [f"tests/{folder}" for folder in ("methods", "datasets", "encoders", "inference", "metrics", "papers")]
    files = [str(file) for folder in tests for file in (project.root / folder).glob("test_my_*.py")]
    assert len(files) == len(CREATED)
    project.python("-m", "pytest", "-p", "no:xdist", "-k", "my_", *files, "tests/papers/test_tables_without_runs.py")
    written = [str(file) for file in project.root.glob("workflow/**/my_*.py")]
    assert len(written) == 5
    project.python("-m", "ruff", "check", *files, *written)
    project.python("-m", "ruff", "format", "--check", *files, *written)


@pytest.mark.long
def test_a_new_paper_s_table_comes_from_runs_of_a_new_method_on_a_new_data_set(project):
    project.edit(
        "workflow/despur/papers/my_paper/experiments.yaml", lambda text: text.replace("erm: erm", "erm: my_method")
    )
    (project.root / "own.yaml").write_text("papers: [my_paper]\nseeds: 1\ndatasets: {cmnist: my_dataset}\n")
    table, run = "results/papers/my_paper/table_1.csv", "results/runs/my_dataset/my_method/s0/metrics.csv"
    project.snakemake("--configfile", "own.yaml", "--", table)
    assert "erm" in (project.root / table).read_text()
    assert ",my_metric," in (project.root / run).read_text()


@pytest.mark.parametrize("claims", ["claims: []", "", None])
def test_a_new_paper_may_be_without_claims(tmp_path, monkeypatch, claims):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    list(create("paper", "my_paper", tmp_path))
    file = tmp_path / "papers/my_paper/claims.yaml"
    file.unlink() if claims is None else file.write_text(claims)
    monkeypatch.setattr(paper_folders, "list_papers", lambda: ["my_paper"])
    config = {"papers": ["my_paper"], "seeds": 1, "outputs": "results", "datasets": {"cmnist": "colored_digits"}}
    scorecard.write(config, tmp_path / "scorecard")
    assert list(list_kind("claims")) == []
    assert "my_paper" in (tmp_path / "scorecard.html").read_text()


@pytest.mark.parametrize("name", ["My", "2nd", "a-b", "../a", "cnc", "class", "none"])
def test_a_name_that_cannot_be_or_exists_is_refused(name):
    with pytest.raises(SettingError, match=r"cannot be a name|exists|is a word of Python"):
        list(create("method", name))
