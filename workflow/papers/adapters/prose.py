"""The numbers that the paper states in sentences: gains, gaps, shares of trained parameters, the Lipschitz constant."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import named
import numpy as np
import pandas as pd

from despur.metrics.lipschitz import product_bound, sampled_bound
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.printed import printed_settings
from despur.reporting.tables import COLUMNS
from despur.specs.paths import ResultPath, locate
from despur.storage.containers import Container
from despur.storage.store import load_dataset

WORST, AVERAGE, GAP = "worst_group_accuracy", "average_accuracy", "gap"
FOUR = ("waterbirds", "celeba", "breeds_living17", "cifar10_02")
NINE = (*FOUR, "civilcomments", "amazon", "breeds_nonliving26", "breeds_entity13", "breeds_entity30")  # assumed: README
EVERYWHERE = {"all": NINE, "all_9": NINE, "representative_4": FOUR, "mean_of_4": FOUR}
BASELINES = {
    "best_single_component": ("adapter_hard_sampling_only", "adapter_contrastive_only"),
    "worst_prior_method": ("jtt",),
    "next_best": ("zero_shot", "group_prompt", "linear_probe", "adapter", "wise_ft", "dfr_subsample", "dfr_upsample"),
}
METHODS = {"linear_probe_or_adapter": ("linear_probe", "adapter")}
RANGES = {
    "bound",
    "models",
    "n_train",
    "backbone",
}  # a number with none of them is of CLIP RN-50, as its arithmetic in Tables 1, 3 and 6 is


class NotHere(LookupError):
    """A number that this run cannot give; the message says why."""


class Means:
    """Means over seeds, in percent, of test metrics under the paper's names."""

    def __init__(self, metrics: pd.DataFrame) -> None:
        test = metrics[(metrics["split"] == "test") & (metrics["selection"] == "best") & (metrics["group"] == "")]
        self.test = test

    def paper_datasets(self, known: Sequence[str], methods: Sequence[str]) -> list[str]:
        """The data sets that these methods were run on."""
        here = set(self.test.loc[self.test["paper_method"].isin(methods), "paper_dataset"])
        return [paper_dataset for paper_dataset in known if paper_dataset in here]

    def by_model(
        self, paper_datasets: Sequence[str], method: str, metric: str, settings: dict[str, str]
    ) -> "pd.Series[float]":
        """Percent of a method on each foundation model, mean over data sets. ``settings``: those of the printed number
        (model, table, number of training samples), which choose the rows."""
        rows, samples = self.test, settings.get("n_train", "")
        rows = rows[
            rows["paper_dataset"].isin(paper_datasets) & (rows["paper_method"] == method) & (rows["metric"] == metric)
        ]
        if method != "zero_shot":  # which is the same for all
            levels = pd.to_numeric(rows.get("data.samples", pd.Series(np.nan, rows.index))).fillna(0)
            rows = rows[levels == float(samples or 0)]
        artifact = "figure_5" if samples else f"table_{settings['table']}" if "table" in settings else ""
        rows = rows[rows["artifact"] == artifact] if artifact else rows
        if "backbone" in settings:
            rows = rows[
                rows["backbone"].isin([settings["backbone"], named.FULL])
                | ~rows["backbone"].str.startswith(named.IMAGES)
            ]
        means = (
            rows.groupby(["backbone", "paper_dataset"])["value"].mean().unstack().reindex(columns=list(paper_datasets))
        )
        if not len(found := 100 * means.dropna().mean(axis=1)):
            raise NotHere(
                f"{method} on {', '.join(paper_datasets)} was not run" + (f" with {samples} samples" if samples else "")
            )
        return found


def beside(base: "pd.Series[float]", model: str) -> float:
    """A baseline on the same foundation model, or the only value where either side has no foundation model."""
    if named.FULL in (model, *base.index) and len(base) == 1:
        return float(base.iloc[0])
    if model not in base:
        raise NotHere(f"the baseline was not run on {model}")
    return float(base[model])


def change(number: Any, settings: dict[str, str], means: Means, paper_datasets: Sequence[Sequence[str]]) -> list[float]:
    """By how much a method is better (or, with drop, increase, shortfall in the metric's name, worse) than a baseline
    on the same model, on each data set, or on means over some; of several baselines, than the best."""
    metric = GAP if number.metric.startswith("gap") else WORST
    sign = -1 if any(word in number.metric for word in ("drop", "shortfall", "gap_reduction")) else 1
    methods, baselines = (
        METHODS.get(number.method, (number.method,)),
        BASELINES.get(settings["baseline"], (settings["baseline"],)),
    )
    found = []
    for part in paper_datasets:
        ran = [
            name for name in baselines if means.paper_datasets(part, [name]) == list(part)
        ]  # not all data sets have group prompts
        bases = [means.by_model(part, name, metric, settings) for name in ran or baselines]
        for method in methods:
            own = means.by_model(part, method, metric, settings)
            found += [sign * (value - max(beside(base, str(model)) for base in bases)) for model, value in own.items()]
    return found


def measured(
    number: Any, settings: dict[str, str], means: Means, paper_datasets: Sequence[Sequence[str]]
) -> list[float]:
    """A metric of a method on each data set and model."""
    known = {"gap_max": GAP, "worst_group_accuracy_min": WORST, "trained_params_percent": "trained_params_share"}
    metric = known.get(number.metric, number.metric)
    return [value for part in paper_datasets for value in means.by_model(part, number.method, metric, settings)]


def trained_of(result: ResultPath) -> dict[str, dict[str, int]]:
    """The numbers of trained parameters of each run in a folder."""
    runs: dict[str, dict[str, int]] = json.loads((result.folder / "about.json").read_text())["runs"]
    return runs


