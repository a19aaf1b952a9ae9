"""Where the grids of Tables 3 to 8 fall to chance, whether ours do under the choices that bring the fall, and
what these do to other numbers."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.ledger.recorded import tabulate_metrics
from despur.evidence.ledger.standing import JudgedRecord
from despur.evidence.numbers.choices import list_tried, read_choices
from despur.evidence.numbers.settings import is_same_number, was_found_on
from despur.evidence.runs.collapsed import describe_collapsed, has_collapsed
from despur.orchestration.experiments import REFERENCE, load_experiments
from despur.orchestration.paper_folders import find_paper
from despur.papers.domain_temperature.temperature_grids import TABLES
from despur.specs.names import parse
from despur.specs.resolution import resolve

PAPER = "domain_temperature"
CHOICE = "cmnist_3v5+outside=redraw/methods+encoder.pooling=mean"
ACCURACIES = {"id": "test_id", "ood": "test_ood"}  # splits
POINT = ["method", "tau_alpha", "tau_beta"]
TRIALS = REFERENCE / "fingerprint/trials.csv"
STANDARD = "simclr+encoder.pooling=mean"  # Standard CL with it
CHANCE = 0.55  # a Test-ID below is called chance


def select_full(records: Iterable[JudgedRecord]) -> dict[str, JudgedRecord]:
    """The records that count, of the paper's length of training and at sigma 50, by key."""
    return {
        judged.key: judged
        for judged in records
        if not judged.reason
        and "epochs=" not in judged.key
        and judged.key.startswith("cmnist_3v5")
        and resolve("datasets", judged.key.split("/")[0]).points[0].value("sigma") == 50
    }


def measure_accuracies(judged: JudgedRecord) -> dict[str, float]:
    """Accuracies of a run with 1 % of the labels."""
    best = judged.record.metrics()["best"]
    return {name: best[split, "probe_accuracy", "1%"] for name, split in ACCURACIES.items()}


def list_points(full: dict[str, JudgedRecord], keys: Iterable[str]) -> pd.DataFrame:
    """A row for each printed point of the grids among these runs: accuracies, ours (means over seeds) and printed, and
    whether the choice was found on this point."""
    fitted = load_experiments(PAPER)["fitted"]
    rows = []
    for key in keys:
        data, method, _ = key.split("/")
        base, settings = parse(method)
        is_same_data = parse(data)[1].keys() <= {"draw", "outside"}
        if is_same_data and base in TABLES and settings.keys() <= {*POINT, "encoder.pooling"}:
            (spec,) = resolve("methods", method, "cmnist_3v5").points
            point = {"method": base, **{name: spec.value(name) for name in POINT[1:]}}
            _, ood, test_id = TABLES[base]
            printed_id, printed_ood = (find_cell(table, point) for table in (test_id, ood))
            if printed_id and printed_ood:
                printed = {"printed_id": printed_id.mean, "printed_ood": printed_ood.mean}
                was_found = {"was_found_on": was_found_on(fitted, printed_id)}
                rows.append(point | measure_accuracies(full[key]) | printed | was_found)
    columns = {name: (name, "mean") for name in (*ACCURACIES, "printed_id", "printed_ood")}
    runs = pd.DataFrame(rows, columns=[*POINT, *columns, "was_found_on"])
    return runs.groupby(POINT).agg(**columns, was_found_on=("was_found_on", "any"), seeds=("id", "size")).reset_index()


def find_cell(table: int, point: dict[str, Any]) -> Any:
    """The printed number of a point; None where it is not printed."""
    return next((number for number in read_cells(table) if is_same_number(point, number)), None)


@cache
def read_cells(table: int) -> list[Any]:
    """The numbers of a printed table."""
    return [*pd.read_csv(find_paper(PAPER) / "reported" / f"table_{table}.csv").itertuples()]


def list_runs(full: Iterable[str]) -> list[str]:
    """The keys of those runs that make the choice."""
    (choice,) = (tried for tried in read_choices(load_experiments(PAPER)) if tried.name == CHOICE)
    return list_tried(choice, full)


def is_plain(key: str) -> bool:
    """Whether a run makes no part of the choice."""
    data, method, _ = key.split("/")
    return "outside" not in parse(data)[1] and "encoder.pooling" not in parse(method)[1]


def describe_findings(records: Iterable[JudgedRecord], trials: Path = TRIALS) -> Iterator[str]:
    """Sentences for the page *What we found*."""
    full = select_full(records)
    tried = list_runs(full)
    points, without = list_points(full, tried), list_points(full, filter(is_plain, full))
    if len(points):
        yield (
            f"**Where Tables 3 to 8 fall to chance** (Test-ID below {CHANCE:.0%}, of two classes), with `{CHOICE}`"
            f"{describe_search(trials)}: {describe_points(points)} {describe_control(without)}"
        )
        yield f"**The same choice elsewhere**: {describe_others([full[key] for key in tried], points)}"


