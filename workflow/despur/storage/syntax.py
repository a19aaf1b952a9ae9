"""What a file of code says, whatever its comments, docstrings and format. This file imports nothing of the package, so
that it stays imported in jobs (despur/warm/child.py) although the rest of the package may be edited."""

import ast
import hashlib
from functools import cache
from pathlib import Path

TEXT = Path(__file__).read_text()  # as it was imported

# Declarations of the package that are not hashed: they are in the specification anyway, or do not change results.
RESOLVED = {
    "SETTINGS",
    "DECLARED_LIKE",
    "PAPER_HYPERPARAMETERS",
    "SEED_CHUNK",
    "RAW",
    "RAW_WITH",
    "WEIGHTS",
    "WEIGHTS_WITH",
    "DOWNLOADED",
    "CLASS_EMBEDDINGS",
    "DOWNLOADS",
    "BY_HAND",
    "REVISION",
    "LABELS_WITHHELD",
    "PUBLISHED_SIZES",
}


def _imports(tree: ast.AST) -> frozenset[str]:
    """Modules below ``despur`` that a syntax tree may import, anywhere in it, as paths: ``methods/cnc``."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    modules = (name.partition(".")[2] for name in names if name.startswith("despur."))  # despur/__init__.py is left out
    return frozenset(name.replace(".", "/") for name in modules)


def declares(node: ast.stmt, *names: str) -> bool:
    """Whether a statement gives a value to one of these names."""
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in names


def _strip(tree: ast.Module, is_component: bool) -> ast.Module:
    """Without docstrings and, in a component, without what is in the specification or does not change results."""
    tree.body = [node for node in tree.body if not (is_component and declares(node, *RESOLVED))]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            node.body = body[1:]
    return tree


@cache
def parse(text: str, is_component: bool) -> tuple[str, frozenset[str]]:
    """Digest of code with this text, and the modules that it may import. Jobs that are forked from a server know it of
    the package's files that were not edited."""
    tree = ast.parse(text)
    stripped = ast.unparse(_strip(tree, is_component))
    return hashlib.sha256(stripped.encode()).hexdigest(), _imports(tree)