def of_foundation_models(artifact_runs: Sequence[ArtifactRun]) -> list[float]:
    """Parameters that each contrastive adapter trains, in percent of those of its foundation model (of a bundled model:
    its own trained parameters)."""
    found = []
    for folder in sorted(
        {
            folder
            for artifact_run in artifact_runs
            if artifact_run.paper_method.startswith("contrastive_adapter")
            for folder in artifact_run.folders
        }
    ):
        result = locate(folder)
        own, models = (
            trained_of(result),
            {key: run for base in result.upstream("stage1") for key, run in trained_of(base).items()},
        )
        for run in result.runs():
            model = models[run.of("stage1")]
            found.append(
                100 * own[run.key]["trained_parameters"] / model.get("model_parameters", model["trained_parameters"])
            )
    if not found:
        raise NotHere("the contrastive adapter was not run")
    return found


def lipschitz(artifact_runs: Sequence[ArtifactRun]) -> tuple[float, float]:
    """Sampled lower and product upper bound of the first seed's contrastive adapter on the larger model, on Waterbirds
    or its substitute."""
    for artifact_run in artifact_runs:
        for folder in (
            artifact_run.folders
            if (artifact_run.paper_dataset, artifact_run.paper_method, artifact_run.artifact)
            == ("waterbirds", "contrastive_adapter", "table_3")
            else ()
        ):
            result = locate(folder)
            for run in result.runs():
                if named.identify(artifact_run.paper_method, run.spec.name, run.data.name)[:2] == (
                    "contrastive_adapter",
                    named.LARGER,
                ):
                    (source,) = result.upstream("stage1")
                    kept = Container(result.folder / "models.safetensors").under(f"{run.key}/best")
                    weights = {key.removeprefix("encoder."): value for key, value in kept.items()}
                    z = Container(source.folder / "outputs.safetensors")[f"{run.of('stage1')}/last/z"].astype(float)
                    return sampled_bound(weights, z), product_bound(weights)
    raise NotHere("the contrastive adapter was not run on Waterbirds")


def smallest_share(artifact_runs: Sequence[ArtifactRun], paper_dataset: str) -> float:
    """Percent of training samples in the smallest group (class x attribute)."""
    for artifact_run in artifact_runs:
        if artifact_run.paper_dataset == paper_dataset:
            result = locate(artifact_run.folders[0])
            dataset = load_dataset(result.data.folder, result.runs()[0].data.name)
            return float(100 * dataset.class_attribute_groups[dataset.rows("train")].mean(axis=0).min())
    raise NotHere(f"no data set is used for {paper_dataset}")


def ours(number: Any, artifact_runs: Sequence[ArtifactRun], means: Means) -> dict[str, Any]:
    """Our number, the largest or smallest over data sets where the paper's is; raises NotHere."""
    settings = printed_settings(number.setting)
    if number.method == "ssa":
        settings["n_train"] = "100"  # by context (Sec. 5.3): the sentence does not repeat it
    if not RANGES & set(settings):
        settings["backbone"] = named.LARGER
    if number.metric == "lipschitz_constant":
        low, high = lipschitz(artifact_runs)
        return {"ours": high, "reason": f"product bound; the sampled lower bound is {low:.3g}"}
    if number.metric == "smallest_group_fraction":
        return {"ours": smallest_share(artifact_runs, number.dataset), "reason": ""}
    paper_datasets = means.paper_datasets(
        EVERYWHERE.get(number.dataset, [number.dataset]), METHODS.get(number.method, [number.method])
    )
    if not paper_datasets:
        raise NotHere(f"{number.method} on {number.dataset} was not run")
    if settings.get("quantity") == "share_of_fm_params":
        values = of_foundation_models(artifact_runs)
    else:
        measure: Callable[..., list[float]] = (
            change if "baseline" in settings and number.metric not in (GAP, AVERAGE) else measured
        )
        values = measure(
            number,
            settings,
            means,
            [paper_datasets]
            if number.dataset == "mean_of_4"
            else [[paper_dataset] for paper_dataset in paper_datasets],
        )
    reduce = min if settings.get("bound") == "min" or number.metric.endswith("_min") else max
    return {
        "ours": float(reduce(values)),
        "reason": f"over {', '.join(paper_datasets)}" if number.dataset in EVERYWHERE else "",
    }


def prose(printed: pd.DataFrame, artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """A row for each printed number, with the reason where there is none. There are no verdicts here: the tables have
    them for the numbers that they print."""
    metrics = named.load(artifact_runs, resampled=False)[0]
    means = Means(metrics) if len(metrics) else None
    substitute = any(artifact_run.substitute for artifact_run in artifact_runs)
    rows = []
    for number in printed.itertuples():
        base = {
            "paper_dataset": number.dataset,
            "method": number.method,
            "setting": number.setting,
            "metric": number.metric,
            "reported": number.mean,
            "reported_std": number.std,
            "note": number.note,
            "seeds": 0,
            "verdict": "not run here",
            "reason": "nothing was run",
        }
        try:
            if means is not None:
                found = ours(number, artifact_runs, means)
                own = {
                    "seeds": metrics["seed"].nunique(),
                    "verdict": "substitute data: not compared" if substitute else "see tables",
                }
                base |= found | own | ({} if substitute else {"difference": found["ours"] - number.mean})
        except NotHere as reason:
            base["reason"] = str(reason)
        rows.append(base)
    return pd.DataFrame(rows, columns=[*COLUMNS, "reason"])
