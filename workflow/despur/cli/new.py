"""``python -m despur new method NAME``: a file that runs, and its test, to start from (despur/cli/templates)."""

import re
from collections.abc import Iterator
from pathlib import Path

from despur.orchestration.experiments import PAPERS
from despur.specs.declarations import PACKAGE
from despur.specs.settings import SettingError

TEMPLATES = Path(__file__).parent / "templates"
TESTS = PACKAGE.parents[1] / "tests"
FOLDERS = {"method": "methods", "dataset": "datasets", "encoder": "encoders", "inference": "inference"}
KINDS = (*FOLDERS, "paper")


def create(kind: str, name: str) -> Iterator[str]:
    """a file that runs, and its test, for a new method, dataset, encoder, inference or paper. Raises SettingError for
    a name that is not valid, or that exists."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise SettingError(f"{name!r} cannot be a name: use lower-case letters, digits and _, such as my_{kind}")
    files = list_files(kind, name)
    for file in files:
        if file.exists():
            raise SettingError(f"{file} exists: choose another name")
    for file, template in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(fill_in(template.read_text(), kind, name))
        yield f"wrote {file}"
    test = next(file for file in files if TESTS in file.parents)
    yield f"next: edit them; test them with: pytest {test}"


def list_files(kind: str, name: str) -> dict[Path, Path]:
    """The files to write, and their templates."""
    if kind == "paper":
        folder = TEMPLATES / "paper"
        files = {PAPERS / name / file.relative_to(folder): file for file in sorted(folder.rglob("*.*"))}
        return {**files, TESTS / "papers" / f"test_{name}.py": TEMPLATES / "test_paper.py"}
    return {
        PACKAGE / FOLDERS[kind] / f"{name}.py": TEMPLATES / f"{kind}.py",
        TESTS / FOLDERS[kind] / f"test_{name}.py": TEMPLATES / f"test_{kind}.py",
    }


def fill_in(text: str, kind: str, name: str) -> str:
    """A template with the name in the place of the template's own (``new_method``, ``NewMethod``)."""
    words = "".join(word.capitalize() for word in name.split("_"))
    return text.replace(f"new_{kind}", name).replace(f"New{kind.capitalize()}", words)
