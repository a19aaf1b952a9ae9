"""Tables and texts in Markdown."""

import re
from collections.abc import Iterable


def escape_star(text: str) -> str:
    """A text without marks that may name CMNIST*, whose star is none of Markdown's."""
    return re.sub(r"(?<=\w)\*", r"\\*", text)


def format_table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table with its titles."""
    titles = [*titles]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [titles, ["---"] * len(titles), *rows])
