"""What the ledger has measured of each paper, as the paper folders' READMEs show it between two marks."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from despur.cli.rows import Row
from despur.orchestration.experiments import find_papers, load_experiments
from despur.reporting.numbers.choices import list_tried, read_choices
from despur.reporting.statistics.contrasts import SEEDS
from despur.specs.names import parse
from despur.storage import ledger
from despur.storage.standing import JudgedRecord, judge_records
from despur.storage.store import atomic

MARKS = ("<!-- generated: measured -->\n", "<!-- end -->")
METRICS = ("worst_group_accuracy", "average_accuracy", "probe_accuracy", "domain_accuracy")


def write_reports(folder: Path = ledger.LEDGER) -> Iterator[str]:
    """Bring every README up to date; a line for each that changed."""
    for paper, home in find_papers().items():
        file = home / "README.md"
        new = insert_report(text := file.read_text(), report_paper(paper, folder))
        if new != text:
            with atomic(file) as temporary:
                temporary.write_text(new)
            yield Row(f"written  {file}", "written", paper=paper, file=str(file))


def insert_report(text: str, report: str) -> str:
    """A README with a report between its marks; as it is, where it has none."""
    first, last = MARKS
    return re.sub(f"{re.escape(first)}.*?{re.escape(last)}", lambda _: first + report + last, text, flags=re.DOTALL)


def report_paper(paper: str, folder: Path = ledger.LEDGER) -> str:
    """A line for each method and data set of a paper: seeds, and accuracies on its test splits, means over seeds.
    Below them the hours that were spent."""
    known = load_experiments(paper)["datasets"]
    groups: dict[tuple[str, str], list[JudgedRecord]] = {}
    for each in judge_records(ledger.load(folder)[0]):
        if not each.reason and parse(each.record.content["dataset"])[0] in known:
            data, method, _ = each.key.split("/")
            groups.setdefault((re.sub(r"\+draw=\d+", "", data), method), []).append(each)
    if not groups:
        return "Nothing yet.\n"
    lines = ["| data set | method | seeds | accuracies in % |", "| --- | --- | --- | --- |"]
    for (data, method), own in sorted(groups.items()):
        seeds = sorted(each.record.content["seed"] for each in own)
        lines.append(f"| `{data}` | `{method}` | {', '.join(map(str, seeds))} | {describe_accuracies(own)} |")
    counted = [each for own in groups.values() for each in own]
    return "\n".join([*lines, "", describe_hours(counted), *describe_choices(paper, counted)]) + "\n"


def describe_choices(paper: str, records: list[JudgedRecord]) -> list[str]:
    """A line for each choice that the paper leaves open: which runs were made of it; nothing for a paper without."""
    choices = read_choices(load_experiments(paper))
    if not choices:
        return []
    lines = ["", "| choice that the paper leaves open | source | runs of it |", "| --- | --- | --- |"]
    for choice in choices:
        tried = list_tried(choice, [each.key for each in records])
        lines.append(f"| `{choice.name}` | {choice.source} | {', '.join(f'`{key}`' for key in tried) or 'none yet'} |")
    said = f"A choice explains a number from {SEEDS} seeds on: the scorecard of `make verdicts` says which."
    return [*lines, "", said]


def describe_hours(records: list[JudgedRecord]) -> str:
    """How many hours training has taken on each device, and where the hours of what is open are listed."""
    hours = Counter[str]()
    for each in records:
        hours[each.record.content["machine"]["device"]] += each.record.content["run"]["seconds"] / 3600
    spent = ", ".join(f"{value:.1f} hours on {device}" for device, value in sorted(hours.items()))
    return f"Training took {spent}. `despur plan --open` lists the hours of what is open."


def describe_accuracies(records: list[JudgedRecord]) -> str:
    """``test_ood probe accuracy with 1% of the labels 89.8, ...``: of all test samples; of probes, with the first share
    of labels."""
    values = [each.record.metrics()["best"] for each in records]
    found: dict[str, float] = {}
    seen: set[tuple[str, str]] = set()
    for (split, metric, group), _ in values[0].items():
        name = f"{split} {metric.replace('_', ' ')}" + (f" with {group} of the labels" if group else "")
        shown = split.startswith("test") and metric in METRICS and (split, metric) not in seen
        if shown:
            seen.add((split, metric))
            found[name] = 100 * float(np.mean([own.get((split, metric, group), np.nan) for own in values]))
    return ", ".join(f"{name} {value:.1f}" for name, value in found.items())
