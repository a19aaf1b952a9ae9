"""Tables and texts in Markdown."""

from collections.abc import Iterable


def escape_star(statement: str) -> str:
    """A claim that ends in CMNIST*, whose star is none of Markdown's marks."""
    return statement.replace("*”", "\\*”")


def format_table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table with its titles."""
    titles = [*titles]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [titles, ["---"] * len(titles), *rows])
