"""The expressions in a file that decide what it does, and what they are changed to."""

import ast

from despur.specs.syntax import RESOLVED

DECLARING = ("augment", "datasets", "encoders", "inference", "methods")  # folders of components
OTHER = {ast.Eq: ast.NotEq, ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.In: ast.NotIn, ast.Is: ast.IsNot, ast.Add: ast.Sub}
PAIRS = OTHER | {other: one for one, other in OTHER.items()}
# Parts of these cannot stand alone: texts in f-strings, patterns.
WHOLE = ast.JoinedStr | ast.pattern


def list_expressions(tree, folder):
    """The expressions of a file but docstrings and, in a folder of components, declarations that specifications
    hold."""
    declared = RESOLVED if folder in DECLARING else {"REVISION"}
    kept = [node for node in tree.body if name_assigned(node) not in declared]
    nodes = [node for each in kept for node in ast.walk(each)]
    left_out = {id(part) for node in nodes if isinstance(node, WHOLE) for part in ast.walk(node) if part is not node}
    left_out |= {id(node.value) for node in nodes if isinstance(node, ast.Expr | ast.Starred)}
    return [node for node in nodes if isinstance(node, ast.expr) and is_read(node) and id(node) not in left_out]


def name_assigned(statement):
    return getattr(statement.targets[0], "id", "") if isinstance(statement, ast.Assign) else ""


def is_read(node):
    """Whether an expression has a value of its own: not a slice, nor several."""
    if isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice) for each in node.elts):
        return False
    return not isinstance(node, ast.Starred | ast.Slice) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def name_kind(node):
    return {ast.Constant: "value", ast.Compare: "comparison", ast.BinOp: "operator"}.get(type(node), "expression")


class Change(ast.NodeTransformer):
    """Another value, comparison or operator in place of a chosen node; ``not`` before any other expression."""

    def __init__(self, chosen):
        self.chosen = chosen

    def visit(self, node):
        if node is not self.chosen:
            return self.generic_visit(node)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, str):
            return ast.Constant(node.value * 2 or type(node.value)("1"))
        if isinstance(node, ast.Compare):
            return ast.Compare(node.left, [PAIRS[type(node.ops[0])](), *node.ops[1:]], node.comparators)
        if isinstance(node, ast.BinOp):
            return ast.BinOp(node.left, PAIRS.get(type(node.op), ast.Add)(), node.right)
        return ast.UnaryOp(ast.Not(), node)


def draw_changes(text, folder, rng):
    """A file's text with one expression changed, for each kind of expression that it has: what kind, and the text."""
    listed = list_expressions(ast.parse(text), folder)
    for kind in sorted({name_kind(node) for node in listed}):
        number = rng.choice([number for number, node in enumerate(listed) if name_kind(node) == kind])
        tree = ast.parse(text)
        yield kind, ast.unparse(Change(list_expressions(tree, folder)[number]).visit(tree))
