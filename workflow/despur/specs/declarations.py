"""What the files of components declare. The folders of this package are the registry; files are read without being
run, so that names resolve in milliseconds, without torch."""

import ast
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from despur.specs import hyperparameters, selfsupervised_hyperparameters, settings
from despur.specs.code_files import parse_file, read_constant
from despur.specs.declaration_checks import EXAMPLE, STATED, check_mapping, check_setting, check_stated, list_changed
from despur.specs.extensions import list_extensions
from despur.specs.names import unknown
from despur.specs.syntax import RESOLVED, find_target

PACKAGE = Path(__file__).parents[1]
DECLARATIONS = (RESOLVED - {"REVISION"}) | {
    *("BASE", "READS_TRUE_GROUPS", "READS_VALIDATION_GROUPS", "NAMES_NO_CLASS", "SEEDLESS"),
    *("SOURCE", "LICENSE"),  # of data sets: where they come from, for about.json
}
FUNCTIONS = {**vars(settings), **vars(hyperparameters), **vars(selfsupervised_hyperparameters)}  # of declarations


def list_files(kind: str) -> dict[str, Path]:
    """The files of a folder of the package (datasets, encoders, inference, methods), and of that folder in extensions,
    by name: the folder is the registry. Raises SettingError for a name that two files have."""
    files: dict[str, Path] = {}
    for root in (PACKAGE, *list_extensions()):
        for file in sorted((root / kind).glob("[!_]*.py")):
            if file.stem in files:
                raise settings.SettingError(f"{file}: {files[file.stem]} has the same name: rename one of them")
            files[file.stem] = file
    return {name: file for name, file in files.items() if name != "base"}


def list_components(kind: str) -> list[str]:
    """The names of components of a kind."""
    return sorted(list_files(kind))


@cache
def list_measures() -> dict[str, Path]:
    """The files of the folders ``metrics`` that define ``measure``, by name: every run is evaluated by them, too.
    Raises SettingError for a file of an extension that defines none."""
    measures: dict[str, Path] = {}
    for name, file in list_files("metrics").items():
        nodes = parse_file(file).body if "def measure(" in file.read_text() else []
        if any(getattr(node, "name", "") == "measure" for node in nodes):
            measures[name] = file
        elif not file.is_relative_to(PACKAGE):
            remedy = "name it so, or begin the file's name with _ if others import it"
            raise settings.SettingError(f"{file} defines no function measure: {remedy}")
    return measures


def find_component(kind: str, name: str) -> Path:
    """The file of a component. Raises SettingError for one that does not exist."""
    files = list_files(kind)
    if name not in files:
        names = {"datasets": "data set", "encoders": "encoder", "methods": "method"}
        raise unknown(names.get(kind, kind), name, files)
    return files[name]


def read_docstring(kind: str, name: str) -> str:
    """The docstring of a component's file, which is not run."""
    return ast.get_docstring(parse_file(find_component(kind, name))) or ""


def summarize(kind: str, name: str) -> str:
    """The first paragraph of a component's docstring, in at most 130 characters."""
    return shorten_docstring(read_docstring(kind, name))


def shorten_docstring(text: str) -> str:
    """The first paragraph of a docstring, in at most 130 characters."""
    return textwrap.shorten(text.partition("\n\n")[0], 130, placeholder=" ...")


@cache
def read_declarations(kind: str, name: str) -> dict[str, Any]:
    """The declarations (SETTINGS, PAPER_HYPERPARAMETERS, ...) at the top of a component's file. The file is not run.

    They may name those of another file: ``**read_declarations("methods", "cnc")["SETTINGS"]``, where a variant follows
    what it varies."""
    file = find_component(kind, name)
    revision(file)  # refused before anything is made
    declared: dict[str, Any] = {}
    for node in parse_file(file).body:
        if (target := find_target(node)) in DECLARATIONS:
            value: ast.expr = node.value  # type: ignore[attr-defined]
            declared[target] = _evaluate(value, f"{file}, line {node.lineno}: {target}")
        elif changed := list_changed(node, DECLARATIONS):
            raise settings.SettingError(
                f"{file}, line {node.lineno}: {changed[0]} is read without running the file: state all of it in one "
                f"assignment at the top, {changed[0]} = ..."
            )
    like = read_declarations(kind, declared["DECLARED_LIKE"]) if "DECLARED_LIKE" in declared else {}
    for key, value in check_mapping(file, declared, "SETTINGS").items():
        check_setting(file, key, value, list_files)
    check_stated(file, check_mapping(file, declared, "PAPER_HYPERPARAMETERS"), list_files)
    return {"SETTINGS": {}, **like, **declared}


