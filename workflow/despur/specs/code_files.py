"""Files of code that are read without being run."""

import ast
from pathlib import Path
from typing import Any

from despur.specs.settings import SettingError


def parse_file(file: Path) -> ast.Module:
    """The syntax tree of a file, which is not run. Raises SettingError, naming file and line, for what is
    no Python."""
    try:
        return ast.parse(file.read_text())
    except SyntaxError as error:
        where = f"{file}, line {error.lineno or 1}"
        raise SettingError(f"{where}: {error.msg}: correct it, or move the file away") from None
    except UnicodeDecodeError:
        raise SettingError(f"{file} is no text in UTF-8: save it as such, or move it away") from None


def find_target(node: ast.stmt) -> str:
    """The name that a statement gives a value, with or without its type; empty for any other statement."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    is_assignment = isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
    return target.id if is_assignment and isinstance(target, ast.Name) else ""


def read_constant(file: Path, name: str) -> Any:
    """The number or text that a file of the package gives this name at its top, or None; the file is not run."""
    for node in parse_file(file).body if name in file.read_text() else ():
        if find_target(node) == name:
            value = node.value  # type: ignore[attr-defined]
            return value.value if isinstance(value, ast.Constant) else ...
    return None
