"""How often verdicts on numbers and choices are wrong, and how often they are given at all: simulated as in
error_rates.py."""

import itertools
from functools import cache

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.evidence.claims.error_rates import RUNS, SEEDS, mix_rates, tabulate
from despur.evidence.claims.noise_shapes import COLLAPSING, SHAPES
from despur.evidence.numbers.choices import measure_move
from despur.evidence.numbers.verdicts import TOLERANCES
from despur.evidence.statistics.equivalence import Difference, PrintedValue, measure_difference
from despur.storage.store import Array

COLUMNS = ("noise", "seeds", "deviation")
DEVIATIONS = (1.0, 3.0)  # points


@cache
def simulate_numbers(shape: str, seeds: int, deviation: float, runs: int = RUNS) -> dict[str, float]:
    """How often numbers are judged wrongly at a true difference of the larger tolerance, either way, and rightly at 0
    and at 10 points; ours vary by ``deviation`` points. ``printed``: with a deviation of as many printed seeds;
    ``fixed``: the printed number taken as fixed."""
    if shape in COLLAPSING:
        return mix_rates(lambda left: simulate_numbers("normal", left, deviation, runs), seeds, COLLAPSING[shape])
    rng = derive_generator(f"error_rates/numbers/{shape}/{deviation:g}", seeds)
    ours, theirs = (deviation * SHAPES[shape](rng, (runs, seeds)) for _ in range(2))
    theirs = 3 * theirs if shape == "unequal" else theirs
    large = TOLERANCES[1]
    rates: dict[str, float] = {}
    for name, other in (("fixed", None), ("printed", theirs)):
        differences = {true: compare(ours + true, other) for true in (large, -large, 0.0, 2 * large)}
        ends = (differences[large], differences[-large])
        rates[f"{name}: false within"] = max(float(end.is_within(large).mean()) for end in ends)
        rates[f"{name}: false beyond"] = max(float(end.is_beyond(large).mean()) for end in ends)
        rates[f"{name}: within 5 at 0"] = float(differences[0.0].is_within(large).mean())
        rates[f"{name}: beyond 5 at 10"] = float(differences[2 * large].is_beyond(large).mean())
    return rates


def compare(ours: Array, theirs: Array | None) -> Difference:
    """The difference of simulated seeds (R,n) from a printed mean (R,) that is taken as fixed, or of printed seeds."""
    fixed = measure_difference(ours, PrintedValue(0.0, None, 1))
    if theirs is None:
        return fixed
    n = theirs.shape[-1]
    variance = theirs.var(axis=-1, ddof=1) / n
    return Difference(fixed.estimate - theirs.mean(axis=-1), fixed.own_variance, variance, (fixed.freedom[0], n - 1))


def simulate_choices(shape: str, seeds: int, deviation: float) -> dict[str, float]:
    """How often a choice of four numbers is supported, as a share: one that changes nothing, and one that moves all
    from 10 points off to print. Values with the choice and without are independent."""
    rng = derive_generator(f"error_rates/choices/{shape}/{deviation:g}", seeds)
    without, under = (deviation * SHAPES[shape](rng, (RUNS, 4, seeds)) for _ in range(2))
    rates = {}
    for name, effect in (("false", 0.0), ("power", 2 * TOLERANCES[1])):
        moved, remaining = measure_move(without + effect, under, np.zeros((4, 1)))
        rates[name] = float(np.mean(moved.holds() & remaining.is_within(TOLERANCES[1])))
    return rates


def tabulate_numbers() -> pd.DataFrame:
    """A row for each kind of noise, number of seeds and deviation of ours."""
    return tabulate(COLUMNS, itertools.product([*SHAPES, *COLLAPSING], SEEDS, DEVIATIONS), simulate_numbers)


def tabulate_choices() -> pd.DataFrame:
    """A row for each kind of noise, number of seeds and deviation."""
    return tabulate(COLUMNS, itertools.product(SHAPES, (6, 10, 20), DEVIATIONS), simulate_choices)
