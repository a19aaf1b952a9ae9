"""Sentences about measured numbers: which have a verdict, what would decide the others."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from despur.evidence.measurements import Measurement
from despur.evidence.numbers.tables import format_digits
from despur.evidence.numbers.verdicts import P_VALUES
from despur.evidence.verdicts import NumberVerdict

FEW = 10  # seeds: as many as the reference has
GROUPS = 4  # of numbers that are listed: methods and metrics


def describe_standing(
    decided: list[Measurement], standing: Mapping[str, int], verdicts: Collection[NumberVerdict]
) -> str:
    """``10, of which 0 remain if 5 % of all such verdicts may be false; if the paper's seeds vary three times as much
    as ours, 2 of 9 without a deviation: ``, of numbers with one of these verdicts; nothing of what does not vary."""
    if not {*verdicts} <= P_VALUES.keys():
        return ""
    remaining = sum(standing[verdict] for verdict in verdicts)
    stands = f"{len(decided)}, of which {remaining} remain if 5 % of all such verdicts may be false"
    fixed = [measurement for measurement in decided if measurement.threefold]
    if not fixed:
        return f"{stands}: "
    same = sum(measurement.threefold in verdicts for measurement in fixed)
    return (
        f"{stands}; if the paper's seeds vary three times as much as ours, {same} of {len(fixed)} without a deviation: "
    )


def select_verdicts(measurements: list[Measurement], verdicts: Collection[NumberVerdict]) -> list[Measurement]:
    """The measurements that have one of these verdicts."""
    return [measurement for measurement in measurements if measurement.verdict in verdicts]


def list_numbers(measurements: list[Measurement]) -> str:
    """``test id accuracy of `mmd` 92.9 % (ours 95.4; Table 1, sigma=50) and 2 more, ...``: the first number of each
    metric and method."""
    groups: dict[tuple[str, str], list[str]] = {}
    several = len({measurement.paper_dataset for measurement in measurements}) > 1
    for measurement in measurements:
        words = measurement.metric.replace("_", " "), measurement.method
        unit = " %" if measurement.unit == "percent" else ""
        named = [measurement.places[0], measurement.paper_dataset * several, measurement.setting.replace(";", ", ")]
        place = ", ".join(filter(None, named))
        printed, ours = format_digits(measurement.reported, 4), format_digits(measurement.ours, 4)
        groups.setdefault(words, []).append(f"{printed}{unit} (ours {ours}; {place})")
    said = [
        f"{metric}{f' of `{method}`' if method else ''} {first}{f' and {len(more)} more' if more else ''}"
        for (metric, method), (first, *more) in groups.items()
    ]
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


def split_if_normal(measurements: Iterable[Measurement]) -> tuple[list[Measurement], int]:
    """Those that are beyond 5 points if seeds are normal, and how many of them are above print."""
    beyond = [measurement for measurement in measurements if measurement.if_normal == NumberVerdict.BEYOND_5]
    return beyond, sum(measurement.difference > 0 for measurement in beyond)


def describe_if_normal(measurements: list[Measurement]) -> str:
    """Those that are beyond 5 points if seeds are normal; nothing where none is."""
    beyond, above = split_if_normal(measurements)
    if not beyond:
        return ""
    return (
        f" If seeds are normal (90 % intervals, each for itself), {len(beyond)} of them are beyond 5 points, {above} "
        f"above print and {len(beyond) - above} below: {list_numbers(beyond)}."
    )


def count_datasets(measurements: list[Measurement]) -> str:
    """``celeba 40, waterbirds 52``: most first."""
    counts = Counter(measurement.paper_dataset for measurement in measurements)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())
