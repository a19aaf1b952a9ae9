"""Checks of what a component's file declares; each error names the file and says what to state. ``list_names``: the
names of components of a kind."""

import ast
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from despur.specs.names import unknown
from despur.specs.settings import SearchRange, Setting, SettingError, spell
from despur.specs.stages import PARTS
from despur.specs.syntax import find_target

ListNames = Callable[[str], Collection[str]]
CHANGING = ("update", "setdefault", "pop", "popitem", "clear")  # methods of a dictionary
STATED = ("augment", "encoders", "inference", "methods")  # kinds of components whose settings a data set states
EXAMPLE = 'such as "temperature": float_(0.1, "Sec. 4")'


def list_changed(node: ast.stmt, declarations: Collection[str]) -> list[str]:
    """The declarations that a statement at the top of a file changes, other than by one plain assignment; what a
    function does is not seen."""
    if find_target(node) in declarations or isinstance(node, ast.FunctionDef | ast.ClassDef):
        return []
    parts = list(ast.walk(node))
    stored = [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Store | ast.Del)]
    places = [part.value if isinstance(part, ast.Subscript) else part for part in stored]
    methods = [part.func for part in parts if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)]
    places += [method.value for method in methods if method.attr in CHANGING]
    return [place.id for place in places if isinstance(place, ast.Name) and place.id in declarations]


def check_mapping(file: Path, declared: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A declaration that gives a value to names; empty where there is none. Raises SettingError for any other."""
    mapping = declared.get(name, {})
    if not isinstance(mapping, dict) or not all(isinstance(key, str) for key in mapping):
        raise SettingError(f"{file}: {name} must give values to names: {name} = {{...}}")
    return mapping


def check_setting(file: Path, key: str, setting: Any, list_names: ListNames) -> None:
    """Raises SettingError, naming the file, for what declares no setting, or one whose default it would refuse."""
    where = f"{file}: {key} in SETTINGS"
    if not isinstance(setting, Setting):
        raise SettingError(f"{where} is {setting!r}: declare it and its source, {EXAMPLE}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", key):
        raise SettingError(f"{where}: a name has lower-case letters, digits and _")
    if not isinstance(setting.search, SearchRange | None):
        raise SettingError(f"{where}: search is {setting.search!r}, not uniform(...), log_uniform(...), ...")
    if setting.folder and setting.default not in list_names(setting.folder):
        raise SettingError(
            f"{where}: {unknown(f'name in {setting.folder}/:', setting.default, list_names(setting.folder))}"
        )
    try:
        parsed = setting.parse(key, spell(setting.default))
    except SettingError as error:
        raise SettingError(f"{where}: its default is refused: {error}") from None
    if type(parsed) is not type(setting.default) or parsed != setting.default:
        raise SettingError(f"{where}: its default {setting.default!r} is read as {parsed!r} from a name: state that")


def check_stated(file: Path, table: Mapping[str, Any], list_names: ListNames) -> None:
    """Raises SettingError, naming the file, for PAPER_HYPERPARAMETERS that are not settings by component, or of a
    component or stage that there is not."""
    where = f"{file}: PAPER_HYPERPARAMETERS"
    known = {"*", *(name for kind in STATED for name in list_names(kind))} if table else set()
    for layer, stated in table.items():
        stage, _, name = layer.rpartition("/")
        if not isinstance(stated, dict):
            raise SettingError(f'{where} must be settings by component: {{"cnc": {{"temperature": 0.05}}}}')
        if name not in known:
            raise SettingError(f"{where}: {unknown('component', name, known)}")
        if stage not in ("", *PARTS):
            raise SettingError(f"{where}: {unknown('stage', stage, PARTS)}")
