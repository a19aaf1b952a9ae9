"""Tables and texts in Markdown."""

import re
from collections.abc import Iterable
from typing import Any


def escape_star(text: str) -> str:
    """A text without marks that may name CMNIST*, whose star is none of Markdown's."""
    return re.sub(r"(?<=\w)\*", r"\\*", text)


def to_markdown(titles: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table with its titles."""
    titles = [*titles]
    table = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(map(escape_cell, cells))} |" for cells in table)


def replace_between(text: str, first: str, last: str, content: str) -> str:
    """A text with ``content`` between the marks ``first`` and ``last``, which stay; as it is, where it lacks them."""
    between = f"({re.escape(first)}).*?({re.escape(last)})"
    return re.sub(between, lambda marks: marks[1] + content + marks[2], text, flags=re.DOTALL)


def escape_cell(cell: Any) -> str:
    """A cell in which ``0.6~0.8~0.9`` strikes nothing out: ``~`` is escaped where it is not code."""
    pieces = str(cell).split("`")
    pieces[::2] = [piece.replace("~", r"\~") for piece in pieces[::2]]
    return "`".join(pieces)
