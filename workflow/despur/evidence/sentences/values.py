"""Our value of a sentence's formula, from what was measured, and what it decides."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.claims.evaluate_formulas import common_seeds, evaluate
from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.numbers.rows import describe_by_seed
from despur.evidence.numbers.sample_noise import sample_variance
from despur.evidence.numbers.verdicts import judge_count, judge_values
from despur.evidence.sentences.sentence_format import Sentence
from despur.evidence.statistics.contrasts import FAILS, HOLDS, SEEDS, Group, contrasts_of, decide
from despur.evidence.statistics.equivalence import PrintedValue
from despur.evidence.statistics.formulas import Formula, Formulas
from despur.evidence.statistics.levels import Missing
from despur.evidence.verdicts import NumberVerdict
from despur.storage.store import Array

SHOWN = {HOLDS: NumberVerdict.AS_PRINTED, FAILS: NumberVerdict.NOT_AS_PRINTED}


@dataclass(frozen=True)
class Taken:
    """Our number. ``values``: by seed, or of another kind, one; ``formula``: of which it is; ``seeds``: those of the
    values; ``statement``: what has to be true of it, where it is no number to be near to."""

    ours: float
    values: Array
    formula: Formula
    seeds: list[int]
    statement: Group | None = None

    def describe(self) -> dict[str, Any]:
        """Its columns."""
        n = len(self.values)
        row: dict[str, Any] = {"ours": self.ours, "seeds": n, "by_seed": ""}
        if self.statement:
            return row | {"seeds": min(contrast.seeds for contrast in contrasts_of(self.statement))}
        varies = bool(n) and bool(np.ptp(self.values))  # a deviation of equal values is what rounding makes of them
        spread = float(self.values.std(ddof=1)) * varies if n > 1 else float("nan")
        return row | {"ours_std": spread, "by_seed": describe_by_seed(pd.Series(self.values, self.seeds))}

    def judge(self, sentence: Sentence, measured: MeasuredValues) -> dict[str, Any]:
        """Difference and verdict."""
        number = sentence.number
        if self.statement:
            return {"difference": self.ours - number.mean} | judge_statement(self.statement)
        if "counted" in sentence.words:
            return judge_count(self.ours, number.mean, sentence.rounding)
        printed = PrintedValue(number.mean, None, sentence.seeds, sentence.rounding)
        return judge_values(self.values, printed, sum_noise(sentence, self.formula, measured), number.unit)


def judge_statement(statement: Group) -> dict[str, str]:
    """As printed where it is shown to be true of our runs, not as printed where it is shown to be false."""
    if not all(contrast.decides for contrast in contrasts_of(statement)):
        return {"verdict": NumberVerdict.NOT_KNOWN, "would_decide": f"at least {SEEDS} seeds"}
    return {"verdict": SHOWN.get(int(decide(statement)), NumberVerdict.NOT_KNOWN)}


def take_value(sentence: Sentence, formulas: list[tuple[list[str], Any]], measured: MeasuredValues) -> Taken:
    """The number that is meant, of the values that were measured. Raises Missing."""
    alone = [evaluate_alone(Formulas([part]), measured) for _, part in formulas]
    words, contrasts = sentence.words, [contrast for group in alone for contrast in contrasts_of(group)]
    if len(contrasts) > 1 and "take" not in words:
        raise Missing("several values fit the number")
    estimates = [sentence.scale * float(contrast.estimate) for contrast in contrasts]
    best = {"largest": np.argmax, "smallest": np.argmin}[words.get("take", "largest")](estimates)
    datasets, formula = formulas[best]
    if "at" in words:
        shown = sentence.read(words["shown"], datasets[0], measured)
        level = float(formula.terms[0][1][words["at"]])
        return Taken(level, np.array([level]), formula, [0], evaluate_alone(shown, measured))
    seeds = common_seeds(measured, Formulas([formula]))
    return Taken(estimates[best], sentence.scale * contrasts[best].by_seed, formula, seeds)


def evaluate_alone(formulas: Formulas, measured: MeasuredValues) -> Group:
    """The contrasts of formulas, over the seeds that these have in common."""
    return evaluate(formulas, measured, common_seeds(measured, formulas))


def sum_noise(sentence: Sentence, formula: Formula, measured: MeasuredValues) -> float:
    """Variance, in the unit of the sentence squared, of the difference to the printed number by test samples: of all
    accuracies of a formula, as if their test samples were not the same, which is an upper bound for differences."""
    total = 0.0
    for weight, term in formula.terms:
        if term["split"] == "test" and term["metric"].endswith("accuracy"):
            of_runs = {key: value for key, value in term.items() if key not in ("metric", "group")}
            rows = measured.rows(measured.metrics, of_runs)
            number = sentence.number._replace(dataset=term["dataset"], method=term["method"], metric=term["metric"])
            total += (weight * sentence.scale / 100) ** 2 * sample_variance(number, rows, str(rows["data"].iloc[0]))
    return total


def describe_beside(sentence: Sentence, measured: MeasuredValues) -> str:
    """What else was measured. Raises Missing."""
    texts = []
    for name, measurement in sentence.words.get("beside", {}).items():
        (contrast,) = contrasts_of(evaluate_alone(sentence.read(measurement, sentence.datasets[0], measured), measured))
        texts.append(f"{name} {float(contrast.estimate):.3g}")
    return ", ".join(texts)
