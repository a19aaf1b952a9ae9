"""Files of code that are read without being run."""

import ast
from pathlib import Path
from typing import Any

from despur.specs.settings import SettingError
from despur.specs.syntax import find_target


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


def read_constant(file: Path, name: str) -> Any:
    """The number or text that a file of the package gives this name at its top, or None; the file is not run."""
    for node in parse_file(file).body if name in file.read_text() else ():
        if find_target(node) == name:
            value = node.value  # type: ignore[attr-defined]
            return value.value if isinstance(value, ast.Constant) else ...
    return None
