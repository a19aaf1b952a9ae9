"""Which printed numbers agree under a choice that their paper leaves open.

A choice is a setting, ``simclr+encoder.dropped=units``, that a paper's experiments.yaml names (``choices``), with its
source, before it is run. It explains a number that does not agree if the number agrees where the runs of the choice
stand for the others, and no other number of its row has a worse verdict there. What no choice explains is open."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from despur.reporting.numbers.verdicts import COMPARED, NUMBER, TOO_NOISY, classify_verdict
from despur.reporting.runs.sources import Sources
from despur.specs.declarations import list_components
from despur.specs.names import join, parse
from despur.specs.resolution import resolve

OPEN = "open"
RANKS = ("agrees", TOO_NOISY, "differs")  # from the best; any other verdict is worse
SAME = [*NUMBER, "data"]
ROW = ["paper", "place", "artifact", "paper_dataset", "method", "data"]


class Choice(NamedTuple):
    """``component``: the data set or method whose settings are changed. ``changes``: by key, as paths spell them."""

    component: str
    changes: dict[str, str]
    source: str

    @property
    def name(self) -> str:
        return join(self.component, self.changes)


def read_choices(experiments: Mapping[str, Any]) -> list[Choice]:
    """The choices of a paper's experiments.yaml. Raises SettingError for one that no data set or method has."""
    found = []
    for text, source in experiments.get("choices", {}).items():
        kind = "datasets" if parse(text)[0] in list_components("datasets") else "methods"
        of = "" if kind == "datasets" else experiments["datasets"][0]
        (point,) = resolve(kind, text, of).points
        found.append(Choice(point.base_name, point.changes, source))
    return found


def list_settings(name: str, choice: Choice) -> dict[str, str] | None:
    """The settings that a name of the component states; None for a name of another component."""
    base, settings = parse(name)
    return {key: "~".join(values) for key, values in settings.items()} if base == choice.component else None


def change_key(key: str, choice: Choice) -> str:
    """The key of a run, ``DATA/METHOD/SEED``, with a choice made; as it is, where it states these settings itself."""
    *names, seed = key.split("/")
    for i, settings in enumerate([list_settings(name, choice) for name in names]):
        if settings is not None and not settings.keys() & choice.changes.keys():
            names[i] = join(choice.component, settings | choice.changes)
    return "/".join([*names, seed])


def select_runs(choice: Choice, sources: Sources) -> Sources:
    """Where the runs of a choice were measured, under the keys of the runs that they stand for."""
    pairs = [(key, change_key(key, choice)) for key in sources.where]
    return Sources({key: sources.where[other] for key, other in pairs if other in sources.where and other != key})


def list_tried(choice: Choice, keys: Iterable[str]) -> list[str]:
    """Of runs, those with a choice made, whatever else they change."""
    found = []
    for key in keys:
        stated = [list_settings(name, choice) or {} for name in key.split("/")]
        if any(choice.changes.items() <= settings.items() for settings in stated):
            found.append(key)
    return sorted(found)


def explain_numbers(numbers: pd.DataFrame, chosen: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Of each number: ``open``, ``explained by CHOICE``, or empty where it agrees or is not compared. ``chosen``: the
    numbers under each choice."""
    before = numbers["verdict"].map(classify_verdict)
    found = before.isin(COMPARED).mask(before == "agrees", other=False).map({True: OPEN, False: ""})
    for name, own in chosen.items():
        both = numbers[SAME].merge(own[[*SAME, "verdict"]].drop_duplicates(SAME), on=SAME, how="left")
        after = both["verdict"].fillna("").map(classify_verdict).set_axis(numbers.index)
        worse = before.isin(COMPARED) & (after.map(rank_verdict) > before.map(rank_verdict))
        kept = ~worse.groupby([numbers[key] for key in ROW], dropna=False).transform("any")
        found = found.mask((found == OPEN) & (after == "agrees") & kept, f"explained by {name}")
    return found


def rank_verdict(kind: str) -> int:
    """0 for the best kind of verdict."""
    return RANKS.index(kind) if kind in RANKS else len(RANKS)
