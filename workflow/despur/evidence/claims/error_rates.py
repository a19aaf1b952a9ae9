"""How often verdicts on claims are wrong, and how often they are given at all: simulated through the rules that give
them, with the noise of despur/evidence/claims/noise_shapes.py. ``test noise``: half a standard deviation of the test
originals, which all seeds share. Rates of numbers and choices: number_error_rates.py.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from despur.compute.randomness import derive_generator
from despur.evidence.claims.noise_shapes import COLLAPSE, COLLAPSING, NOT_COVERED, SHAPES, draw_two_kinds
from despur.evidence.statistics import contrasts
from despur.evidence.statistics.contrasts import FAILS, HOLDS, Contrast, Group, decide
from despur.evidence.statistics.rank_correlations import correlate_ranks, fisher
from despur.metrics import RESAMPLES
from despur.storage.store import Array

SEEDS, CONTRASTS = (3, 5, 10, 20), (1, 4, 16)
FAR = 5.0
POWER = (2.0, 3.0)
RUNS = 10_000  # simulated verdicts in each cell
AT_ONCE = 250  # with bootstrap samples, which need memory
TEST_NOISE = 0.5
POINTS, SEED_NOISE = (6, 8, 16), (0.0, 0.3, 1.0)
ASSOCIATED = 0.9


@dataclass(frozen=True)
class Noise:
    """What R simulated claims of k contrasts show where nothing is different: (R,k,n) by seed, (R,k,n,B) on bootstrap
    samples."""

    by_seed: Array
    resampled: Array

    def mirror(self) -> "Noise":
        """The same with the other sign."""
        return Noise(-self.by_seed, -self.resampled)

    def add_effects(self, effects: Sequence[float]) -> list[Contrast]:
        """The contrasts, at these effects."""
        return [
            Contrast(self.by_seed[:, i] + effect, self.resampled[:, i] + effect) for i, effect in enumerate(effects)
        ]


def simulate(rng: np.random.Generator, runs: int, k: int, seeds: int, shape: str) -> Noise:
    """Of test noise, bootstrap values have as much, and half as much variance that is each seed's own, which should not
    count."""
    if shape != "test noise":
        return Noise((SHAPES | NOT_COVERED)[shape](rng, (runs, k, seeds)), np.empty((runs, k, seeds, 0)))
    shared, alone = (rng.normal(0, TEST_NOISE, (runs, k, size, RESAMPLES)) for size in (1, seeds))
    by_seed = rng.normal(size=(runs, k, seeds)) + rng.normal(0, TEST_NOISE, (runs, k, 1))
    return Noise(by_seed, by_seed[..., None] + shared + alone / np.sqrt(2))


def list_situations(k: int) -> Iterator[tuple[str, int | None, list[float], int]]:
    """What is simulated of k contrasts: a name, of how many the claim is (None: all), their effects, and which verdict
    is counted."""
    most = k // 2 + 1
    yield "all: false holds", None, [0.0] + [FAR] * (k - 1), HOLDS
    yield "all: false fails", None, [0.0] * k, FAILS
    yield "most: false holds", most, [FAR] * (most - 1) + [0.0] * (k - most + 1), HOLDS
    yield "most: false fails", most, [0.0] * most + [-FAR] * (k - most), FAILS
    for effect in POWER:
        yield f"power at {effect:g}", None, [effect] * k, HOLDS


@cache
def simulate_rates(shape: str, seeds: int, k: int, runs: int = RUNS) -> dict[str, float]:
    """How often each situation's verdict is given, as a share."""
    if shape in COLLAPSING:
        return mix_rates(lambda left: simulate_rates("normal", left, k, runs), seeds, COLLAPSING[shape])
    counted = dict.fromkeys((name for name, *_ in list_situations(k)), 0)
    rng = derive_generator(f"error_rates/{shape}", k, seeds)
    at_once = AT_ONCE if shape == "test noise" else runs
    for first in range(0, runs, at_once):
        noise = simulate(rng, min(at_once, runs - first), k, seeds, shape)
        for name, at_least, effects, verdict in list_situations(k):
            turned = noise if verdict == HOLDS else noise.mirror()  # the tail points to where it makes errors
            counted[name] += int((decide(Group(turned.add_effects(effects), at_least)) == verdict).sum())
    return {name: count / runs for name, count in counted.items()}


def mix_rates(rates: Callable[[int], dict[str, float]], seeds: int, collapse: float) -> dict[str, float]:
    """Rates where each seed collapses with a probability and the others count; too few of them decide nothing."""
    mixed: dict[str, float] = {}
    for left in range(contrasts.SEEDS, seeds + 1):
        chance = float(stats.binom.pmf(left, seeds, 1 - collapse))
        for name, rate in rates(left).items():
            mixed[name] = mixed.get(name, 0.0) + chance * rate
    return mixed


