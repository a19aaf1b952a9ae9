"""What CNC's worst group owes to the clustering of stage 1."""

from collections.abc import Iterable, Iterator

from despur.evidence.ledger.standing import JudgedRecord
from despur.specs.names import parse

CLUSTERING = {"groups.algorithm", "groups.metric"}


def describe_findings(records: Iterable[JudgedRecord]) -> Iterator[str]:
    """Sentences for the page *What we found*."""
    by_name: dict[str, dict[int, JudgedRecord]] = {}
    for judged in records:
        data, method, seed = judged.key.split("/")
        name, settings = parse(method)
        if not judged.reason and data.startswith("cmnist+") and name == "cnc" and settings.keys() <= CLUSTERING:
            by_name.setdefault(method, {})[int(seed.removeprefix("s"))] = judged
    seeds = sorted(set.intersection(*map(set, by_name.values()))) if len(by_name) > 1 else []
    if seeds:
        val, test = (
            {name: measure_means([runs[seed] for seed in seeds], split) for name, runs in sorted(by_name.items())}
            for split in ("val", "test")
        )
        measured = ", ".join(f"`{name}` {worst:.1f} ({average:.1f})" for name, (worst, average) in test.items())
        selected = " and ".join(f"`{name}`" for name, means in val.items() if means == max(val.values()))
        yield (
            "**CNC by the clustering of stage 1** on CMNIST\\*, worst group (average), seeds "
            f"{', '.join(map(str, seeds))}: {measured}. Validation data select {selected} (App. E.2.3)."
        )


def measure_means(by_seed: list[JudgedRecord], split: str) -> tuple[float, float]:
    """Worst group and average accuracy of a split, means over seeds, in percent."""
    rows = [judged.record.metrics()["best"] for judged in by_seed]
    worst, average = (
        100 * sum(row[split, metric, ""] for row in rows) / len(rows)
        for metric in ("worst_group_accuracy", "average_accuracy")
    )
    return worst, average
