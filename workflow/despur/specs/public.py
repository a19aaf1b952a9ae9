"""The public names of a package: those that its stub ``__init__.pyi`` lists, imported when they are first used."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def read_stub(file: str) -> dict[str, tuple[str, str]]:
    """(module, name in it) of each public name of the package whose ``__init__.py`` this is."""
    tree = ast.parse(Path(file).with_suffix(".pyi").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: (node.module or "", alias.name) for node in imports for alias in node.names}


def publish(package: str, file: str) -> tuple[Callable[[str], Any], list[str], Callable[[], list[str]]]:
    """``__getattr__``, ``__all__`` and ``__dir__`` of a package."""
    names = read_stub(file)

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = names[name]
        return getattr(import_module(module), attribute)

    return load, sorted(names), lambda: sorted(names)
