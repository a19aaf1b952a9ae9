"""Whether printed numbers support a choice that their paper leaves open.

A choice is a setting, ``simclr+encoder.dropped=units``, that a paper's experiments.yaml names (``choices``), with its
source, before three seeds of it are run; ``methods+encoder.width=16`` is one of all methods at once, and
``cmnist_3v5+outside=redraw/methods+encoder.pooling=mean`` one of data and methods. Temperatures, weights and strengths
that a paper selects and we guess are choices, too. A choice is supported if numbers that were not used to find it move
to print and are then equivalent."""

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from despur.evidence.numbers.counts import COMPARED, NUMBER
from despur.evidence.numbers.rows import read_by_seed
from despur.evidence.numbers.settings import ALL_METHODS
from despur.evidence.numbers.verdicts import POINTS, TOLERANCES
from despur.evidence.runs.sources import Sources
from despur.evidence.statistics.contrasts import INTERVAL, SEEDS, Contrast
from despur.evidence.statistics.equivalence import Difference, PrintedValue, measure_difference
from despur.evidence.verdicts import ChoiceVerdict, NumberVerdict
from despur.specs.declarations import list_components
from despur.specs.names import join, parse
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.store import Array

SAME = [*NUMBER, "data"]


class Choice(NamedTuple):
    """``changes``: of each data set, method or ALL_METHODS, its changed settings, as paths spell them."""

    changes: dict[str, dict[str, str]]
    source: str

    @property
    def name(self) -> str:
        return "/".join(join(component, settings) for component, settings in self.changes.items())

    def is_within(self, other: "Choice") -> bool:
        """Whether another choice changes all that this one does, and more; what is changed of all methods is changed
        of each."""
        own, others = self.list_changes(), other.list_changes()
        has_all = all(
            change in others or (change[0] == ALL_METHODS and any(change[1:] == item[1:] for item in others))
            for change in own
        )
        return has_all and own != others

    def list_changes(self) -> set[tuple[str, str, str]]:
        """(data set, method or ALL_METHODS, setting, value) of all that it changes."""
        return {(name, *item) for name, settings in self.changes.items() for item in settings.items()}

    def find_changes(self, component: str, is_method: bool) -> dict[str, str]:
        """What it changes of a component."""
        return self.changes.get(component, {}) | (self.changes.get(ALL_METHODS, {}) if is_method else {})


def read_choices(experiments: Mapping[str, Any]) -> list[Choice]:
    """The choices of a paper's experiments.yaml. Raises SettingError for one that no data set or method has, that is
    the default or that has several values."""
    return [
        Choice(dict(read_changes(part, experiments) for part in text.split("/")), source)
        for text, source in experiments.get("choices", {}).items()
    ]