def simulate_claims(shape: str, seeds: int, k: int) -> dict[str, float]:
    """The same; of one contrast and seeds that collapse also how often a claim is wrong about the mean of all seeds,
    collapsed ones among them."""
    rates = simulate_rates(shape, seeds, k)
    if k > 1 or shape not in COLLAPSING:
        return rates
    rng = derive_generator(f"error_rates/unconditional/{COLLAPSING[shape]:g}", seeds)
    values = draw_two_kinds(rng, (RUNS, seeds), COLLAPSE, COLLAPSING[shape])
    verdicts = decide(Contrast(values, np.empty((RUNS, seeds, 0))))
    return rates | {"with collapsed seeds: false": float((verdicts != 0).mean())}


def simulate_correlations(seeds: int, points: int, seed_noise: float, runs: int = RUNS) -> dict[str, float]:
    """How often claims about a rank correlation are decided, as shares. Points are new ones in each simulated claim;
    ``seed_noise``: in standard deviations between points."""
    rng = derive_generator(f"error_rates/correlations/{seed_noise:g}", points, seeds)
    first, other = rng.normal(size=(2, runs, 1, points))
    associated = ASSOCIATED * first + np.sqrt(1 - ASSOCIATED**2) * other
    noise = rng.normal(0, seed_noise, (2, runs, seeds, points))
    none = np.empty((runs, seeds, 0))
    nothing, something = (
        decide(Contrast(fisher(correlate_ranks(first + noise[0], second + noise[1]), points), none, points=points))
        for second in (other, associated)
    )
    decisions = {"false holds": nothing == HOLDS, "false fails": nothing == FAILS, "power": something == HOLDS}
    return {name: float(decided.mean()) for name, decided in decisions.items()}


def simulate_looks(shape: str, most: int) -> dict[str, float]:
    """How often a claim of one contrast at its margin holds at one of several numbers of seeds at least, at which it is
    looked at, as a share: by which numbers these are, up to ``most``."""
    noise = SHAPES[shape](derive_generator(f"error_rates/looks/{shape}"), (RUNS, max(SEEDS)))
    none = np.empty((RUNS, max(SEEDS), 0))
    each = range(contrasts.SEEDS, most + 1)
    ways = {"one look": [most], "looks at 3, 5, 10, 20": [n for n in SEEDS if n <= most], "after each seed": each}
    held = {seeds: decide(Contrast(noise[:, :seeds], none[:, :seeds])) == HOLDS for seeds in each}
    return {
        f"false, {name}": float(np.any([held[seeds] for seeds in looks], axis=0).mean()) for name, looks in ways.items()
    }


def tabulate(
    names: Sequence[str], cells: Iterable[tuple[Any, ...]], simulate_cell: Callable[..., Mapping[str, float]]
) -> pd.DataFrame:
    """A row for each cell: its values, which are called ``names``, and the rates that are simulated there, percent."""
    rows = []
    for cell in cells:
        rates = {name: 100 * rate for name, rate in simulate_cell(*cell).items()}
        rows.append({**dict(zip(names, cell, strict=True)), **rates})
    return pd.DataFrame(rows)


def tabulate_claims() -> pd.DataFrame:
    """A row for each kind of noise, number of seeds and of contrasts."""
    cells = [*itertools.product([*SHAPES, *COLLAPSING], SEEDS, CONTRASTS), ("test noise", 3, 1), ("test noise", 10, 4)]
    return tabulate(("noise", "seeds", "contrasts"), cells, simulate_claims)


def tabulate_not_covered() -> pd.DataFrame:
    """A row for each kind of noise that the rule does not cover, and number of seeds; of one contrast."""
    cells = itertools.product(NOT_COVERED, SEEDS)
    return tabulate(("noise", "seeds"), cells, lambda *cell: {"false": simulate_rates(*cell, k=1)["all: false holds"]})


def tabulate_correlations() -> pd.DataFrame:
    """A row for each number of seeds and points, and noise of each seed."""
    cells = itertools.product((3, 5, 10), POINTS, SEED_NOISE)
    return tabulate(("seeds", "points", "seed noise"), cells, simulate_correlations)


def tabulate_looks() -> pd.DataFrame:
    """A row for each kind of noise and largest number of seeds."""
    return tabulate(("noise", "seeds"), itertools.product(SHAPES, SEEDS[1:]), simulate_looks)
