"""Which printed numbers agree under a choice that their paper leaves open.

A choice is a setting, ``simclr+encoder.dropped=units``, that a paper's experiments.yaml names (``choices``), with its
source, before three seeds of it are run; ``methods+encoder.width=16`` is one of all methods at once. It explains a
number that does not agree if the number agrees where the runs of the choice stand for the others, and no number that
they measure has a worse verdict there. A choice of all methods must measure every number that was compared. What no
choice explains is open."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from despur.evidence.numbers.verdicts import COMPARED, NUMBER, TOO_NOISY, classify_verdict
from despur.evidence.runs.sources import Sources
from despur.specs.declarations import list_components
from despur.specs.names import join, parse
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError

OPEN = "open"
RANKS = ("agrees", TOO_NOISY, "differs")  # from the best; any other verdict is worse
SAME = [*NUMBER, "data"]
EVERY = "methods"  # in the place of a method: all methods


class Choice(NamedTuple):
    """``component``: the data set or method whose settings are changed, or EVERY. ``changes``: by key, as paths spell
    them."""

    component: str
    changes: dict[str, str]
    source: str

    @property
    def name(self) -> str:
        return join(self.component, self.changes)


def read_choices(experiments: Mapping[str, Any]) -> list[Choice]:
    """The choices of a paper's experiments.yaml. Raises SettingError for one that no data set or method has, that is
    the default or that has several values."""
    found = []
    for text, source in experiments.get("choices", {}).items():
        base, stated = parse(text)
        kind = "datasets" if base in list_components("datasets") else "methods"
        users = experiments["methods"].values() if base == EVERY else [base]
        of = "" if kind == "datasets" else experiments["datasets"][0]
        for user in dict.fromkeys(parse(name)[0] for name in users):
            points = resolve(kind, text.replace(base, user, 1), of).points
            if len(points) > 1 or points[0].changes.keys() != stated.keys():
                raise SettingError(f"choices: {text} must have one value for each setting, and not the default")
        found.append(Choice(base, points[0].changes, source))
    return found


def list_settings(name: str, choice: Choice, is_method: bool) -> dict[str, str] | None:
    """The settings that a name of the component states; None for a name of another component."""
    base, settings = parse(name)
    chosen = is_method if choice.component == EVERY else base == choice.component
    return {key: "~".join(values) for key, values in settings.items()} if chosen else None


def change_key(key: str, choice: Choice) -> str:
    """The key of a run, ``DATA/METHOD/SEED``, with a choice made; as it is, where it states these settings itself."""
    *names, seed = key.split("/")
    for i, name in enumerate(names):
        settings = list_settings(name, choice, is_method=i > 0)
        if settings is not None and not settings.keys() & choice.changes.keys():
            names[i] = join(parse(name)[0], settings | choice.changes)
    return "/".join([*names, seed])


def select_runs(choice: Choice, sources: Sources) -> Sources:
    """Where the runs of a choice were measured, under the keys of the runs that they stand for."""
    pairs = [(key, change_key(key, choice)) for key in sources.where]
    return Sources({key: sources.where[other] for key, other in pairs if other in sources.where and other != key})


def list_tried(choice: Choice, keys: Iterable[str]) -> list[str]:
    """Of runs, those with a choice made, whatever else they change."""
    found = []
    for key in keys:
        data, method, _ = key.split("/")
        stated = (list_settings(data, choice, is_method=False), list_settings(method, choice, is_method=True))
        if any(settings is not None and choice.changes.items() <= settings.items() for settings in stated):
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
        measured = after.isin(COMPARED) | name.startswith(f"{EVERY}+")
        worse = before.isin(COMPARED) & measured & (after.map(rank_verdict) > before.map(rank_verdict))
        if not worse.any():
            found = found.mask((found == OPEN) & (after == "agrees"), f"explained by {name}")
    return found


def rank_verdict(kind: str) -> int:
    """0 for the best kind of verdict."""
    return RANKS.index(kind) if kind in RANKS else len(RANKS)