def _evaluate(node: ast.expr, where: str) -> Any:
    """The value of a declaration. Raises SettingError, naming where it stands, if it needs more than these
    functions."""
    names = {**FUNCTIONS, "read_declarations": read_declarations}
    try:
        return eval(compile(ast.Expression(node), where, "eval"), names)
    except settings.SettingError:
        raise
    except Exception as error:
        allowed = "use only functions of despur/specs/settings.py and hyperparameters.py"
        raise settings.SettingError(f"{where}: {error}: {allowed}, {EXAMPLE}") from None


@cache
def revision(file: Path) -> int:
    """The REVISION that a file of the package declares at its top, 1 where it declares none: raised when its
    numbers change."""
    value = read_constant(file, "REVISION")
    if value is not None and (type(value) is not int or value < 1):
        raise settings.SettingError(f"{file}: REVISION must be a whole number, 1 or above")
    return value or 1


@cache
def list_revised_metrics() -> dict[str, tuple[str, int]]:
    """What the names of metrics begin with (MEASURES) and their REVISION, of each file of metrics that declares both:
    of older records, only these metrics no longer count."""
    files = (file for file in sorted((PACKAGE / "metrics").glob("*.py")) if read_constant(file, "MEASURES"))
    return {f"metrics/{file.stem}": (read_constant(file, "MEASURES"), revision(file)) for file in files}


def paper_hyperparameters(dataset: str, base: str, stage: str) -> dict[str, Any]:
    """What a data set's file states for a component: for all ('*'), for this one, for this one in a stage (``stage1``:
    where groups are inferred from it). ``stage1.epochs`` is of the stage 1 that it reads, if it reads one."""
    layers = stated_layers(dataset, "*", base, f"{stage}/{base}")
    return {key: value for stated in layers.values() for key, value in stated.items()}


def stated_layers(dataset: str, *layers: str) -> dict[str, dict[str, Any]]:
    """What a data set's file states, by layer: for all components (``*``), for one, for one in a stage."""
    table = read_declarations("datasets", dataset).get("PAPER_HYPERPARAMETERS", {}) if dataset else {}
    return {layer: table.get(layer, {}) for layer in layers}


def refuse_unknown_stated(dataset: str, base: str, stage: str) -> None:
    """Refuse what a data set's file states for a component that is no setting of it, nor of another kind's of its
    name; and what it states for all components, or for the stage 1 that one reads, that is no setting of any."""
    for layer, stated in stated_layers(dataset, "*", base, f"{stage}/{base}").items():
        for key in stated:
            of_stage1 = key.startswith("stage1.")
            setting = key.split(".")[1] if of_stage1 else key
            names = ["erm", ""] if of_stage1 or layer == "*" else [base]  # erm first: all others take time to read
            if not any(setting in list_settings(name) for name in names):
                where = f"{find_component('datasets', dataset)}: PAPER_HYPERPARAMETERS of {layer}"
                raise settings.SettingError(f"{where}: {unknown('setting', setting, list_settings(names[-1]))}")


@cache
def list_settings(base: str) -> set[str]:
    """The names of the settings that components of this name have, or, where it is empty, any component."""
    components = [(kind, name) for kind in STATED for name in list_files(kind) if not base or name == base]
    return {key for kind, name in components for key in read_declarations(kind, name)["SETTINGS"]}
