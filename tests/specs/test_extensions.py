"""Files outside the package count as if they were in it: names, settings, digests, training, configurations."""

import argparse
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import OPTIONS, result, save_tiny
from project import SOURCE, Project

from despur import losses, methods, metrics
from despur.cli.list import list_kind
from despur.cli.new import create
from despur.evaluate import evaluate
from despur.metrics.of_files import load_measures
from despur.orchestration import experiments, paper_folders
from despur.orchestration.configuration import load_configuration
from despur.specs import declarations, extensions
from despur.specs.declarations import find_component, list_components, list_measures, read_declarations
from despur.specs.extensions import use_extensions
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage import digest
from despur.storage.digest import cache_key
from despur.storage.finished_runs import load_metrics
from despur.training.runs import train_all

METHOD = '''"""ERM that says what it was told."""

from despur.losses.my_steps import NAME
from despur.methods.base import GradientMethod
from despur.specs.declarations import read_declarations
from despur.specs.settings import float_

SETTINGS = {**read_declarations("methods", "erm")["SETTINGS"], "strength": float_(0.5, "mine", above=0)}


class Mine(GradientMethod):
    """Nothing but metadata."""

    def metadata(self):
        return {NAME: self.settings["strength"]}
'''
WORKFLOW = f"""
module despur:
    snakefile: "{SOURCE}/Snakefile"
    config: config

use rule * from despur as despur_*

rule mine:
    default_target: True
    input: "results/runs/colored_digits/my_method+strength=0.25/s0/metrics.csv"
    output: "mine.csv"
    shell: "cp {{input}} {{output}}"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An extension with one method and a module of its own, and the working directory that it lies in."""
    for name in ("methods", "losses"):
        (tmp_path / "mine" / name).mkdir(parents=True)
    (tmp_path / "mine/methods/my_method.py").write_text(METHOD)
    (tmp_path / "mine/losses/my_steps.py").write_text('"""A word."""\n\nNAME = "told"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(extensions.VARIABLE, "")
    for package in (losses, methods, metrics):
        monkeypatch.setattr(package, "__path__", list(package.__path__))
    forget()
    yield tmp_path
    forget()
    for name in ("methods.my_method", "losses.my_steps", "metrics.my_metric"):
        sys.modules.pop(f"despur.{name}", None)


def forget():
    for function in (
        read_declarations,
        resolve,
        cache_key,
        digest._file,
        digest.code_digest,
        list_measures,
        load_measures,
    ):
        function.cache_clear()
    experiments.load_experiments.cache_clear()


def test_a_method_outside_the_package_has_a_name_settings_and_a_line_in_the_list(folder):
    with pytest.raises(SettingError, match="unknown method 'my_method'"):
        read_declarations("methods", "my_method")
    use_extensions(["mine"])
    assert "my_method" in list_components("methods") and "cnc" in list_components("methods")
    assert find_component("methods", "my_method") == folder / "mine/methods/my_method.py"
    assert resolve("methods", "my_method+strength=0.50").name == "my_method"
    assert any(line.startswith("my_method ") and "ERM that says" in line for line in list_kind("methods"))
    assert os.environ[extensions.VARIABLE] == str(folder / "mine")  # jobs read it


def test_it_is_trained_and_its_code_is_in_the_cache_key(folder):
    use_extensions(["mine"])
    at = result(folder / "results", "runs/colored_digits/my_method+epochs=1+strength=0.25/s0")
    save_tiny(folder / "results")
    train_all(at, OPTIONS)
    assert '"told": 0.25' in (at.folder / "about.json").read_text()
    before = cache_key(at)
    for text, same in (('"""Another docstring."""\n\nNAME = "told"\n', True), ('NAME = "said"\n', False)):
        (folder / "mine/losses/my_steps.py").write_text(text)
        forget()
        assert (cache_key(at) == before) == same


def test_every_run_is_evaluated_by_a_metric_outside_the_package(folder):
    list(create("metric", "my_metric", Path("mine")))
    use_extensions(["mine"])
    at = result(folder / "results", "runs/colored_digits/my_method+epochs=1+strength=0.25/s0")
    save_tiny(folder / "results")
    train_all(at, OPTIONS)
    evaluate(at, argparse.Namespace())
    table = load_metrics(at.folder)
    own = table[table["metric"] == "my_metric"]
    assert {*own["selection"]} == {"best", "last"} and own["value"].between(0, 1).all() and "test" in {*own["split"]}
    assert "val" not in {*own["split"]}
    evaluated = replace(at, stage="evaluate")
    before = cache_key(evaluated)
    file = folder / "mine/metrics/my_metric.py"
    file.write_text(file.read_text().replace("[rows]", "[rows] + 1"))
    forget()
    assert cache_key(evaluated) != before


def test_a_paper_outside_the_package_is_listed_and_its_tables_can_be_made(folder):
    (folder / "mine").rename(mine := folder / "mine; touch storm")  # no shell reads what stands in a name
    list(create("paper", "my_paper", mine))
    text = f"papers: [my_paper]\nseeds: 1\ndatasets: {{cmnist: colored_digits}}\nextensions: ['{mine}']\n"
    Path("own.yaml").write_text(text)
    load_configuration(Path("own.yaml"))
    assert "my_paper" in paper_folders.list_papers() and "cnc" in paper_folders.list_papers()
    assert any(line.startswith("my_paper ") for line in list_kind("papers"))
    Path("Snakefile").write_text(WORKFLOW)
    project = Project(folder)
    project.environment |= {"PYTHONPATH": str(declarations.PACKAGE.parent), extensions.VARIABLE: ""}
    text = project.snakemake("-n", "-p", "results/papers/my_paper/table_1.csv", "--configfile", "own.yaml")
    assert "Making Table 1 of my_paper" in text
    assert "python -m despur.warm -m despur.papers.my_paper.tables table_1 " in text
    with pytest.raises(SettingError, match=r"papers/my_paper exists: choose another name"):
        list(create("paper", "my_paper", mine))
    (mine / "papers/my_paper").rename(mine / "papers/my-paper")
    with pytest.raises(SettingError, match=r"papers/my-paper: rename it"):
        paper_folders.list_papers()
    (mine / "papers/my-paper").rename(mine / "papers/cnc")
    with pytest.raises(SettingError, match=r"touch storm/papers/cnc: .*papers/cnc has the same name: rename"):
        paper_folders.list_papers()


def test_a_folder_that_is_not_there_is_refused_by_name_and_not_by_an_import(folder, monkeypatch):
    monkeypatch.setenv(extensions.VARIABLE, "nowhere")
    assert extensions.extend_path(["here"], "methods") == ["here", str(folder / "nowhere/methods")]
    command = [Path(sys.executable).parent / "despur", "list", "methods"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and re.fullmatch(r"error: DESPUR_EXTENSIONS: .*nowhere is no folder; .*\n", done.stderr)


def test_two_files_of_one_name_are_refused(folder):
    (folder / "mine/methods/cnc.py").write_text(METHOD)
    use_extensions(["mine"])
    with pytest.raises(SettingError, match=r"mine/methods/cnc\.py: .*despur/methods/cnc\.py has the same name: rename"):
        read_declarations("methods", "erm")


def test_a_configuration_names_extensions(folder):
    text = "papers: [cnc]\nseeds: 1\ndatasets: {cmnist: colored_digits}\nextensions: [mine]\n"
    Path("config.yaml").write_text(text + "matrix: {data: colored_digits, methods: {mine: my_method}}\n")
    assert load_configuration(Path("config.yaml"))["extensions"] == ["mine"]
    Path("config.yaml").write_text(text.replace("[mine]", "[nowhere]"))
    with pytest.raises(SettingError, match=r"config key extensions: .*nowhere is no folder"):
        load_configuration(Path("config.yaml"))


def test_a_new_file_is_written_into_an_extension(folder, monkeypatch):
    monkeypatch.setenv(extensions.VARIABLE, "mine")
    lines = list(create("method", "another", Path("mine")))
    assert "wrote mine/methods/another.py" in lines and "wrote mine/tests/methods/test_another.py" in lines
    assert f"DESPUR_EXTENSIONS=mine pytest -c {SOURCE}/pyproject.toml mine/tests/methods/test_another.py" in lines[-1]
    assert "another" in list_components("methods")
    for name in ("my_method", "cnc"):
        with pytest.raises(SettingError, match=rf"{name}\.py exists: choose another name"):
            list(create("method", name, Path("mine")))


def test_another_workflow_uses_despur_as_a_module_with_an_extension(folder):
    Path("Snakefile").write_text(WORKFLOW)
    Path("own.yaml").write_text("papers: [cnc]\nseeds: 1\ndatasets: {cmnist: colored_digits}\nextensions: [mine]\n")
    project = Project(folder)
    project.environment |= {"PYTHONPATH": str(declarations.PACKAGE.parent), extensions.VARIABLE: ""}
    text = project.snakemake("-n", "--configfile", "own.yaml")
    for rule in ("despur_build_data", "despur_train_stage2", "despur_evaluate", "mine"):
        assert f"{rule} " in text
    assert "Training my_method+strength=0.25 on colored_digits, seeds 0" in text
    assert "mine " in project.snakemake("-n", "mine.csv", "--configfile", "own.yaml")  # a target of the other workflow


def test_a_file_that_is_no_python_is_named_with_its_line(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text('"""Broken."""\nclass X(:\n')
    monkeypatch.setattr(declarations, "find_component", lambda kind, name: tmp_path / "broken.py")
    for read in (declarations.read_declarations, declarations.read_docstring):
        with pytest.raises(SettingError, match=r"broken\.py, line 2: invalid syntax"):
            read("methods", "broken")
