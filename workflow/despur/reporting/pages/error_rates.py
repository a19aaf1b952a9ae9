"""Writes the page of simulated error rates.

python -m despur.reporting.pages.error_rates docs/error_rates.md
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from despur.evidence.claims.error_rates import (
    ASSOCIATED,
    FAR,
    RUNS,
    tabulate_claims,
    tabulate_correlations,
    tabulate_looks,
    tabulate_not_covered,
)
from despur.evidence.claims.noise_shapes import COLLAPSE, FAR_BELOW
from despur.evidence.claims.number_error_rates import tabulate_choices, tabulate_numbers
from despur.evidence.statistics.contrasts import LEVEL
from despur.reporting.markdown import to_markdown
from despur.storage.texts import write_text


def format_rates(rates: pd.DataFrame) -> str:
    """A table as Markdown, percentages with one decimal; a dash where nothing is simulated."""
    shown = rates.astype(object)
    for name in rates.select_dtypes("float"):
        shown[name] = ["–" if pd.isna(value) else f"{value:.1f}" for value in rates[name]]
    return to_markdown(shown.columns, shown.to_numpy()) + "\n"


def to_text(
    claims: pd.DataFrame,
    numbers: pd.DataFrame,
    choices: pd.DataFrame,
    correlations: pd.DataFrame,
    looks: pd.DataFrame,
    not_covered: pd.DataFrame,
) -> str:
    """The page of the documentation."""
    error = 100 * np.sqrt(0.05 * 0.95 / RUNS)
    return f"""# How often verdicts are wrong

After this page you know how often a verdict about a number or a claim is wrong, and how often one is given.

Made by `python -m despur.reporting.pages.error_rates docs/error_rates.md`: {RUNS:,} simulated verdicts a row,
percent. A rate of 5 is known to {error:.1f} points (one standard error). Effects and noise are in standard deviations
of the difference of two methods from one seed.

Each verdict about seeds that do not collapse may be wrong in at most 5 % under the noise of these tables. Seeds are
not always normal: a skewed noise (an exponential whose long tail points down) makes Student's t wrong more often than
its level says, since few seeds miss the tail. So bounds are taken at {100 * LEVEL:g} % on either side, and where few
seeds vary much there is no verdict.
Where seeds are normal, verdicts are wrong in about {100 * LEVEL:g} %. Unequal: half of the seeds vary three times as
much; of numbers, the paper's vary three times as much as ours.

Seeds that collapse lie {COLLAPSE:g} standard deviations below. They are known by their training accuracy, the others
count alone, and the share of them is given with its exact interval. `with collapsed seeds` is how often a verdict about
the mean of all seeds would be wrong. Seeds that collapse in part, which learn their training data and are near guessing
on test data, are not told apart: they count as what they are, a large deviation, and verdicts about few seeds that miss
them are [wrong more often](#what-the-rule-does-not-cover).

p values of claims and numbers are those of bounds. Where several are judged together (Holm, Benjamini and Hochberg),
each p is replaced by 5 % times the square root of p / {100 * LEVEL:g} %, at most 1: errors fall like this where seeds
are skewed.

## Claims

A false *holds* is a claim that holds though it is not true: one contrast is at its margin, the others lie {FAR:g}
standard deviations above. A false *fails* is a claim that fails though all contrasts are at their margins. For
claims about most of the contrasts (m, more than half), m - 1 lie {FAR:g} above and the others are at their margins;
or m are at their margins and the others lie {FAR:g} below. Power is how often a claim about all contrasts holds when
all lie so many standard deviations above their margins.

{format_rates(claims)}
## Numbers

Deviations are in points. False: the true difference is 5 points, where neither *within 5* nor *beyond 5* is shown.
`fixed`: no deviation is printed; the digits on paper are taken as fixed. `printed`: as many seeds of the paper's, with
their deviation. Power: how often a number is *within 5* at no difference, and *beyond 5* at a difference of 10.

{format_rates(numbers)}
## Choices

A choice of what a paper leaves open is supported by numbers that move to print (despur/evidence/numbers/choices.py):
every second seed finds those that are off print, the others judge. False: the choice changes nothing, and four numbers
are at print but for noise of that many points. Power: it moves them from 10 points off to print.

{format_rates(choices)}
## Rank correlations

A claim about a rank correlation has a value for each seed, over some points such as methods. Seeds may agree on an
order of few points that is chance; so its interval is at least as wide as the number of points requires. In each
simulated claim the points are new ones. Seed noise is in standard deviations between points; without it, all seeds
agree. False verdicts: the two metrics are independent. Power: they are correlated by {ASSOCIATED}, but for the noise.

{format_rates(correlations)}
## Seeds that are added until a claim is decided

The rates above are of a number of seeds that was fixed before. Who adds seeds while a claim is undecided looks at it
several times, and one of these verdicts is wrong more often. So fix the number of seeds before; a few fixed numbers err
less often than a look after each seed. Of one contrast at its margin, how often it holds at one look at least:

{format_rates(looks)}
## What the rule does not cover

No rule for few seeds covers every noise. Of one contrast at its margin, how often a claim is wrong where the tail is
longer than an exponential's (a lognormal of sigma 1, pointing down), and where one seed in ten, as after a collapse in
part, lies {FAR_BELOW:g} standard deviations of the others below them. So look at the values by seed, and be careful
where a method is known to fail now and then.

{format_rates(not_covered)}
[All pages](index.md)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="where to write the page")
    file = parser.parse_args().file
    tables = tabulate_claims(), tabulate_numbers(), tabulate_choices()
    others = tabulate_correlations(), tabulate_looks(), tabulate_not_covered()
    write_text(file, to_text(*tables, *others))


if __name__ == "__main__":
    main()
