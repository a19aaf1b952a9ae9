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
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in [titles, ["---"] * len(titles), *rows])
