"""What the ledger has measured of a paper, as the README of its folder shows it."""

import itertools
import re
from collections import Counter
from collections.abc import Collection

import numpy as np

from despur.evidence.ledger.standing import JudgedRecord
from despur.evidence.numbers.choices import is_trial
from despur.orchestration.experiments import load_experiments
from despur.reporting.markdown import to_markdown
from despur.specs.names import parse

METRICS = ("worst_group_accuracy", "average_accuracy", "probe_accuracy", "domain_accuracy")


def report_records(records: list[JudgedRecord]) -> str:
    """A line for each method and data set of a paper: seeds, and accuracies on its test splits, means over seeds (and
    deviations). Below them how many trials there are, and the hours that were spent. ``records``: those of the paper
    that count."""
    recorded = group_seeds(records)
    groups = {name: by_seed for name, by_seed in recorded.items() if not is_trial(name[1])}
    if not recorded:
        return "No run is recorded.\n"
    counted = {name: [by_seed[seed] for seed in range(count_seeds(by_seed))] for name, by_seed in groups.items()}
    accuracies = {name: measure_accuracies(seed_records) for name, seed_records in counted.items()}
    columns = list(dict.fromkeys(metric for by_metric in accuracies.values() for metric in by_metric))
    lines = []
    for name in sorted(groups, key=lambda name: (-len(groups[name]), name)):
        cells = [accuracies[name].get(column, "–") for column in columns]
        lines.append([*(f"`{part}`" for part in name), describe_seeds(groups[name]), *cells])
    said = (
        "Percent: means and, in brackets, deviations over seeds; of probes, with the smallest share of labels. "
        f"{describe_trials(recorded)}{len(records)} runs count. {describe_hours(records)}"
    )
    return f"{to_markdown(['data set', 'method', 'seeds', *columns], lines)}\n\n{said}\n"


def group_seeds(records: list[JudgedRecord]) -> dict[tuple[str, str], dict[int, JudgedRecord]]:
    """The records by data set and method, and by seed."""
    groups: dict[tuple[str, str], dict[int, JudgedRecord]] = {}
    for judged in records:
        data, method, seed = judged.key.split("/")
        data = re.sub(rf"\+draw={seed[1:]}(?=\+|$)", "", data)  # a draw of its own, as draw=seed says
        groups.setdefault((data, method), {})[judged.record.content["seed"]] = judged
    return groups


def describe_trials(names: Collection[tuple[str, str]]) -> str:
    """How many points were tried of each method with so many epochs, on each data set."""
    trials = Counter[str]()
    for data, method in names:
        if is_trial(method):
            base, settings = parse(method)
            trials[f"`{base}+epochs={settings['epochs'][0]}` on `{data}`"] += 1
    counted = ", ".join(f"{name}: {count}" for name, count in sorted(trials.items()))
    return f"Points of trials, whose number of epochs is not the paper's: {counted}. " if counted else ""


def select_records(paper: str, records: list[JudgedRecord]) -> list[JudgedRecord]:
    """The records that count, of the data sets of a paper."""
    datasets = load_experiments(paper)["datasets"]
    return [
        judged for judged in records if not judged.reason and parse(judged.record.content["dataset"])[0] in datasets
    ]


def count_seeds(seeds: Collection[int]) -> int:
    """How many seeds count: those from 0 on, up to the first that is missing."""
    return next(seed for seed in itertools.count() if seed not in seeds)


def describe_seeds(seeds: Collection[int]) -> str:
    """``0, 1, 2``; of seeds that do not count: ``0; not 2, as 1 is missing``."""
    count = count_seeds(seeds)
    others = ", ".join(str(seed) for seed in sorted(seeds) if seed > count)
    counted = ", ".join(map(str, range(count)))
    return f"{counted or 'none'}; not {others}, as {count} is missing" if others else counted


def describe_hours(records: list[JudgedRecord]) -> str:
    """How many hours training has taken on each device."""
    hours = Counter[str]()
    for judged in records:
        hours[judged.record.content["machine"]["device"]] += judged.record.content["run"]["seconds"] / 3600
    spent = ", ".join(f"{value:.1f} hours on {device}" for device, value in sorted(hours.items()))
    return f"Stage 2 of these runs took {spent}, from start to end."


def measure_accuracies(records: list[JudgedRecord]) -> dict[str, str]:
    """``95.4 (1.0)``, in percent, mean and deviation over seeds, by metric: of all test samples; of probes, with the
    first share of labels."""
    values = [judged.record.metrics()["best"] for judged in records]
    texts: dict[tuple[str, str], str] = {}
    for key in values[0] if values else ():
        split, metric, _ = key
        if split.startswith("test") and metric in METRICS and (split, metric) not in texts:
            percent = 100 * np.array([metrics.get(key, np.nan) for metrics in values])
            spread = f" ({percent.std(ddof=1):.1f})" if len(percent) > 1 else ""
            texts[split, metric] = f"{percent.mean():.1f}{spread}"
    return {f"{split.replace('_', ' ')}: {metric.replace('_', ' ')}": text for (split, metric), text in texts.items()}
