"""What the paper's sentences speak of: runs under the paper's names, shares of parameters, the Lipschitz constant, the
data."""

from collections.abc import Sequence
from functools import cache, partial

import pandas as pd

from despur.evidence.runs.artifact_metrics import rows_where
from despur.evidence.runs.changed_settings import name_run
from despur.evidence.runs.data_counts import measure_data
from despur.evidence.runs.run_files import NotRun, find_run, load_abouts, load_upstream
from despur.metrics.lipschitz import product_bound, sampled_bound
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters.merged_tables import MODELS, load_runs
from despur.papers.adapters.method_names import FULL, IMAGES, LARGER, identify
from despur.specs.names import drop_setting, parse
from despur.specs.paths import locate_result
from despur.storage.containers import Container


@cache
def count_samples(data: str) -> float:
    """Training samples that ``scene_digits+samples=100`` has: 100; 0 for all."""
    return float(parse(data)[1].get("samples", ["0"])[0])


def load_sentence_metrics(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics of all artifacts, and what is counted and computed beside them."""
    metrics = load_runs(artifact_runs, resampled=False)[0]
    if len(metrics):
        metrics = mark_main_models(metrics.assign(**{"data.samples": metrics["data"].map(count_samples)}))
        shares = add_shares(metrics, find_foundation_model_shares(artifact_runs))
        computed = [rows for rows in (shares, bound_constant(metrics, artifact_runs)) if len(rows)]
        metrics = pd.concat([metrics, *computed], ignore_index=True)
    table = pd.concat([metrics, measure_data(artifact_runs)], ignore_index=True)
    return table.assign(used_dataset=table["used_dataset"].map(partial(drop_setting, key="samples"))), pd.DataFrame()


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
    printed = {"paper_dataset": "waterbirds", "paper_method": "contrastive_adapter", "artifact": "table_3"}
    row = rows_where(metrics, main_model=True, **printed)[:1].assign(group="", split="test", selection="best")
    bounds = {"sampled_lipschitz_bound": low, "lipschitz_constant": high}
    return pd.concat([row.assign(metric=name, value=value) for name, value in bounds.items()])


def find_foundation_model_shares(artifact_runs: Sequence[ArtifactRun]) -> dict[tuple[str, str, str, int], float]:
    """By run, as rows of metrics call it, the parameters that a contrastive adapter trains, as a share of those of its
    foundation model (of a bundled model: of its own trained parameters)."""
    shares = {}
    for artifact_run in (run for run in artifact_runs if run.paper_method.startswith("contrastive_adapter")):
        upstream = load_upstream(artifact_run)
        for key, about in load_abouts(artifact_run).items():
            model = upstream[key].get(f"stage1/{find_run(key).find_upstream_key('stage1')}", {})
            size = model.get("model_parameters", model.get("trained_parameters"))
            if size is not None:
                shares[name_run(artifact_run, key)] = about["trained_parameters"] / size
    return shares


def bound_lipschitz_constant(artifact_runs: Sequence[ArtifactRun]) -> tuple[float, float]:
    """Sampled lower and product upper bound of the first seed's contrastive adapter on the larger model, on Waterbirds
    or its substitute."""
    printed = ("waterbirds", "contrastive_adapter", "table_3")
    asked = [run for run in artifact_runs if (run.paper_dataset, run.paper_method, run.artifact) == printed]
    results = [locate_result(folder) for artifact_run in asked for folder in artifact_run.folders]
    here = [each for each in results if (each.folder / "models.safetensors").exists()]  # not measured elsewhere
    for result, run in ((each, run) for each in here for run in each.runs()):
        if identify("contrastive_adapter", run.spec.name, run.data.name)[:2] == ("contrastive_adapter", LARGER):
            (source,) = result.upstream("stage1")
            kept = Container(result.folder / "models.safetensors").load_arrays(f"{run.key}/best")
            weights = {key.removeprefix("encoder."): value for key, value in kept.items()}
            outputs = Container(source.folder / "outputs.safetensors")
            z = outputs[f"{run.find_upstream_key('stage1')}/last/z"].astype(float)
            return sampled_bound(weights, z), product_bound(weights)
    raise NotRun("the contrastive adapter was not run on Waterbirds")
