"""How often a claim is wrong where seeds are added until it is decided: simulated as in error_rates.py."""

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.evidence.claims.error_rates import RUNS, SEEDS
from despur.evidence.claims.noise_shapes import SHAPES
from despur.evidence.statistics import contrasts
from despur.evidence.statistics.contrasts import HOLDS, Contrast, decide


def simulate_looks(shape: str, looks: Sequence[int]) -> float:
    """How often a claim of one contrast at its margin holds at one of several numbers of seeds at least, at which it is
    looked at, as a share."""
    noise = SHAPES[shape](derive_generator(f"error_rates/looks/{shape}"), (RUNS, max(SEEDS)))
    none = np.empty((RUNS, max(SEEDS), 0))
    held = [decide(Contrast(noise[:, :seeds], none[:, :seeds])) == HOLDS for seeds in looks]
    return float(np.any(held, axis=0).mean())


def simulate_table_of_looks() -> pd.DataFrame:
    """A row for each kind of noise and largest number of seeds; percentages."""
    rows = []
    for shape, most in itertools.product(SHAPES, SEEDS[1:]):
        each = range(contrasts.SEEDS, most + 1)
        ways = {"one look": [most], "looks at 3, 5, 10, 20": [n for n in SEEDS if n <= most], "after each seed": each}
        rates = {f"false, {name}": 100 * simulate_looks(shape, looks) for name, looks in ways.items()}
        rows.append({"noise": shape, "seeds": most, **rates})
    return pd.DataFrame(rows)
