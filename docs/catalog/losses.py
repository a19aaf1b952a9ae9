"""The losses behind each method, from the imports of its file."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from catalog.docstrings import walk_docstrings
from catalog.markdown import code, escape, table
from despur.specs.declarations import PACKAGE
from despur.specs.extensions import list_extensions


def describe_losses(name: str) -> str:
    """The functions of despur.losses that a method's file, or a method file that it imports, uses."""
    losses = dict.fromkeys(loss for file in list_method_files(f"methods.{name}") for loss in list_imported_losses(file))
    rows = [
        [code(f"{module}.{function}"), escape(read_function(module, function).partition("\n\n")[0])]
        for module, function in losses
    ]
    shown = table(["function", "what it is"], rows) if rows else "Cross-entropy, or what its file states."
    return f"## Losses\n\n{shown}"


def list_method_files(module: str) -> list[Path]:
    """The file of a module below ``methods``, and the files there that it imports, each once."""
    file = find_module(module)
    if not file.exists() or file.stem == "base":
        return []
    below = [other for name in list_imports(file) for other in list_method_files(name)]
    return list(dict.fromkeys([file, *below]))


def find_module(module: str) -> Path:
    """The file of a module of the package, or of an extension; one that may not be there, where none has it."""
    files = [root / f"{module.replace('.', '/')}.py" for root in (PACKAGE, *list_extensions())]
    return next((file for file in files if file.exists()), files[0])


@cache
def list_imports(file: Path) -> tuple[str, ...]:
    """The modules below ``despur.methods`` that a file imports: ``methods.families.pairs``."""
    modules = (node.module or "" for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom))
    return tuple(name.removeprefix("despur.") for name in modules if name.startswith("despur.methods."))


def list_imported_losses(file: Path) -> Iterator[tuple[str, str]]:
    """(module, function) that a file imports from ``despur.losses``."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("despur.losses."):
            yield from ((str(node.module).rpartition(".")[2], alias.name) for alias in node.names)


def read_function(module: str, function: str) -> str:
    """The docstring of a loss."""
    tree = ast.parse(find_module(f"losses.{module}").read_text())
    return dict(walk_docstrings(tree, module)).get(function, "")
