"""``despur show RUN``: what a finished run measured. For reading only."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from despur.cli.metrics import find_headline, format_seeds, format_spread, load_headline
from despur.cli.rows import Row
from despur.specs.paths import locate_result
from despur.storage.group_warnings import load_warnings

if TYPE_CHECKING:
    import pandas as pd

SELECTIONS = ("best", "last")
GROUPED = ("accuracy", "probe_accuracy")  # the metrics that are shown of each group


def show_run(path: Path) -> Iterator[str]:
    """what a finished run measured: metrics of the headline split, best and last step, mean (std) over seeds"""
    import pandas as pd

    table = load_headline(path)
    yield (
        f"{locate_result(path).folder}: split {find_headline(path)}, {format_seeds(table['seed'].unique())}; "
        "mean (std) over seeds, shares as in metrics.csv"
    )
    for data, seed, warning in load_warnings(locate_result(path)):
        yield Row(f"warning: {data}, seed {seed}: {warning}", "warnings", dataset=data, seed=seed, warning=warning)
    shown = table[table["selection"].isin(SELECTIONS) & ((table["group"] == "") | table["metric"].isin(GROUPED))]
    shown = pd.concat([shown[shown["group"] == ""], shown[shown["group"] != ""]])  # groups last
    for point, own in shown.groupby("point", sort=False):
        yield f"\n{point}" if point else ""
        yield f"{'metric':<50}{'best step':>20}{'last step':>20}"
        yield from list_metrics(str(point), own, table[table["point"] == point])


def list_metrics(point: str, shown: "pd.DataFrame", every: "pd.DataFrame") -> Iterator[Row]:
    """A row for each metric and group of one point."""
    samples = every[every["metric"] == "samples"].groupby("group")["value"].first()
    for (metric, group), own in shown.groupby(["metric", "group"], sort=False):
        found = {name: own[own["selection"] == name]["value"].dropna() for name in SELECTIONS}
        if not len(found["best"]):
            continue
        of_group = f'{metric} of "{group}" ({samples.get(group, 0):,.0f} samples)'
        words = of_group if metric == "accuracy" else f"{metric} {group}".strip()
        cells = "".join(f"{format_spread(values) if len(values) else '–':>20}" for values in found.values())
        numbers = {name: values.mean() for name, values in found.items()}
        spreads = {f"{name}_std": values.std() for name, values in found.items()}
        seeds = len(found["best"])
        yield Row(
            f"{words:<50}{cells}", "metrics", point=point, metric=metric, group=group, **numbers, **spreads, seeds=seeds
        )
