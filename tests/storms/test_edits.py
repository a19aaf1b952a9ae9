"""Which results an edit of a file of the package or of a paper's scripts makes anew: exactly those for which Python
would load the file; a changed expression does, a comment never."""

import importlib
import json
import os
import random
from collections import Counter
from pathlib import Path

import forked
import pytest
from storms.conftest import CASES
from storms.dependents import find_code, find_entries, list_results, read_key
from storms.expressions import draw_changes

from despur.storage import digest

pytestmark = pytest.mark.storm
# Imports what a job begins with, and prints which files are loaded then.
LOADER = """
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print("LOADED" + json.dumps([getattr(each, "__file__", None) for each in [*sys.modules.values()]]))
"""
# Python loads these with any file of the package: despur imports it on demand, folders hold nothing else.
ALWAYS = {"__init__.py", "interrupts.py"}


@pytest.fixture
def copy(package):
    """A copy of the package that digest.py reads. What it has read of a file is remembered until ``rewrite``."""
    read, known = digest._file.__wrapped__, {}
    package.patch.setattr(digest, "_file", lambda file: known.get(file) or known.setdefault(file, read(file)))

    def rewrite(file, text):
        file.unlink()
        file.write_text(text)
        known.pop(file, None)
        digest.code_digest.cache_clear()
        digest.cache_key.cache_clear()

    package.rewrite = rewrite
    return package


def sample(rng, every, short):
    """All of them in the storm, else some."""
    return list(every) if CASES else rng.sample(list(every), short)


def list_code(root):
    """Every file of code of the package and of papers."""
    return sorted(file for file in root.rglob("*.py") if "templates" not in file.parts)


def tell(record, tried, results):
    """The row of this storm."""
    told = ", ".join(f"{count} of a{'n' * (kind[0] in 'eo')} {kind}" for kind, count in sorted(tried.items()))
    outcome = (
        f"{told}; of {results} results, of every component, stage and script of a paper, exactly those get another"
        " key whose code loads the file, as Python's ModuleFinder sees it; despur/__init__.py, which all load, counts"
        " for none; a comment changes none"
    )
    record("edits of the package and of papers: expressions changed", tried.total(), outcome)


def test_an_edit_makes_anew_what_loads_the_file_and_nothing_else(copy, record):
    rng, tried, made = random.Random(0), Counter(), Counter()
    results = dict(sample(rng, list_results().items(), 20))
    code = {name: find_code(copy.root, result) for name, result in results.items()}
    before = {name: read_key(result) for name, result in results.items()}

    def list_changed(file, text):
        copy.rewrite(file, text)
        return {name for name, result in results.items() if read_key(result) != before[name]}

    for file in sample(rng, list_code(copy.root), 18):
        text, expected = file.read_text(), {name for name in results if file in code[name]}
        assert list_changed(file, f"# A comment.\n\n{text}\n\n# The end.\n") == set(), file
        for kind, edited in draw_changes(text, file.parent.name, rng):
            assert list_changed(file, edited) == expected, (file, edited)
            tried[kind] += 1
            made[bool(expected)] += 1
        copy.rewrite(file, text)
    assert made[True] and (not CASES or (made[False] and len(tried) == 4))
    tell(record, tried, len(results))


def load(root, result):
    """The files of a folder that a process of its own has loaded when a result's job begins."""
    (root / "loader.py").write_text(LOADER)
    files = [file.relative_to(root).with_suffix("") for file in find_entries(root / "despur", result)]
    names = [".".join(file.parts) for file in files]
    code, text = forked.run(["loader.py", *names], root, os.environ | {"PYTHONPATH": str(root)}, 100, forked.HERE)
    assert code == 0, text
    return {Path(file) for file in json.loads(text.partition("LOADED")[2]) if file and file.startswith(f"{root}/")}


def test_a_process_loads_no_file_that_is_not_found(copy):
    importlib.import_module("torch")  # once, before the forks
    for name, result in sample(random.Random(0), list_results().items(), 2):
        loaded = {file for file in load(copy.root.parent, result) if file.name not in ALWAYS}
        assert find_entries(copy.root, result) <= loaded <= find_code(copy.root, result), name
