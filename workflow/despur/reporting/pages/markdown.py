"""Tables in Markdown."""

from collections.abc import Iterable


def format_table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table with its titles."""
    titles = [*titles]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [titles, ["---"] * len(titles), *rows])
