"""Docstrings of files that are not run."""

import ast
from collections.abc import Iterator


def walk_docstrings(tree: ast.Module, name: str) -> Iterator[tuple[str, str]]:
    """(name, docstring) of a file, its classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield getattr(node, "name", name), text
