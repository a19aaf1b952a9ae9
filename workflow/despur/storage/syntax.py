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
    """Modules below ``despur`` that a syntax tree may import, anywhere in it, as paths: ``methods/cnc``; ``losses/*``
    where any name of ``losses`` may be used, ``./base`` and ``../losses/irm`` for relative imports."""
    paths: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {name for alias in node.names for name in (alias.name, f"{alias.name}.*")}
            paths |= {name.partition(".")[2].replace(".", "/") for name in names if name.startswith("despur.")}
        elif isinstance(node, ast.ImportFrom):
            start = (node.module or "").split(".") if node.module else []
            if node.level == 0 and start[0] != "despur":
                continue
            up = ["."] * (node.level == 1) + [".."] * (node.level - 1)
            parts = [*up, *(start if node.level else start[1:])]
            named = [[*parts, *more] for alias in node.names for more in ((alias.name,), (alias.name, "*"))]
            paths |= {"/".join(path) for path in (parts, *named)}
    return frozenset(paths - {"", ".", "..", "*"})  # despur/__init__.py is left out


def declares(node: ast.stmt, *names: str) -> bool:
    """Whether a statement gives a value to one of these names."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name) and target.id in names


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