def read_changes(text: str, experiments: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """A component, and its settings that a choice changes."""
    base, changes = parse(text)
    kind = "datasets" if base in list_components("datasets") else "methods"
    users = experiments["methods"].values() if base == ALL_METHODS else [base]
    of = "" if kind == "datasets" else experiments["datasets"][0]
    for user in dict.fromkeys(parse(name)[0] for name in users):
        points = resolve(kind, text.replace(base, user, 1), of).points
        if len(points) > 1 or points[0].changes.keys() != changes.keys():
            raise SettingError(f"choices: {text} must have one value for each setting, and not the default")
    return base, points[0].changes


def list_settings(name: str) -> dict[str, str]:
    """The settings that a name states."""
    return {key: "~".join(values) for key, values in parse(name)[1].items()}


def change_key(key: str, choice: Choice) -> str:
    """The key of a run, ``DATA/METHOD/SEED``, with a choice made; as it is, where it states these settings itself."""
    *names, seed = key.split("/")
    for i, name in enumerate(names):
        base, settings = parse(name)[0], list_settings(name)
        changes = choice.find_changes(base, is_method=i > 0)
        if not settings.keys() & changes.keys():
            names[i] = join(base, settings | changes)
    return "/".join([*names, seed])


def select_runs(choice: Choice, sources: Sources) -> Sources:
    """Where the runs of a choice were measured, under the keys of the runs that they stand for."""
    pairs = [(key, change_key(key, choice)) for key in sources.where]
    return Sources({key: sources.where[other] for key, other in pairs if other in sources.where and other != key})


def list_tried(choice: Choice, keys: Iterable[str]) -> list[str]:
    """Of runs, those with a choice made, whatever else they change."""
    return sorted(key for key in keys if is_made(choice, key))


def is_made(choice: Choice, key: str) -> bool:
    """Whether a run has all that a choice changes."""
    *names, _ = key.split("/")
    wanted = [choice.find_changes(parse(name)[0], is_method=i > 0) for i, name in enumerate(names)]
    has_all = all(changes.items() <= list_settings(name).items() for changes, name in zip(wanted, names, strict=True))
    return has_all and sum(map(bool, wanted)) == len(choice.changes)


def measure_cost(choice: Choice, hours: Mapping[str, float], on_gpu: Container[str] = ()) -> dict[str, Any]:
    """What was spent on a choice, and what a run of it would take. ``hours``: of each run that is known, by key.
    ``hours_a_run``: on a CPU, the mean over the runs that it would change, at the paper's length of training."""
    tried = list_tried(choice, hours)
    full = {key: spent for key, spent in hours.items() if key not in on_gpu and not is_trial(key.split("/")[1])}
    same = [spent for key, spent in full.items() if change_key(key, choice) != key]
    full_length = [key for key in tried if not is_trial(key.split("/")[1])]
    return {
        "tried": " ".join(tried),
        "full_length": len(full_length),
        "seeds": len({key.rpartition("/s")[2] for key in full_length}),
        "hours": round(sum(hours[key] for key in tried), 2),
        "hours_a_run": round(float(np.mean(same)), 2) if same else None,
    }


def is_trial(method: str) -> bool:
    """Whether a method is named with a number of epochs of its own."""
    return "epochs" in parse(method)[1]


def pair_numbers(before: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """The distinct numbers of percentages that were compared without a choice and under it."""
    both = before.merge(chosen, on=SAME, suffixes=("", "_chosen"))
    measured = both["verdict"].isin(COMPARED) & both["verdict_chosen"].isin(COMPARED) & both["unit"].isin(POINTS)
    for column in ("method", "by_seed", "by_seed_chosen"):
        measured &= both[column].fillna("").ne("")  # counts of data are of no method, or of no seed
    return both[measured].drop_duplicates(["metric", "by_seed", "by_seed_chosen"])


def judge_choice(before: pd.DataFrame, chosen: pd.DataFrame) -> dict[str, Any]:
    """Whether a choice is supported by the distinct numbers that it was not found on. Every second seed finds the
    numbers that are off print without the choice, and on which side; on the other seeds, the mean over these numbers
    moves to print, paired by seed, and is then within 5; and none of them is then beyond 5. ``before``, ``chosen``: a
    paper's numbers (despur/evidence/tally.py) without the choice and under it. ``moved``, ``remaining``: points, with
    95 % intervals. Of fewer than twice three seeds in common there is no verdict."""
    both = pair_numbers(before, chosen)
    values = [[read_by_seed(text) for text in both[name]] for name in ("by_seed", "by_seed_chosen")]
    seeds = sorted(set.intersection(*({*by_seed.index} for side in values for by_seed in side))) if len(both) else []
    decision: dict[str, Any] = {"verdict": ChoiceVerdict.NOTHING, "numbers": 0}
    if not seeds:
        return decision
    without, under = (np.array([by_seed[seeds] for by_seed in side]) for side in values)
    printed = both["reported"].to_numpy(float)[:, None]
    off = np.abs(without[:, ::2].mean(axis=1) - printed[:, 0]) > TOLERANCES[0]
    decision |= {"numbers": int(off.sum()), "seeds": len(seeds)}
    if len(seeds) < 2 * SEEDS or not off.any():
        return decision | {"verdict": ChoiceVerdict.TOO_FEW if len(seeds) < 2 * SEEDS else ChoiceVerdict.NOT_SUPPORTED}
    moved, remaining = measure_move(without[off], under[off], printed[off])
    verdicts = both.loc[off, "verdict_chosen"]
    beyond = verdicts.isin([NumberVerdict.BEYOND_5, NumberVerdict.NOT_AS_PRINTED]).any()
    within = verdicts.eq(NumberVerdict.AS_PRINTED).all() or bool(remaining.is_within(TOLERANCES[1]))
    supported = bool(moved.holds()) and within and not beyond
    return decision | {
        "verdict": ChoiceVerdict.SUPPORTED if supported else ChoiceVerdict.NOT_SUPPORTED,
        "moved": describe_interval(float(moved.estimate), float(moved.half_width(INTERVAL))),
        "remaining": describe_interval(float(remaining.estimate), float(remaining.half_width(INTERVAL))),
    }


def measure_move(without: Array, under: Array, printed: Array) -> tuple[Contrast, Difference]:
    """How far numbers (...,N,n) move to print (...,N,1) under a choice, and what remains: means over numbers, by the
    second, fourth, ... seed; the others say on which side of print each number is."""
    side = np.sign(without[..., ::2].mean(axis=-1, keepdims=True) - printed)
    before, after = ((side * (values - printed))[..., 1::2].mean(axis=-2) for values in (without, under))
    moved = Contrast(before - after, np.empty((*before.shape, 0)))
    return moved, measure_difference(after, PrintedValue(0.0, None, after.shape[-1]))


def describe_interval(estimate: float, half_width: float) -> str:
    """``+3.1 [+1.0, +5.2]``."""
    return f"{estimate:+.1f} [{estimate - half_width:+.1f}, {estimate + half_width:+.1f}]"
