"""Why the runs behind a claim decide nothing."""

from collections.abc import Collection, Sequence

import pandas as pd

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.settings import list_fitted_rules
from despur.evidence.runs.changed_settings import counts_training
from despur.evidence.statistics.contrasts import SEEDS, Group, contrasts_of
from despur.evidence.statistics.formulas import Formulas

RUN = ["paper_dataset", "used_dataset", "paper_method"]
PRESUPPOSED = "what the claim presupposes is not shown"


def explain_refusal(statement: Group, given: Group) -> str:
    """Why contrasts decide nothing, whatever their runs; empty where they may."""
    contrasts = list(contrasts_of(statement))
    if not all(contrast.decides for contrast in contrasts):
        return f"{contrasts[0].seeds} seed{'s' * (contrasts[0].seeds > 1)}: fewer than {SEEDS} decide nothing"
    if given.parts and not given.holds():
        failed = [contrast.label for contrast in contrasts_of(given) if not contrast.holds()]
        return f"{PRESUPPOSED}: that {failed[0]} is above 0"
    return ""


def explain_settings(used: pd.DataFrame, every: pd.DataFrame) -> str:
    """Why runs on the paper's own data decide nothing about it: training is shorter, or other settings are not the
    paper's; empty where they may. Longer training is no reason. ``used``: the rows of the metrics that contrasts and
    what is given are made of; ``every``: all rows of these metrics."""
    shortened, changed = (list_texts(column, used, every) for column in ("shortened", "changed"))
    if shortened:
        return f"not trained as long as in the paper ({'; '.join(shortened)}): decides nothing about it"
    settings = {item for text in changed for item in parse_settings(text).items()}
    other = [f"{key}={value}" for key, value in sorted(settings) if not counts_training(key)]
    return f"other settings than the paper's ({', '.join(other)}): decides nothing about it" if other else ""


def list_changed(used: pd.DataFrame, every: pd.DataFrame) -> list[str]:
    """Every setting in which the runs behind rows differ from the paper's: ``encoder.model=ViT-B-32``, once for a base
    that serves the groups, too."""
    items = {item for text in list_texts("changed", used, every) for item in text.split(";")}
    return sorted({item.rpartition("stage1.")[2] for item in items})


def list_settings(column: str, used: pd.DataFrame, every: pd.DataFrame, fixed: Collection[str] = ()) -> str:
    """``standard_cl (temperature); mmd (temperature, weight)``: the settings that the rows of each method name in a
    column, such as ``untuned``. ``fixed``: those that the claim itself names."""
    texts_by_method = {}
    for method, rows in used.groupby("paper_method"):
        texts = list_texts(column, rows, every)
        names = sorted({name for text in texts for name in text.split(";")} - {*fixed})
        if names:
            texts_by_method[method] = f"{method} ({', '.join(names)})"
    return "; ".join(texts_by_method.values())


def list_fitted_settings(used: pd.DataFrame, every: pd.DataFrame) -> str:
    """``dann (weight=0.1, found on Table 1: ...)``: the settings of the runs behind rows that were found on printed
    numbers."""
    columns = ["paper", "paper_method", "data", "method"]
    runs = every.merge(used[RUN].drop_duplicates(), on=RUN).reindex(columns=columns)
    runs = runs.replace("", None).dropna().drop_duplicates()
    said = {
        f"{', '.join(rule.get('methods', ['all methods']))} ({rule['setting']}, found on {rule['found_on']})"
        for run in runs.itertuples(index=False)
        for rule in list_fitted_rules(*run)
    }
    return "; ".join(sorted(said))


def list_fixed_keys(formulas: Formulas) -> set[str]:
    """Every key that a claim's measurements state."""
    return {key for part in formulas.leaves() for _, term in part.terms for key in term}


def list_texts(column: str, used: pd.DataFrame, every: pd.DataFrame) -> list[str]:
    """What the runs behind rows say in a column, ``shortened`` or ``changed``. A row that is derived from several runs
    (a mean over settings, a gap) says nothing itself, but all runs of its method do."""
    if column not in every:
        return []
    derived = used.loc[used[column].isna(), RUN].drop_duplicates()
    texts = pd.concat([used[column], every.merge(derived, on=RUN)[column]])
    return sorted(filter(None, texts.dropna().unique()))


def explain_not_run(artifact: str, datasets: Sequence[str], run: Collection[str]) -> str:
    """Why a claim about data sets has no runs, where ``run`` are the data sets that were run."""
    missing = [name for name in datasets if name not in run]
    if len(missing) == len(datasets):
        return f"nothing was run of {artifact}"
    return f"not run on {', '.join(missing)}" if missing else "own and substitute data are not judged together"


def explain_no_interval(statement: Group) -> str:
    """Which contrast decides nothing as nothing varies; empty where all have intervals."""
    exact = [
        contrast.label
        for contrast in contrasts_of(statement)
        if not contrast.has_interval and contrast.estimate != contrast.margin
    ]
    return f"the same from all seeds, and no noise of test data is known: {exact[0]}" if exact else ""
