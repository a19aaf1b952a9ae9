"""How often claims are decided wrongly, and how often they are decided at all: simulated through the rules that decide
them.

    python -m despur.evidence.claims.error_rates docs/error_rates.md

Effects are in standard deviations of the difference of two methods from one seed. False *holds*: one contrast is at
its margin, the others lie 5 standard deviations above. False *fails*: all contrasts are at their margins. For most of
k (more than half, m): false *holds*, m - 1 lie 5 above and the others are at their margins; false *fails*, m are at
their margins and the others lie 5 below. Power: all contrasts lie 1, 2 or 3 standard deviations above their margins,
how often the claim of all holds.

Rank correlations: two metrics of some points, with noise of each seed. False verdicts: the metrics are independent.
Power: their values without noise are correlated by 0.9 over all points, how often the claim holds.
"""

import argparse
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.evidence.statistics.contrasts import FAILS, HOLDS, Contrast, Group, decide
from despur.evidence.statistics.rank_correlations import correlate_ranks, fisher
from despur.metrics import RESAMPLES
from despur.storage.store import Array, atomic

SEEDS, CONTRASTS, TEST_NOISE = (3, 5, 10), (1, 4, 10), (0.0, 0.5)
FAR = 5.0
POWER = (1.0, 2.0, 3.0)
RUNS = 10_000  # simulated claims in each cell
AT_ONCE = 250
POINTS, SEED_NOISE = (5, 8, 16), (0.0, 0.3, 1.0)
ASSOCIATED = 0.9


@dataclass(frozen=True)
class Noise:
    """What R simulated claims of k contrasts show where nothing is different: (R,k,n) by seed, (R,k,n,B) on bootstrap
    samples."""

    by_seed: Array
    resampled: Array

    def add_effects(self, effects: Sequence[float]) -> list[Contrast]:
        """The contrasts, at these effects."""
        return [
            Contrast(self.by_seed[:, i] + effect, self.resampled[:, i] + effect) for i, effect in enumerate(effects)
        ]


def simulate(rng: np.random.Generator, runs: int, k: int, seeds: int, test_noise: float) -> Noise:
    """``test_noise``: the standard deviation of what the test originals add to all seeds alike. Bootstrap values have
    as much of it, and half as much variance that is each seed's own, which should not count."""
    by_seed = rng.normal(size=(runs, k, seeds))
    if not test_noise:
        return Noise(by_seed, np.empty((runs, k, seeds, 0)))
    shared, alone = (rng.normal(0, test_noise, (runs, k, size, RESAMPLES)) for size in (1, seeds))
    by_seed = by_seed + rng.normal(0, test_noise, (runs, k, 1))
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


def simulate_rates(k: int, seeds: int, test_noise: float, runs: int = RUNS) -> dict[str, float]:
    """How often each situation's verdict is given, as a share."""
    counted = dict.fromkeys((name for name, *_ in list_situations(k)), 0)
    rng = derive_generator(f"error_rates/{test_noise:g}", k, seeds)
    for first in range(0, runs, AT_ONCE):
        noise = simulate(rng, min(AT_ONCE, runs - first), k, seeds, test_noise)
        for name, at_least, effects, verdict in list_situations(k):
            counted[name] += int((decide(Group(noise.add_effects(effects), at_least)) == verdict).sum())
    return {name: count / runs for name, count in counted.items()}


def simulate_table(runs: int = RUNS) -> pd.DataFrame:
    """A row for each number of seeds and contrasts, with and without test noise; percentages."""
    rows = []
    for seeds, k, test_noise in itertools.product(SEEDS, CONTRASTS, TEST_NOISE):
        found = {name: 100 * rate for name, rate in simulate_rates(k, seeds, test_noise, runs).items()}
        rows.append({"seeds": seeds, "contrasts": k, "test noise": test_noise, **found})
    return pd.DataFrame(rows)


def simulate_correlations(points: int, seeds: int, seed_noise: float, runs: int = RUNS) -> dict[str, float]:
    """How often claims about a rank correlation are decided, as shares. Points are new ones in each simulated claim;
    ``seed_noise``: in standard deviations between points."""
    rng = derive_generator(f"error_rates/correlations/{seed_noise:g}", points, seeds)
    first, other = rng.normal(size=(2, runs, 1, points))
    associated = ASSOCIATED * first + np.sqrt(1 - ASSOCIATED**2) * other
    noise = rng.normal(0, seed_noise, (2, runs, seeds, points))
    nothing, something = (
        decide(
            Contrast(
                fisher(correlate_ranks(first + noise[0], second + noise[1]), points),
                np.empty((runs, seeds, 0)),
                points=points,
            )
        )
        for second in (other, associated)
    )
    found = {"false holds": nothing == HOLDS, "false fails": nothing == FAILS, "power": something == HOLDS}
    return {name: float(decided.mean()) for name, decided in found.items()}


def simulate_table_of_correlations(runs: int = RUNS) -> pd.DataFrame:
    """A row for each number of seeds and points, and noise of each seed; percentages."""
    rows = []
    for seeds, points, noise in itertools.product(SEEDS, POINTS, SEED_NOISE):
        found = {name: 100 * rate for name, rate in simulate_correlations(points, seeds, noise, runs).items()}
        rows.append({"seeds": seeds, "points": points, "seed noise": noise, **found})
    return pd.DataFrame(rows)


def format_rates(found: pd.DataFrame) -> str:
    """A table as Markdown, percentages with one decimal."""
    from despur.evidence.numbers.tables import to_markdown

    shown = found.astype(object)
    for name in found.columns[3:]:
        shown[name] = [f"{value:.1f}" for value in found[name]]
    return to_markdown(shown)


def to_text(found: pd.DataFrame, correlations: pd.DataFrame, runs: int = RUNS) -> str:
    """The page of the documentation."""
    error = 100 * np.sqrt(0.025 * 0.975 / runs)
    return f"""# How often verdicts are wrong

After this page you know how often a verdict about a claim is wrong, and how often a claim is decided.

Made by `python -m despur.evidence.claims.error_rates docs/error_rates.md`: {runs:,} simulated claims a row, percent. A
rate of 2.5 is known to {error:.1f} points (one standard error). Effects and test noise are in standard deviations
of the difference of two methods from one seed.

A false *holds* is a claim that holds though it is not true: one contrast is at its margin, the others lie {FAR:g}
standard deviations above. A false *fails* is a claim that fails though all contrasts are at their margins. For
claims about most of the contrasts (m, more than half), m - 1 lie {FAR:g} above and the others are at their margins;
or m are at their margins and the others lie {FAR:g} below. The rules allow 2.5 %. Power is how often a claim about
all contrasts holds when all lie so many standard deviations above their margins.

{format_rates(found)}
## Rank correlations

A claim about a rank correlation has a value for each seed, over some points such as methods. Seeds may agree on an
order of few points that is chance; so its interval is at least as wide as the number of points requires. In each
simulated claim the points are new ones. Seed noise is in standard deviations between points; without it, all seeds
agree. False verdicts: the two metrics are independent. Power: they are correlated by {ASSOCIATED}, but for the noise.

{format_rates(correlations)}
[All pages](index.md)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="where to write the page")
    with atomic(parser.parse_args().file) as temporary:
        temporary.write_text(to_text(simulate_table(), simulate_table_of_correlations()))


if __name__ == "__main__":
    main()
