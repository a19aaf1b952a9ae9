"""Numbers of the text that are counted or computed from weights, not measured on test data."""

import json
from collections.abc import Sequence

import named
from measured import NotHere

from despur.metrics.lipschitz import product_bound, sampled_bound
from despur.orchestration.experiments import ArtifactRun
from despur.specs.paths import ResultPath, locate
from despur.storage.containers import Container
from despur.storage.store import load_dataset


def read_trained(result: ResultPath) -> dict[str, dict[str, int]]:
    """The numbers of trained parameters of each run in a folder."""
    runs: dict[str, dict[str, int]] = json.loads((result.folder / "about.json").read_text())["runs"]
    return runs


def measure_foundation_model_shares(artifact_runs: Sequence[ArtifactRun]) -> list[float]:
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
            read_trained(result),
            {key: run for base in result.upstream("stage1") for key, run in read_trained(base).items()},
        )
        for run in result.runs():
            model = models[run.of("stage1")]
            found.append(
                100 * own[run.key]["trained_parameters"] / model.get("model_parameters", model["trained_parameters"])
            )
    if not found:
        raise NotHere("the contrastive adapter was not run")
    return found


def bound_lipschitz_constant(artifact_runs: Sequence[ArtifactRun]) -> tuple[float, float]:
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


def measure_smallest_group(artifact_runs: Sequence[ArtifactRun], paper_dataset: str) -> float:
    """Percent of training samples in the smallest group (class x attribute)."""
    for artifact_run in artifact_runs:
        if artifact_run.paper_dataset == paper_dataset:
            result = locate(artifact_run.folders[0])
            dataset = load_dataset(result.data.folder, result.runs()[0].data.name)
            return float(100 * dataset.class_attribute_groups[dataset.rows("train")].mean(axis=0).min())
    raise NotHere(f"no data set is used for {paper_dataset}")
