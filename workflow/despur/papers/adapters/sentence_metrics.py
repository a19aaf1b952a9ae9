"""What the paper's sentences speak of: runs under the paper's names, shares of parameters, the Lipschitz constant, the
data."""

from collections.abc import Sequence
from functools import cache, partial

import pandas as pd

from despur.evidence.runs.data_counts import measure_data
from despur.evidence.runs.run_files import NotRun
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters.counted_numbers import bound_lipschitz_constant, find_foundation_model_shares
from despur.papers.adapters.derived_metrics import MODELS
from despur.papers.adapters.merged_tables import load_runs
from despur.papers.adapters.method_names import FULL, IMAGES, LARGER
from despur.specs.names import drop_setting, parse


@cache
def count_samples(data: str) -> float:
    """Training samples that ``scene_digits+samples=100`` has: 100; 0 for all."""
    return float(parse(data)[1].get("samples", ["0"])[0])


def load_sentence_metrics(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Metrics of all artifacts, and what is counted and computed beside them."""
    metrics = load_runs(artifact_runs, resampled=False)[0]
    if len(metrics):
        metrics = mark_main_models(metrics.assign(**{"data.samples": metrics["data"].map(count_samples)}))
        shares = add_shares(metrics, find_foundation_model_shares(artifact_runs))
        computed = [rows for rows in (shares, bound_constant(metrics, artifact_runs)) if len(rows)]
        metrics = pd.concat([metrics, *computed], ignore_index=True)
    table = pd.concat([metrics, measure_data(artifact_runs)], ignore_index=True)
    return table.assign(used_dataset=table["used_dataset"].map(partial(drop_setting, key="samples")))


def mark_main_models(metrics: pd.DataFrame) -> pd.DataFrame:
    """With ``main_model``: whether a run is of CLIP RN-50, of which sentences speak that name no model (the arithmetic
    of Tables 1, 3 and 6 says so), or has no such choice: a network that is trained as a whole, a model of texts."""
    main = metrics["backbone"].isin([LARGER, FULL]) | ~metrics["backbone"].str.startswith(IMAGES)
    return metrics.assign(main_model=main)


def add_shares(metrics: pd.DataFrame, shares: dict[tuple[str, str, str, int], float]) -> pd.DataFrame:
    """``foundation_model_share`` of each run that has one."""
    runs = metrics[metrics["paper_method"] == "contrastive_adapter"].drop_duplicates(MODELS)
    keys = runs[["used_dataset", "data", "method", "seed"]].itertuples(index=False, name=None)
    named = {"metric": "foundation_model_share", "group": "", "split": "test", "selection": "best"}
    return runs.assign(**named, value=[shares.get(key) for key in keys]).dropna(subset="value")


def bound_constant(metrics: pd.DataFrame, artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """``lipschitz_constant``, its product bound, and ``sampled_lipschitz_bound``, of the contrastive adapter on
    Waterbirds; nothing where its weights are not here."""
    try:
        low, high = bound_lipschitz_constant(artifact_runs)
    except NotRun:
        return metrics[:0]
    rows = metrics[(metrics["paper_dataset"] == "waterbirds") & (metrics["paper_method"] == "contrastive_adapter")]
    row = rows[(rows["artifact"] == "table_3") & rows["main_model"]][:1].assign(
        group="", split="test", selection="best"
    )
    bounds = {"sampled_lipschitz_bound": low, "lipschitz_constant": high}
    return pd.concat([row.assign(metric=name, value=value) for name, value in bounds.items()])
