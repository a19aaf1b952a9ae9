"""Sentences about measured numbers: which have a verdict, what would decide the others."""

import re
from collections import Counter
from collections.abc import Collection, Iterable

from despur.evidence.measurements import Measurement
from despur.evidence.numbers.tables import format_digits
from despur.evidence.verdicts import NumberVerdict

FEW = 10  # seeds: as many as the reference has
GROUPS = 4  # of numbers that are listed: methods and metrics


def select_verdicts(measurements: list[Measurement], verdicts: Collection[NumberVerdict]) -> list[Measurement]:
    """The measurements that have one of these verdicts."""
    return [measurement for measurement in measurements if measurement.verdict in verdicts]


def group_numbers(measurements: Iterable[Measurement]) -> list[list[Measurement]]:
    """Those of each metric and method together."""
    groups: dict[tuple[str, str], list[Measurement]] = {}
    for measurement in measurements:
        groups.setdefault((measurement.metric, measurement.method), []).append(measurement)
    return [*groups.values()]


def format_printed(measurement: Measurement) -> tuple[str, str]:
    """As printed, and ours: ``92.9 %``, ``95.4 %``."""
    if measurement.unit == "percent":
        return f"{format_digits(measurement.reported, 4)} %", f"{measurement.ours:.1f} %"
    return format_digits(measurement.reported, 4), format_digits(measurement.ours, 4)


def format_place(measurement: Measurement, dataset: str = "") -> str:
    """Where it is printed: ``Table 1, sigma=50``; with its data set, if it is given."""
    return ", ".join(filter(None, [measurement.places[0], dataset, measurement.setting.replace(";", ", ")]))


def list_numbers(measurements: list[Measurement]) -> str:
    """``test id accuracy of `mmd` 92.9 % (ours 95.4 %; Table 1, sigma=50) and 2 more, ...``: the first number of each
    metric and method, with its data set where there are several."""
    said = []
    several = len({measurement.paper_dataset for measurement in measurements}) > 1
    for first, *more in group_numbers(measurements):
        name = first.metric.replace("_", " ") + (f" of `{first.method}`" if first.method else "")
        where = format_place(first, first.paper_dataset * several)
        printed, ours = format_printed(first)
        said.append(f"{name} {printed} (ours {ours}; {where}){f' and {len(more)} more' if more else ''}")
    rest = [f"and {len(said) - GROUPS} further methods and metrics"] if len(said) > GROUPS else []
    return "; ".join([*said[:GROUPS], *rest])


def describe_unknown(measurements: list[Measurement]) -> str:
    """What would decide them."""
    texts = [measurement.would_decide for measurement in measurements]
    about = [int(match[1]) for text in texts if (match := re.fullmatch(r"about (\d+) seeds of ours", text))]
    few = sum(seeds <= FEW for seeds in about)
    many = len(about) - few + sum(text.startswith("more than") for text in texts)
    never, short = (sum(text.startswith(start) for text in texts) for start in ("nothing", "at least"))
    other = len(measurements) - few - many - never - short
    return (
        f"How many seeds of ours would decide them, if mean and spread stay: at most {FEW} for {few}; more, or the "
        f"value lies near a limit, for {many}; no number of seeds for {never} (print or test data vary too much, or no "
        f"seed varies){f'; too few are run for {short}' if short else ''}{f'; not known for {other}' if other else ''}."
    )


def is_beyond_if_normal(measurement: Measurement) -> bool:
    """Whether a number of which nothing is shown is beyond 5 points if seeds are normal."""
    return measurement.verdict == NumberVerdict.NOT_KNOWN and measurement.if_normal == NumberVerdict.BEYOND_5


def count_datasets(measurements: list[Measurement]) -> str:
    """``celeba 40, waterbirds 52``: most first."""
    counts = Counter(measurement.paper_dataset for measurement in measurements)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
