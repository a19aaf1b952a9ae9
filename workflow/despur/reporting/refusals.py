"""Why the runs behind a claim decide nothing."""

import pandas as pd

from despur.reporting.changed_settings import counts_training
from despur.reporting.contrasts import SEEDS, Group, contrasts_of
from despur.reporting.printed import parse_settings


def explain_refusal(found: Group, given: Group, used: pd.DataFrame) -> str:
    """Why contrasts decide nothing; empty where they may. ``used``: the rows of the metrics that they are made of."""
    contrasts = list(contrasts_of(found))
    if not all(contrast.decides for contrast in contrasts):
        return f"{contrasts[0].seeds} seed{'s' * (contrasts[0].seeds > 1)}: fewer than {SEEDS} decide nothing"
    if given.parts and not given.holds():
        failed = [contrast.label for contrast in contrasts_of(given) if not contrast.holds()]
        return f"not shown to be above 0, as it is given: {failed[0]}"
    return find_shortened_training(used) or find_changed_settings(used)


def explain_no_interval(found: Group) -> str:
    """Which contrast decides nothing as nothing varies; empty where all have intervals."""
    exact = [each.label for each in contrasts_of(found) if not each.has_interval and each.estimate != each.margin]
    return f"the same from all seeds, and no noise of test data is known: {exact[0]}" if exact else ""


def find_shortened_training(metrics: pd.DataFrame) -> str:
    """Which training on the paper's own data is shorter than the paper's; empty for none. Longer training is no reason
    to refuse a verdict."""
    if "shortened" not in metrics or metrics["substitute"].eq(True).any():
        return ""
    found = sorted(filter(None, metrics["shortened"].dropna().unique()))
    return f"not trained as long as in the paper ({'; '.join(found)}): decides nothing about it" if found else ""


def find_changed_settings(metrics: pd.DataFrame) -> str:
    """Which settings of runs on the paper's own data are not the paper's, the length of training aside; empty for
    none."""
    if "changed" not in metrics or metrics["substitute"].eq(True).any():
        return ""
    found = {item for text in metrics["changed"].dropna().unique() for item in parse_settings(text).items()}
    other = [f"{key}={value}" for key, value in sorted(found) if not counts_training(key)]
    return f"other settings than the paper's ({', '.join(other)}): decides nothing about it" if other else ""
