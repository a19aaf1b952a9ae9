"""The numbers that a paper states in sentences (reported/prose.csv), each beside a formula of measured values.

A formula is a measurement, or a contrast in the language of claims.yaml (despur/evidence/claims/claim_format.py), of
the number's own data set, method and metric where it names no others: ``{higher: cnc, than: jtt}``. Of several data
sets each has a value, and so has each combination of what lists name. It is compared only where all of them were
measured, and at every level that the paper speaks of (``levels`` of claims.yaml). A number without a formula is
compared as those of tables are. Further words of a formula:

    take: largest             which of several values it is: the largest or the smallest; shown, but compared only where
                              it is counted: of the best of several noisy values no error rate is known
    at: KEY                   the number is the level of KEY at which that value was found
    shown: CONTRASTS          it is as printed if these hold, and not as printed if they fail
    counted: true             it has no noise: ours has to round to the printed one
    within: NUMBER            half a unit of the last printed digit, where digits do not show it
    beside: {NAME: MEASUREMENT}  what else was measured, for the reason
    instead: {METHOD: REASON} a row for each of several methods that may be meant
    not_compared: REASON
    claim: NAME               a range: this claim judges it

``sentences`` of experiments.yaml has ``seeds`` (how many the paper has), ``datasets`` (names that stand for several)
and ``defaults`` (keys of every measurement)."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import yaml

from despur.evidence.claims.evaluate_formulas import common_seeds
from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.claims.read_formulas import FORMS, read_group
from despur.evidence.statistics.formulas import DEFAULTS, Formulas
from despur.evidence.statistics.levels import Levels, Missing, PaperLevels
from despur.specs.names import unknown
from despur.specs.settings import SettingError

PERCENT = ("percent", "pp")
COUNTED_KEYS = (*DEFAULTS, "class", "attribute")  # no settings: data have all of their levels
TAKE = ("largest", "smallest")
SENTENCE_WORDS = (*("take", "at", "shown", "counted", "within"), *("beside", "instead", "not_compared", "claim"))


@dataclass(frozen=True)
class Sentence:
    """A printed number and its formula: ``formula`` is the contrast or measurement, ``words`` are the further words,
    ``shared`` the keys of every measurement. ``datasets``: all that it is about. ``rounding``: half a unit of its last
    digit. ``seeds``: how many the paper has. ``levels``: those that it speaks of."""

    number: Any
    formula: Mapping[str, Any]
    words: Mapping[str, Any]
    shared: Mapping[str, Any]
    datasets: list[str]
    rounding: float
    seeds: int
    levels: Mapping[str, list[Any]]

    @property
    def scale(self) -> float:
        """Measured values are shares."""
        return 100.0 if self.number.unit in PERCENT else 1.0

    def read(self, formula: Mapping[str, Any], dataset: Any, levels: Levels) -> Formulas:
        """The formulas of a contrast or measurement on a data set. Raises Missing."""
        form = {} if any(form in formula for form in FORMS) else {"higher": {}, "than": 0}
        return read_group({**formula, **form}, {**self.shared, "dataset": dataset}, levels)

    def list_formulas(self, measured: MeasuredValues) -> list[tuple[list[str], Any]]:
        """The formula of each value that was measured, with its data sets. Raises Missing where none was."""
        formulas, missing = self.try_formulas(measured, measured)
        if not formulas:
            raise Missing(missing[0])
        return formulas

    def list_missing(self, measured: MeasuredValues) -> list[str]:
        """What was not measured of the levels that the paper speaks of."""
        return self.try_formulas(measured, PaperLevels(self.levels, measured, COUNTED_KEYS))[1]

    def try_formulas(self, measured: MeasuredValues, levels: Levels) -> tuple[list[tuple[list[str], Any]], list[str]]:
        """The formulas of all levels that were measured, and why others were not."""
        formulas, missing = [], []
        for datasets in self.list_datasets(measured):
            for formula in expand(self.formula):
                try:
                    parts = self.read(formula, datasets[0] if len(datasets) == 1 else datasets, levels).parts
                    for part in parts:
                        common_seeds(measured, Formulas([part]))
                        formulas.append((datasets, part))
                except Missing as error:
                    missing.append(str(error))
        return formulas, missing

    def list_datasets(self, measured: MeasuredValues) -> list[list[str]]:
        """The data sets of each value: one, or of a mean over data sets those that it names; ``every``: on which the
        method was run."""
        datasets_of_mean = self.formula.get("mean", {}).get("dataset")
        if datasets_of_mean is None:
            return [[name] for name in self.datasets]
        at = {"method": self.number.method}
        run = [name for name in self.datasets if len(measured.rows(measured.metrics, {**at, "dataset": name}))]
        return [(run if datasets_of_mean == "every" else datasets_of_mean) or self.datasets]


def read_sentence(
    number: Any, about: Mapping[str, Any], rounding: float, levels: Mapping[str, list[Any]] = MappingProxyType({})
) -> Sentence:
    """``about``: what experiments.yaml says of sentences. Raises SettingError for what is no formula."""
    formula = read_formula(number.formula)
    words = {key: formula.pop(key) for key in SENTENCE_WORDS if key in formula}
    if words.get("take", "largest") not in TAKE:
        raise unknown("word of take", words["take"], TAKE)
    shared = {**DEFAULTS, "method": number.method, "metric": number.metric, "margin": 0.0, **about.get("defaults", {})}
    datasets = about.get("datasets", {}).get(number.dataset, [number.dataset])
    return Sentence(number, formula, words, shared, datasets, words.get("within", rounding), about["seeds"], levels)


def read_formula(text: str) -> dict[str, Any]:
    """A cell of the column ``formula``. Raises SettingError."""
    try:
        formula = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SettingError(f"formula {text!r} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(formula, dict):
        raise SettingError(f"formula {text!r} is no mapping: write {{higher: A, than: B}} or {{metric: M}}")
    return formula


def expand(formula: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A formula for each combination of what its lists and pairs name."""
    listed = {key: value for key, value in formula.items() if isinstance(value, list)}
    if "pairs" in formula:
        listed["pairs"] = [dict([pair]) for pair in formula["pairs"].items()]
    for values in itertools.product(*listed.values()):
        yield {**formula, **dict(zip(listed, values, strict=True))}
