"""Where the grids of Tables 3 to 8 fall to chance, and whether ours do under the choices that bring the fall."""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from despur.evidence.ledger.standing import JudgedRecord
from despur.evidence.numbers.choices import list_tried, read_choices
from despur.evidence.numbers.settings import is_same_number
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper
from despur.specs.resolution import resolve

PAPER = "domain_temperature"
CHOICE = "cmnist_3v5+outside=redraw/methods+encoder.pooling=mean"
TEST_ID = {"domain_weighted_negatives": 5, "domain_weighted_pairs": 8}  # tables
CHANCE = 0.55  # a Test-ID below is called chance
POINT_COLUMNS = ["method", "tau_alpha", "tau_beta", "seeds", "ours", "printed", "was_found_on"]


def list_points(records: Iterable[JudgedRecord]) -> pd.DataFrame:
    """A row for each point of the grids that was run with the choice, at the paper's length of training: Test-ID with
    1 % of the labels, ours (mean over seeds) and printed, and whether the choice was found on this point."""
    experiments = load_experiments(PAPER)
    (choice,) = (tried_choice for tried_choice in read_choices(experiments) if tried_choice.name == CHOICE)
    counted = {judged.key: judged.record for judged in records if not judged.reason and "epochs=" not in judged.key}
    rows = [
        {"method": point.base_name, "tau_alpha": point.value("tau_alpha"), "tau_beta": point.value("tau_beta")}
        | {"ours": counted[key].metrics()["best"]["test_id", "probe_accuracy", "1%"]}
        for key in list_tried(choice, counted)
        for data, method, _ in [key.split("/")]
        for point in resolve("methods", method, "cmnist_3v5").points
        if point.base_name in TEST_ID and resolve("datasets", data).points[0].value("sigma") == 50
    ]
    points = pd.DataFrame(rows, columns=[*POINT_COLUMNS[:3], "ours"])
    means = points.groupby(POINT_COLUMNS[:3])["ours"].agg(ours="mean", seeds="size").reset_index()
    found_on = [wanted for rule in experiments["fitted"] for wanted in rule["numbers"] if "tau_alpha" in wanted]
    cells = [find_cell(*point) for point in means[POINT_COLUMNS[:3]].itertuples(index=False)]
    was_found_on = [any(is_same_number(wanted, cell) for wanted in found_on) for cell in cells]
    return means.assign(printed=[cell.mean for cell in cells], was_found_on=was_found_on)[POINT_COLUMNS]


def find_cell(method: str, tau_alpha: float, tau_beta: float) -> Any:
    """The printed Test-ID of a point."""
    printed = pd.read_csv(find_paper(PAPER) / "reported" / f"table_{TEST_ID[method]}.csv")
    wanted = {"tau_alpha": tau_alpha, "tau_beta": tau_beta}
    (cell,) = (number for number in printed.itertuples() if is_same_number(wanted, number))
    return cell


def describe_findings(records: Iterable[JudgedRecord]) -> Iterator[str]:
    """Sentences for the page *What we found*."""
    points = list_points(records)
    if len(points):
        yield f"**The fall of Tables 3 to 8**: {describe_points(points)}"


def describe_points(points: pd.DataFrame) -> str:
    """How many points lie on the side of CHANCE where print does, of those that the choice was found on and of
    others."""
    same = (points["ours"] < CHANCE) == (points["printed"] < CHANCE)
    new = ~points["was_found_on"]
    listed = ", ".join(
        f"{'pairs' if row.method.endswith('pairs') else 'negatives'} at ({row.tau_alpha:g}, {row.tau_beta:g}): "
        f"{100 * row.ours:.1f} ({100 * row.printed:.1f})"
        for row in points.itertuples()
    )
    others = f"of {new.sum()} others {same[new].sum()} do" if new.any() else "others were not run yet"
    return (
        f"with `{CHOICE}`, {same[~new].sum()} of {(~new).sum()} points that it was found on lie on the side of "
        f"{CHANCE:.0%} Test-ID where print does; {others}. At (tau_alpha, tau_beta), ours (printed), from "
        f"{points['seeds'].min()} or more seeds: "
        f"{listed}."
    )
