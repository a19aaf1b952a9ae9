"""What claims and sentences of a paper read: measurements, whether they were measured or not."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pandas as pd

from despur.evidence.claims.claim_format import read_claims, read_levels
from despur.evidence.sentences.sentence_format import COUNTED_KEYS, Sentence, expand, read_sentence
from despur.evidence.statistics.formulas import Formulas
from despur.evidence.statistics.levels import MeasurementKeys
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper

ANY = "any"  # level of a key
NO_SETTINGS = ("metric", *COUNTED_KEYS)
COMPARED_UNITS = ("percent", "fraction", "pp", "ratio")


@dataclass(frozen=True)
class EveryMeasurement:
    """In the place of what was measured: each method was run on each data set, at the levels that the paper speaks of
    (``of_paper``); what has none there has one level, which stands for all."""

    of_paper: Mapping[str, list[Any]]
    metrics: Any = None

    def levels(self, key: str, measurement: MeasurementKeys) -> list[Any]:
        return list(self.of_paper.get(key, [ANY]))

    def rows(self, metrics: Any, measurement: MeasurementKeys) -> list[MeasurementKeys]:
        return [measurement]


@dataclass(frozen=True)
class Assertion:
    """A claim about data sets, or a printed number of a sentence (``key``). ``terms``: method, data set and settings
    that it reads, each once. ``artifacts``: those whose runs it reads; none: any. ``grid``: it needs a whole grid."""

    key: Any
    terms: list[MeasurementKeys]
    artifacts: tuple[str, ...] = ()
    grid: bool = False


def list_claim_assertions(paper: str) -> Iterator[Assertion]:
    """The claims of a paper that are judged, an assertion for each of their verdicts."""
    for claim in read_claims(find_paper(paper) / "claims.yaml")[0]:
        if claim.not_executed or claim.ours:
            continue
        levels = EveryMeasurement(claim.levels)
        for names in claim.rows:
            parts = claim.formulas(names, levels), claim.conditions(names, levels)
            yield Assertion((claim.name, ", ".join(names)), list_terms(parts), claim.artifacts, claim.grid)


def list_sentence_assertions(paper: str, printed: pd.DataFrame) -> Iterator[Assertion]:
    """The numbers of sentences, by their positions, that are compared."""
    about, levels = load_experiments(paper).get("sentences", {}), read_levels(find_paper(paper) / "claims.yaml")
    own = printed[printed["unit"].isin(COMPARED_UNITS) & printed["formula"].map(lambda text: isinstance(text, str))]
    for number in own.fillna({"method": "", "setting": ""}).itertuples():
        asked = SimpleNamespace(**number._asdict(), dataset=number.paper_dataset)
        sentence = read_sentence(asked, about, 0.0, levels)
        formulas = list(list_formulas(sentence, EveryMeasurement(levels)))
        one_of_several = len(formulas) > 1 and not {"at", "counted"} & {*sentence.words}
        if formulas and not one_of_several and not {"not_compared", "claim"} & {*sentence.words}:
            yield Assertion(int(number.Index), list_terms(formulas))


def list_formulas(sentence: Sentence, every: Any) -> Iterator[Formulas]:
    """That of each value that a sentence takes its number from, of :class:`EveryMeasurement`."""
    for names in sentence.list_datasets(every) if sentence.formula else ():
        for formula in expand(sentence.formula):
            where = names[0] if len(names) == 1 else names
            yield from (Formulas([part]) for part in sentence.read(formula, where, every).parts)


def list_terms(formulas: Iterable[Formulas]) -> list[MeasurementKeys]:
    """What they read, each once; what a correlation goes over has any value."""
    every = [
        {**dict.fromkeys(getattr(part, "over", ()), ANY), **term}
        for group in formulas
        for part in group.leaves()
        for _, term in part.terms
    ]
    terms = [{key: value for key, value in term.items() if key not in NO_SETTINGS} for term in every]
    return list({repr(sorted(term.items(), key=lambda item: item[0])): term for term in terms}.values())
