"""How often verdicts are wrong, and how often they are given at all: simulated through the rules that give them, with
the noise of despur/evidence/claims/noise_shapes.py. ``test noise``: half a standard deviation of the test originals,
which all seeds share.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

from despur.compute.randomness import derive_generator
from despur.evidence.claims.noise_shapes import COLLAPSE, COLLAPSING, NOT_COVERED, SHAPES, draw_two_kinds
from despur.evidence.numbers.verdicts import TOLERANCES
from despur.evidence.statistics import contrasts
from despur.evidence.statistics.contrasts import FAILS, HOLDS, Contrast, Group, decide
from despur.evidence.statistics.equivalence import Difference, PrintedValue, measure_difference
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
def simulate_rates(k: int, seeds: int, shape: str, runs: int = RUNS) -> dict[str, float]:
    """How often each situation's verdict is given, as a share."""
    if shape in COLLAPSING:
        return mix_rates(lambda left: simulate_rates(k, left, "normal", runs), seeds, COLLAPSING[shape])
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


def simulate_unconditional(seeds: int, collapse: float) -> float:
    """How often a claim of one contrast is wrong about the mean of all seeds, collapsed ones among them."""
    rng = derive_generator(f"error_rates/unconditional/{collapse:g}", seeds)
    values = draw_two_kinds(rng, (RUNS, seeds), COLLAPSE, collapse)
    verdicts = decide(Contrast(values, np.empty((RUNS, seeds, 0))))
    return float((verdicts != 0).mean())


@cache
def simulate_numbers(seeds: int, shape: str, deviation: float, runs: int = RUNS) -> dict[str, float]:
    """How often numbers are judged wrongly at a true difference of the larger tolerance, either way, and rightly at 0
    and at 10 points; ours vary by ``deviation`` points. ``printed``: with a deviation of as many printed seeds;
    ``fixed``: the printed number taken as fixed."""
    if shape in COLLAPSING:
        return mix_rates(lambda left: simulate_numbers(left, "normal", deviation, runs), seeds, COLLAPSING[shape])
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


def simulate_table() -> pd.DataFrame:
    """A row for each kind of noise, number of seeds and of contrasts; percentages."""
    cells = [*itertools.product([*SHAPES, *COLLAPSING], SEEDS, CONTRASTS), ("test noise", 3, 1), ("test noise", 10, 4)]
    rows = []
    for shape, seeds, k in cells:
        rates = {name: 100 * rate for name, rate in simulate_rates(k, seeds, shape).items()}
        if shape in COLLAPSING and k == 1:
            rates["with collapsed seeds: false"] = 100 * simulate_unconditional(seeds, COLLAPSING[shape])
        rows.append({"noise": shape, "seeds": seeds, "contrasts": k, **rates})
    return pd.DataFrame(rows)


def simulate_table_not_covered() -> pd.DataFrame:
    """A row for each kind of noise that the rule does not cover, and number of seeds; percentages of one contrast."""
    rows = [
        {"noise": shape, "seeds": seeds, "false": 100 * simulate_rates(1, seeds, shape)["all: false holds"]}
        for shape, seeds in itertools.product(NOT_COVERED, SEEDS)
    ]
    return pd.DataFrame(rows)


def simulate_table_of_numbers() -> pd.DataFrame:
    """A row for each kind of noise, number of seeds and deviation of ours; percentages."""
    cells = itertools.product([*SHAPES, *COLLAPSING], SEEDS, (1.0, 3.0))
    rows = [
        {"noise": shape, "seeds": seeds, "deviation": deviation}
        | {name: 100 * rate for name, rate in simulate_numbers(seeds, shape, deviation).items()}
        for shape, seeds, deviation in cells
    ]
    return pd.DataFrame(rows)


def simulate_correlations(points: int, seeds: int, seed_noise: float, runs: int = RUNS) -> dict[str, float]:
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


def simulate_table_of_correlations() -> pd.DataFrame:
    """A row for each number of seeds and points, and noise of each seed; percentages."""
    rows = []
    for seeds, points, noise in itertools.product((3, 5, 10), POINTS, SEED_NOISE):
        rates = {name: 100 * rate for name, rate in simulate_correlations(points, seeds, noise).items()}
        rows.append({"seeds": seeds, "points": points, "seed noise": noise, **rates})
    return pd.DataFrame(rows)
