"""What the worst groups of CNC, JTT and GEORGE owe to settings of stages 1 and 2."""

from collections.abc import Collection, Iterable, Iterator

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
    "jtt": ({"upsampling"}, "JTT by its upsampling, for which App. E.2.5 has a rule and a factor that do not agree"),
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
        if said := [describe_runs(by_method, seeds) for seeds in list_common_seeds(name, by_method)]:
            worst, average = read_printed(name)
            yield (
                f"**{title}**, on CMNIST\\*: worst group (average) {'; '.join(said)}. Table 1 prints {worst:.1f} "
                f"({average:.1f})."
            )


def list_common_seeds(name: str, by_method: dict[str, dict[int, JudgedRecord]]) -> list[tuple[int, ...]]:
    """The seeds that a setting has in common with the default; each set once, the largest first."""
    default = {*by_method.get(name, ())}
    common = {tuple(sorted(default & {*runs})) for method, runs in by_method.items() if method != name}
    return sorted(common - {()}, key=lambda seeds: (-len(seeds), seeds))


def describe_runs(by_method: dict[str, dict[int, JudgedRecord]], seeds: Collection[int]) -> str:
    """Accuracies of each method that has these seeds, and which of them validation data select."""
    have = {method: [runs[seed] for seed in seeds] for method, runs in sorted(by_method.items()) if {*seeds} <= {*runs}}
    val, test = ({method: measure_means(runs, split) for method, runs in have.items()} for split in ("val", "test"))
    measured = ", ".join(f"`{method}` {worst:.1f} ({average:.1f})" for method, (worst, average) in test.items())
    selected = " and ".join(f"`{method}`" for method, means in val.items() if means == max(val.values()))
    title = f"of seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"
    return f"{title}: {measured}, of which validation data select {selected}"


def read_printed(name: str) -> tuple[float, float]:
    """The worst group and average accuracy of a method that Table 1 prints for CMNIST*, in percent."""
    printed = pd.read_csv(find_paper("cnc") / "reported/table_1.csv")
    printed = printed.query(f"dataset == 'cmnist' and method == '{name}'")
    worst, average = (printed.loc[printed["metric"].eq(metric), "mean"].item() for metric in METRICS)
    return worst, average


def measure_means(by_seed: list[JudgedRecord], split: str) -> tuple[float, float]:
    """Worst group and average accuracy of a split, means over seeds, in percent."""
    rows = [judged.record.metrics()["best"] for judged in by_seed]
    worst, average = (100 * sum(row[split, metric, ""] for row in rows) / len(rows) for metric in METRICS)
    return worst, average
