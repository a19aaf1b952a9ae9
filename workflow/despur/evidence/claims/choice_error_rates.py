"""How often a choice is supported that changes nothing, and how often one that moves numbers to print: simulated
through the rule that judges choices (despur/evidence/numbers/choices.py)."""

import itertools

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.evidence.claims.error_rates import RUNS
from despur.evidence.claims.noise_shapes import SHAPES
from despur.evidence.numbers.choices import measure_move
from despur.evidence.numbers.verdicts import TOLERANCES


def simulate_choices(seeds: int, shape: str, deviation: float) -> dict[str, float]:
    """How often a choice of four numbers is supported, as a share: one that changes nothing, and one that moves all
    from 10 points off to print. Values with the choice and without are independent."""
    rng = derive_generator(f"error_rates/choices/{shape}/{deviation:g}", seeds)
    without, under = (deviation * SHAPES[shape](rng, (RUNS, 4, seeds)) for _ in range(2))
    rates = {}
    for name, effect in (("false", 0.0), ("power", 2 * TOLERANCES[1])):
        moved, remaining = measure_move(without + effect, under, np.zeros((4, 1)))
        rates[name] = float(np.mean(moved.holds() & remaining.is_within(TOLERANCES[1])))
    return rates


def simulate_table_of_choices() -> pd.DataFrame:
    """A row for each kind of noise, number of seeds and deviation; percentages."""
    cells = itertools.product(SHAPES, (6, 10, 20), (1.0, 3.0))
    rows = [
        {"noise": shape, "seeds": seeds, "deviation": deviation}
        | {name: 100 * rate for name, rate in simulate_choices(seeds, shape, deviation).items()}
        for shape, seeds, deviation in cells
    ]
    return pd.DataFrame(rows)
