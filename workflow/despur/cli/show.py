"""``python -m despur show RUN``: what a finished run measured. For reading only."""

from collections.abc import Iterator
from pathlib import Path

from despur.cli.metrics import find_headline, format_seeds, format_spread, load_metrics
from despur.specs.paths import locate

WIDTH = 120  # characters of a line


def show_run(path: Path) -> Iterator[str]:
    """what a finished run measured: the headline split's metrics, mean (std) over seeds, a row for each point of a
    sweep"""
    import pandas as pd

    points, split = load_metrics(path), find_headline(path)
    first = next(iter(points.values()))
    yield (
        f"{locate(path).folder}: split {split}, selection best, {format_seeds(first.columns)}; mean (std) over seeds, "
        "shares as in metrics.csv\n"
    )
    table = pd.DataFrame(
        {
            name: {metric: format_spread(row.dropna()) for metric, row in point.iterrows()}
            for name, point in points.items()
        }
    )
    shown = table if len(points) == 1 else table.T
    yield shown.fillna("–").to_string(line_width=WIDTH, header=len(points) > 1)