def keep_last(trials: pd.DataFrame) -> pd.DataFrame:
    """Of the rows of each trial, the last."""
    return trials.drop_duplicates(["method", "choice", "patch", "tau_alpha", "tau_beta", "seed"], keep="last")


def describe_search(trials: Path) -> str:
    """How many trials, shorter than the paper's training, led to the choice, and what they took; nothing where their
    table is not kept."""
    if not trials.exists():
        return ""
    (spec,) = resolve("methods", next(iter(TABLES)), "cmnist_3v5").points
    last = keep_last(pd.read_csv(trials, keep_default_na=False)).query(f"epochs < {spec.value('epochs')}")
    hours = last["core_seconds"].sum() / 3600
    return f", a candidate from {len(last)} short trials of one seed ({hours:.1f} core-hours)"


def describe_points(points: pd.DataFrame) -> str:
    """Of the points that print has at chance, how many were run and how many of these fall; how the others that were
    run compare with print."""
    printed = [number.mean for *_, table in TABLES.values() for number in read_cells(table)]
    low, falls = points["printed_id"] < CHANCE, points["id"] < CHANCE
    others = points.assign(distance=100 * (points["id"] - points["printed_id"]).abs())[~low]
    stay = points["id"][low & ~falls]
    highest = f", the highest Test-ID of the others is {100 * stay.max():.1f}" if len(stay) else ""
    farthest = "".join(
        f", and the largest distance from printed Test-ID is {point.distance:.1f} points (`{point.method}` at "
        f"tau_alpha {point.tau_alpha:g}, tau_beta {point.tau_beta:g})"
        for point in others.nlargest(1, "distance").itertuples()
    )
    return (
        f"print has {sum(value < CHANCE for value in printed)} of its {len(printed)} points at chance; {low.sum()} of "
        f"them were run, {(low & points['was_found_on']).sum()} of which the choice was fitted to: "
        f"{(low & falls).sum()} fall{highest}. Of {len(others)} others that were run, {(~low & falls).sum()} "
        f"fall{farthest}. {points['seeds'].eq(1).sum()} of these {len(points)} points have one seed."
    )


def describe_control(without: pd.DataFrame) -> str:
    """How many points that print has at chance were run without the choice, and how many fall."""
    low = without[without["printed_id"] < CHANCE]
    fall = f": {(low['id'] < CHANCE).sum()} fall" if len(low) else ""
    were = "was" if len(low) == 1 else "were"
    return f"Without the choice, {len(low)} of the points that print has at chance {were} run at this length{fall}."


def describe_others(tried: Iterable[JudgedRecord], points: pd.DataFrame) -> str:
    """What the choice does to Test-OOD at the same points, and to Standard CL."""
    below = 100 * (points["printed_ood"] - points["ood"])
    often = points["ood"].round(4).value_counts()
    same = f"; at {often.iloc[0]} it is the same, {100 * often.index[0]:.1f}" if often.iloc[0] > 1 else ""
    said = (
        f"Test-OOD lies {below.mean():.1f} points below print on average over the {len(points)} points, more than 5 at "
        f"{below.gt(5).sum()}{same}."
    )
    standard = [judged for judged in tried if f"/{STANDARD}/" in judged.key]
    return f"{said} {describe_standard(standard)}" if standard else said


def describe_standard(standard: list[JudgedRecord]) -> str:
    """Accuracies of Standard CL under the choice, beside print."""
    own = pd.DataFrame([measure_accuracies(judged) for judged in standard])
    printed = pd.read_csv(find_paper(PAPER) / "reported" / "table_1.csv").query("method == 'standard_cl'")
    means = [
        f"{name} {100 * own[key].mean():.1f} "
        f"({100 * printed.loc[printed['metric'] == f'{split}_accuracy', 'mean'].item():.1f})"
        for name, (key, split) in zip(("Test-ID", "Test-OOD"), ACCURACIES.items(), strict=True)
    ]
    in_training = "split == 'train' and selection == 'best'"
    collapses = [has_collapsed(tabulate_metrics(judged.record).query(in_training)) for judged in standard]
    collapsed = describe_collapsed(pd.Series(collapses))
    seeds = collapsed or f"{len(own)} seed{'s' * (len(own) > 1)}"
    return f"Standard CL, whose temperature was not selected under it, has {', '.join(means)}; {seeds}."
