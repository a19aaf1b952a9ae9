"""``despur new method NAME``: a file that runs, and its test, to start from (despur/cli/templates)."""

import keyword
import re
from collections.abc import Iterator
from pathlib import Path

from despur.cli.commands import PATH, Arguments
from despur.orchestration.paper_folders import PAPERS, find_paper, list_papers
from despur.specs.declarations import PACKAGE, find_component, list_components
from despur.specs.settings import SettingError

TEMPLATES = Path(__file__).parent / "templates"
TESTS = PACKAGE.parents[1] / "tests"
FOLDERS = {
    "method": "methods",
    "dataset": "datasets",
    "encoder": "encoders",
    "inference": "inference",
    "metric": "metrics",
}
CREATED = (*FOLDERS, "paper")

ARGUMENTS: Arguments = {
    "kind": {"choices": CREATED},
    "name": {"help": "lower-case letters, digits and _"},
    "--folder": PATH | {"help": "an extension to write into, such as my_project (DESPUR_EXTENSIONS)"},
}


def create(kind: str, name: str, folder: Path | None = None) -> Iterator[str]:
    """a file that runs, and its test, for a new method, dataset, encoder, inference, metric or paper, here or in an
    extension. Raises SettingError for a name that is not valid, or that exists."""
    refuse_bad_name(kind, name)
    if not (folder or TESTS.is_dir()):
        raise SettingError("there is no checkout of the project to write into: name a folder, --folder my_project")
    files = list_files(kind, name, folder)
    for file in (*list_namesakes(kind, name), *files):
        if file.exists():
            raise SettingError(f"{file} exists: choose another name")
    for file, template in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(fill_in(template.read_text(), kind, name))
        yield f"wrote {file}"
    test = next(file for file in files if file.name.startswith("test_"))
    command = f"pytest {test}"
    if folder:  # whose tests import helpers of the checkout, as its settings of pytest say
        options, here = TESTS.parent / "pyproject.toml", Path.cwd()
        checkout = options.relative_to(here) if options.is_relative_to(here) else options
        config = checkout if options.exists() else "pyproject.toml of a checkout of despur"
        command = f"DESPUR_EXTENSIONS={folder} pytest -c {config} {test}"
    yield f"next: edit them; test them with: {command}"


def refuse_bad_name(kind: str, name: str) -> None:
    """Raise SettingError for what names no file and no class."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise SettingError(f"{name!r} cannot be a name: use lower-case letters, digits and _, such as my_{kind}")
    if keyword.iskeyword(name) or keyword.iskeyword(name.capitalize()):  # none: its class would be None
        raise SettingError(f"{name!r} is a word of Python, which names no file or class: choose another name")


def list_namesakes(kind: str, name: str) -> list[Path]:
    """The paper or component of this kind and name, where there is one."""
    if kind == "paper":
        return [find_paper(name)] if name in list_papers() else []
    return [find_component(FOLDERS[kind], name)] if name in list_components(FOLDERS[kind]) else []


def list_files(kind: str, name: str, extension: Path | None = None) -> dict[Path, Path]:
    """The files to write, in the package or in an extension, and their templates."""
    code, tests = (extension, extension / "tests") if extension else (PACKAGE, TESTS)
    if kind == "paper":
        template, folder = TEMPLATES / "paper", (extension / "papers" if extension else PAPERS) / name
        files = {folder / file.relative_to(template): file for file in sorted(template.rglob("*.*"))}
        return {**files, tests / "papers" / f"test_{name}.py": TEMPLATES / "test_paper.py"}
    return {
        code / FOLDERS[kind] / f"{name}.py": TEMPLATES / f"{kind}.py",
        tests / FOLDERS[kind] / f"test_{name}.py": TEMPLATES / f"test_{kind}.py",
    }


def fill_in(text: str, kind: str, name: str) -> str:
    """A template with the name in the place of the template's own (``new_method``, ``NewMethod``)."""
    words = "".join(word.capitalize() for word in name.split("_"))
    return text.replace(f"new_{kind}", name).replace(f"New{kind.capitalize()}", words)
