"""Numbers of the text that are counted or computed from weights, not measured on test data."""

from collections.abc import Sequence

from despur.evidence.runs.changed_settings import name_run
from despur.evidence.runs.run_files import NotRun, find_run, load_abouts, load_upstream
from despur.metrics.lipschitz import product_bound, sampled_bound
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters import method_names
from despur.specs.paths import locate_result
from despur.storage.containers import Container


def find_foundation_model_shares(artifact_runs: Sequence[ArtifactRun]) -> dict[tuple[str, str, str, int], float]:
    """By run, as rows of metrics call it, the parameters that a contrastive adapter trains, as a share of those of its
    foundation model (of a bundled model: of its own trained parameters)."""
    shares = {}
    for artifact_run in (run for run in artifact_runs if run.paper_method.startswith("contrastive_adapter")):
        upstream = load_upstream([artifact_run])
        for key, about in load_abouts([artifact_run]).items():
            model = upstream[key].get(f"stage1/{find_run(key).find_upstream_key('stage1')}", {})
            size = model.get("model_parameters", model.get("trained_parameters"))
            if size is not None:
                shares[name_run(artifact_run, key)] = about["trained_parameters"] / size
    return shares


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
            result = locate_result(folder)
            if not (result.folder / "models.safetensors").exists():
                continue  # it was measured elsewhere
            for run in result.runs():
                if method_names.identify(artifact_run.paper_method, run.spec.name, run.data.name)[:2] == (
                    "contrastive_adapter",
                    method_names.LARGER,
                ):
                    (source,) = result.upstream("stage1")
                    kept = Container(result.folder / "models.safetensors").load_arrays(f"{run.key}/best")
                    weights = {key.removeprefix("encoder."): value for key, value in kept.items()}
                    z = Container(source.folder / "outputs.safetensors")[
                        f"{run.find_upstream_key('stage1')}/last/z"
                    ].astype(float)
                    return sampled_bound(weights, z), product_bound(weights)
    raise NotRun("the contrastive adapter was not run on Waterbirds")
