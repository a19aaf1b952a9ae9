"""The runs of a sweep with their settings, the selection among them, and the paper's names of what they measure."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import pandas as pd

from despur.evidence.runs.artifact_metrics import keep_candidates, load_metrics, rows_where
from despur.orchestration.experiments import ArtifactRun
from despur.specs.names import drop_setting, parse
from despur.specs.resolution import resolve
from despur.storage.finished_runs import list_bootstrap_columns

SHARES = {"8 labels": "1%", "40 labels": "10%", "all labels": "100%"}  # domain_digits' names of the paper's shares
without_sigma = partial(drop_setting, key="sigma")  # of the name of a data set: sigma is a column
FRACTIONS = {"1%": 0.01, "10%": 0.1, "100%": 1.0}
NUMBERS = ("temperature", "weight", "tau_alpha", "tau_beta", "tau_min", "projector_dim", "epochs")
NAMES = ("discriminator", "projector", "negatives")
# A setting is selected among the runs that agree in these columns.
FAMILY = ["paper_dataset", "used_dataset", "data", "substitute", "paper_method", "sigma", "discriminator", "projector"]
# The split and the metric that a rule selects by. The first is the paper's; "oracle" reads test data, to show what
# selection costs.
RULES = {
    "validation": ("val", "probe_accuracy"),
    "held_out_domain": ("train", "probe_accuracy_held_out_domain"),
    "oracle": ("test_ood", "probe_accuracy"),
}
PRINTED = {  # the paper's accuracies: our split and metric
    "test_ood_accuracy": ("test_ood", "probe_accuracy"),
    "test_id_accuracy": ("test_id", "probe_accuracy"),
    "domain_test_id_accuracy": ("test_id", "domain_accuracy"),
    "validation_accuracy": ("val", "probe_accuracy"),
}
SPLITS = {name: split for name, (split, _) in PRINTED.items()}


@cache
def read_settings(data: str, method: str) -> dict[str, Any]:
    """The settings that tables, figures and claims refer to by name, whether a sweep varies them or not."""
    base = parse(data)[0]
    settings = resolve("methods", method, base).points[0].settings
    numbers = {key: float(settings.get(key, "nan")) for key in NUMBERS}
    sigma = resolve("datasets", data).points[0].settings.get("sigma", float("nan"))
    return {"sigma": sigma, **numbers, **{key: settings.get(key, "") for key in NAMES}}


def load_runs(
    artifact_runs: Sequence[ArtifactRun], read: Callable[[Sequence[ArtifactRun]], pd.DataFrame] = load_metrics
) -> pd.DataFrame:
    """What ``read`` gives of the last epoch's models ("best": nothing selects among epochs), with a column for each
    setting.

    Shares of labels have the paper's names; ``used_dataset`` is the data set without sigma, which is a column."""
    table = rows_where(read(artifact_runs), selection="best")
    if not len(table):
        columns = [*table.columns, "method", "group", "metric", *FAMILY, *NUMBERS, *NAMES]
        return pd.DataFrame(columns=list(dict.fromkeys(columns)))
    settings = pd.DataFrame([*map(read_settings, table["data"], table["method"])], index=table.index)
    without = table["used_dataset"].map(without_sigma)
    return table.assign(**settings, group=table["group"].replace(SHARES), used_dataset=without)


def select_settings(metrics: pd.DataFrame, rule: str = "validation") -> pd.DataFrame:
    """The setting of each family with the best mean score over seeds at the smallest share of labels: FAMILY,
    ``method``, ``score``.

    It reads the rule's split alone, of candidates (:func:`keep_candidates`). Of equal
    settings the first of the sweep is taken.
    """
    split, metric = RULES[rule]
    validation = rows_where(keep_candidates(metrics, FAMILY), split=split, metric=metric, group="1%")
    scores = validation.groupby([*FAMILY, "method"], sort=False)["value"].mean().dropna().rename("score").reset_index()
    return scores.loc[scores.groupby(FAMILY, sort=False)["score"].idxmax()].reset_index(drop=True)


def keep_selected(table: pd.DataFrame, selected: pd.DataFrame, rule: str = "validation") -> pd.DataFrame:
    """The rows of the selected settings, their ``selection`` named by the rule. ``table``: metrics or resamples."""
    return table.merge(selected[[*FAMILY, "method"]], on=[*FAMILY, "method"]).assign(selection=rule)


def is_selected(table: pd.DataFrame, selected: pd.DataFrame) -> Any:
    """Whether each row is of a selected setting, bool (N,)."""
    keys = [*FAMILY, "method"]
    return pd.MultiIndex.from_frame(table[keys]).isin(pd.MultiIndex.from_frame(selected[keys]))


def average_settings(table: pd.DataFrame, selection: str = "all_settings", *apart: str) -> pd.DataFrame:
    """Means over all settings of a family, seed by seed, as ``selection``; for each value of the settings kept
    ``apart`` its own. Of candidates alone (:func:`keep_candidates`)."""
    table = keep_candidates(table, FAMILY)
    values = list_bootstrap_columns(table) or ["value"]
    keys = [*FAMILY, *apart, "seed", "split", "metric", "group"]
    return table.groupby(keys, sort=False)[values].mean().reset_index().assign(selection=selection)


def rename_as_printed(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracies under the paper's names with their ``label_fraction``, for
    :func:`despur.evidence.numbers.tables.compare`; and sample sizes."""
    parts = [rows_where(table, metric="samples")]
    for name, (split, metric) in PRINTED.items():
        rows = rows_where(table, split=split, metric=metric)
        # the domain classifier sees all labels of domains; the paper prints it beside accuracies at 1 %
        fraction = 0.01 if metric == "domain_accuracy" else rows["group"].map(FRACTIONS)
        parts.append(rows.assign(metric=name, label_fraction=fraction, group=""))
    return pd.concat(parts).assign(selection="best").infer_objects()
