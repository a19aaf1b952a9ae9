"""What a file of code says, whatever its comments, docstrings and format. This file imports nothing of the package, so
that it stays imported in jobs (despur/warm/child.py) although the rest of the package may be edited."""

import ast
import hashlib
from functools import cache
from pathlib import Path

TEXT = Path(__file__).read_text()  # as it was imported

# Declarations of components that are not hashed: they are in the specification anyway, or do not change results.
RESOLVED = {
    *("SETTINGS", "PAPER_HYPERPARAMETERS", "SEED_CHUNK"),
    "DECLARED_LIKE",  # another component of the kind, whose declarations count where the file has none
    *("RAW", "RAW_WITH", "DOWNLOADED", "CLASS_EMBEDDINGS"),  # of data sets: despur/storage/raw_files.py
    *("WEIGHTS", "WEIGHTS_WITH"),  # of encoders: despur/storage/weight_files.py
    *("DOWNLOADS", "BY_HAND"),  # of data sets and encoders: despur/storage/downloads.py
    "PUBLISHED_SIZES",  # of data sets: what their splits hold, a number (a float is rounded) or one for each group
    "LABELS_WITHHELD",  # of data sets: why their license forbids to pass labels on (evidence/ledger/recording.py)
    "REVISION",  # of any file
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


def find_target(node: ast.stmt) -> str:
    """The name that a statement gives a value, with or without its type; empty for any other statement."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    is_assignment = isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
    return target.id if is_assignment and isinstance(target, ast.Name) else ""


def _strip(tree: ast.Module, is_component: bool) -> ast.Module:
    """Without docstrings and, in a component, without what is in the specification or does not change results."""
    tree.body = [node for node in tree.body if not (is_component and find_target(node) in RESOLVED)]
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
