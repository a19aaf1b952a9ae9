"""Which results an edit of a file of the package makes anew: exactly those whose code imports it, as Python's own
ModuleFinder sees it; a changed value always, a comment never."""

import ast
import random
from functools import cache
from modulefinder import ModuleFinder
from pathlib import Path

import pytest
from storage.test_digest import STAGES
from storms.conftest import CASES

from despur.specs.declarations import PACKAGE, list_measures
from despur.specs.paths import locate_result
from despur.storage import digest

pytestmark = pytest.mark.storm
FILES = sorted(file for file in PACKAGE.rglob("*.py") if "templates" not in file.parts)
METHODS = ("cnc", "dfr", "jtt", "simclr", "leace", "contrastive_adapter")
RESULTS = {
    **{stage: path.replace("/toy/", "/cnc/") for stage, path in STAGES.items()},
    **{f"runs of {name}": f"results/runs/colored_digits/{name}/s0" for name in METHODS},
}


def find_entries(stage):
    """The files with which the code behind a result begins."""
    result = locate_result(RESULTS[stage])
    kind = "runs" if stage.startswith("runs of") else stage
    entries = {PACKAGE / digest.ENTRY[kind]}
    if kind == "evaluate":
        return entries | {*list_measures().values()}
    if kind == "saliency":
        return entries
    sweep = result.datasets if kind == "data" else result.sweep
    return entries.union(*(digest._components(point) for point in sweep.points))


class Finder(ModuleFinder):
    """Does not follow the package's own __init__.py: it imports on demand."""

    def scan_code(self, code, module):
        if module.__name__ != PACKAGE.name:
            super().scan_code(code, module)


@cache
def find_imports(entry):
    """The files of the package that Python would load for a file, wherever its functions import them."""
    finder = Finder(path=[str(PACKAGE.parent)])
    finder.run_script(str(entry))
    found = {Path(module.__file__) for module in finder.modules.values() if module.__file__}
    return {file for file in found if not is_empty(file)}


EXTENDED = "despur.specs.extensions"  # all that the __init__.py of a folder of components imports


def is_empty(file):
    """Whether an __init__.py decides nothing: it holds a docstring, or where a folder's extensions are; or it is the
    package's own, which imports on demand."""
    if file.name != "__init__.py" or file.parent.name == "warm":
        return False
    imports = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
    return file.parent == PACKAGE or {node.module for node in imports} <= {EXTENDED}


def without_empty(files):
    return {str(file.relative_to(PACKAGE)) for file in files if not is_empty(file)}


@pytest.mark.parametrize("stage", RESULTS)
def test_the_code_behind_a_result_is_what_python_would_load_for_it(stage):
    entries = find_entries(stage)
    loaded = set().union(*(find_imports(entry) for entry in entries))
    assert without_empty(digest._closure(entries)) == without_empty(loaded)


def list_values(tree):
    """The constants in a file that decide what it does: not docstrings, not what is in specifications anyway."""
    kept = [node for node in tree.body if not digest._declares(node, *digest.RESOLVED)]
    texts = {id(node.value) for each in kept for node in ast.walk(each) if isinstance(node, ast.Expr)}
    values = [node for each in kept for node in ast.walk(each) if isinstance(node, ast.Constant)]
    return [node for node in values if id(node) not in texts and type(node.value) in (int, float, str, bool)]


def change(value):
    """Another value of the same type."""
    return not value if isinstance(value, bool) else value * 2 or type(value)("1")


def read_digest(file):
    digest._file.cache_clear()
    return digest._file(file)[0]


def test_a_changed_value_changes_the_digest_of_its_file_and_a_comment_does_not(tmp_path, record):
    rng, tried, copy = random.Random(0), 0, tmp_path / "copy.py"
    for file in FILES if CASES else rng.sample(FILES, 12):
        text = file.read_text()
        copy.write_text(text)
        before = read_digest(copy)
        copy.write_text(f"# A comment.\n\n{text}\n\n# The end.\n")
        assert read_digest(copy) == before, file
        values = range(len(list_values(ast.parse(text))))
        for number in rng.sample(values, min(len(values), 5)):
            tree = ast.parse(text)
            value = list_values(tree)[number]
            value.value = change(value.value)
            copy.write_text(ast.unparse(tree))
            assert read_digest(copy) != before, (file, value.lineno)
            tried += 1
    assert tried > 20
    outcome = "the results whose code imports the file are made anew, and no others; a comment changes none"
    record("edits of the package: values of files changed", tried, outcome)
