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
        measured = ", ".join(describe_mean(name, [by_name[name][seed] for seed in seeds]) for name in sorted(by_name))
        yield (
            f"**CNC by the clustering of stage 1** on CMNIST\\*, worst group (average), {len(seeds)} seed: {measured}. "
            "`cnc` is the one that validation data select (App. E.2.3), by cosine distances and k-means."
        )


def describe_mean(name: str, by_seed: list[JudgedRecord]) -> str:
    """```cnc` 73.1 (91.3)``: means over seeds, in percent."""
    tests = [judged.record.metrics()["best"] for judged in by_seed]
    worst, average = (
        100 * sum(test["test", metric, ""] for test in tests) / len(tests)
        for metric in ("worst_group_accuracy", "average_accuracy")
    )
    return f"`{name}` {worst:.1f} ({average:.1f})"
