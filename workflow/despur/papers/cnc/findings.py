"""What the worst groups of CNC and GEORGE owe to settings of stages 1 and 2."""

from collections.abc import Iterable, Iterator

import pandas as pd

from despur.evidence.ledger.standing import JudgedRecord
from despur.orchestration.paper_folders import find_paper
from despur.reporting.pages.ledger_report import group_seeds
from despur.specs.names import parse

DATA = "cmnist+colors=released"  # each seed with a draw of its own
METRICS = ("worst_group_accuracy", "average_accuracy")
# what is compared: a method, the settings in which its runs differ, and what they are
VARIED = {
    "cnc": ({"groups.algorithm", "groups.metric"}, "CNC by the clustering of stage 1"),
    "george": ({"groups", "sampler", "stage1.epochs"}, "GEORGE by what App. E.2.5 leaves open"),
}


def describe_findings(records: Iterable[JudgedRecord]) -> Iterator[str]:
    """Sentences for the page *What we found*."""
    groups = group_seeds([judged for judged in records if not judged.reason])
    for name, (settings, title) in VARIED.items():
        by_method = {
            method: by_seed
            for (data, method), by_seed in groups.items()
            if data == DATA and parse(method)[0] == name and parse(method)[1].keys() <= settings
        }
        seeds = sorted(set.intersection(*map(set, by_method.values()))) if len(by_method) > 1 else []
        if seeds:
            yield f"**{title}**, on CMNIST\\*: {describe_runs(name, by_method, seeds)}"


def describe_runs(name: str, by_method: dict[str, dict[int, JudgedRecord]], seeds: list[int]) -> str:
    """Accuracies of each, beside print; and what validation data select."""
    val, test = (
        {method: measure_means([runs[seed] for seed in seeds], split) for method, runs in sorted(by_method.items())}
        for split in ("val", "test")
    )
    measured = ", ".join(f"`{method}` {worst:.1f} ({average:.1f})" for method, (worst, average) in test.items())
    selected = " and ".join(f"`{method}`" for method, means in val.items() if means == max(val.values()))
    printed = pd.read_csv(find_paper("cnc") / "reported/table_1.csv").query(
        f"dataset == 'cmnist' and method == '{name}'"
    )
    worst, average = (printed.loc[printed["metric"].eq(metric), "mean"].item() for metric in METRICS)
    return (
        f"worst group (average) of seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}: {measured}; Table 1 "
        f"prints {worst:.1f} ({average:.1f}). Validation data select {selected}."
    )


def measure_means(by_seed: list[JudgedRecord], split: str) -> tuple[float, float]:
    """Worst group and average accuracy of a split, means over seeds, in percent."""
    rows = [judged.record.metrics()["best"] for judged in by_seed]
    worst, average = (100 * sum(row[split, metric, ""] for row in rows) / len(rows) for metric in METRICS)
    return worst, average
