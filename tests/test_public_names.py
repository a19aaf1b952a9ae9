"""What the package publishes: each public name is there and has an example that holds; importing it stays light."""

import inspect
import re
import subprocess
import sys

import pytest
from examples import list_examples, list_public, run_example

import despur
from despur import metrics

TRAINED = ("despur.train", "despur.load", "despur.load_metrics")  # one makes what the others read
PROJECTED = ("despur.inference.clusters", "despur.inference.george")  # UMAP is compiled
EXAMPLES = [
    pytest.param(name, test, id=name, marks=[pytest.mark.long] if name in PROJECTED else [])
    for name, test in list_examples()
    if name not in TRAINED
]


@pytest.mark.parametrize(("name", "test"), EXAMPLES)
def test_examples_hold(name, test):
    assert run_example(test) == ""


@pytest.mark.long
def test_examples_of_training_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [run_example(test) for name, test in list_examples() if name in TRAINED] == [""] * 3


def test_notebooks_complete_public_names():
    assert set(dir(metrics)) == set(metrics.__all__) and "train" in dir(despur)


def test_public_functions_have_an_example():
    with_examples = {name for name, test in list_examples() if test.examples}
    functions = {name for name, found in list_public().items() if not isinstance(found, type)}
    assert functions - with_examples == set(), "add an example (>>>) to the docstring of each of these"


FROM_ELSEWHERE = {"despur.Model", "despur.SplitDataset"}  # what other public names give
SAME_EVERYWHERE = {"evidence", "settings", "rng", "device"}


@pytest.mark.parametrize("name", sorted(list_public().keys() - FROM_ELSEWHERE))
def test_docstrings_name_each_argument(name):
    found = list_public()[name]
    text = (inspect.getdoc(found) or "").partition(">>>")[0]
    named = {*re.findall(r"``-?(\w+)``", text), *SAME_EVERYWHERE}
    assert re.search(r"rguments as in :func:", text) or {*inspect.signature(found).parameters} <= named


@pytest.mark.parametrize("package", ["despur", "despur.losses", "despur.metrics", "despur.samplers"])
def test_an_import_brings_no_torch_before_it_is_used(package):
    code = f"import sys, {package}; print({{'torch', 'pandas', 'sklearn'}} & {{*sys.modules}})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_a_name_that_is_not_public_is_refused():
    import despur.losses

    with pytest.raises(AttributeError, match=r"module 'despur.losses' has no attribute 'nothing'"):
        despur.losses.nothing  # noqa: B018
