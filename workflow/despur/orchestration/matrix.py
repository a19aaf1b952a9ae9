"""The cross-paper matrix: which runs it compares. No torch, no pandas.

The configuration's ``matrix`` names one data set, ``data``, the ``seeds`` (default: those of the whole run) and
``methods`` to run besides those that papers run on this data with these seeds anyway: names, as a paper prints them,
and their specifications. With ``settings``, which all of them get, there are only these."""

from collections.abc import Mapping
from typing import Any

from despur.orchestration import experiments, paper_folders
from despur.orchestration.artifact_files import find_module, list_run_inputs
from despur.orchestration.configuration_files import within
from despur.orchestration.experiments import RESULTS, ArtifactRun
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve, resolve_canonical
from despur.specs.settings import SettingError, spell
from despur.specs.spec import Spec

KINDS = ("metrics", "resamples", "about")  # of a run's files


def list_artifact_runs(config: Mapping[str, Any]) -> list[ArtifactRun]:
    """The runs of each method: those that papers run, in their order, then the further ones; none without a ``matrix``.

    Of the names that papers give to one run, and of the runs that papers call by one name, the first stays; a sweep of
    several points is no method. Raises SettingError for a further method that has the name or the run of another."""
    if not (matrix := config.get("matrix")):
        return []
    data, seeds = resolve_canonical("datasets", matrix["data"]).name, matrix.get("seeds", config["seeds"])
    names: dict[tuple[str, ...], str] = {}
    for artifact_run in () if matrix.get("settings") else experiments.list_runs_of_papers(config):
        result = artifact_run.result
        one_run = artifact_run.dataset == data and result.stage == "runs" and "~" not in result.name
        if one_run and artifact_run.folders == experiments.list_run_folders(data, result.name, seeds):
            names.setdefault(artifact_run.folders, artifact_run.paper_method)
    methods: dict[str, tuple[str, ...]] = {}
    for folders, method in names.items():
        methods.setdefault(method, folders)
    for method, name in list_methods(matrix).items():
        folders = experiments.list_run_folders(data, name, seeds)
        if methods.setdefault(method, folders) != folders:
            raise SettingError(
                f"matrix.methods.{method}={name}: papers of this configuration have another run of this name, "
                f"{locate_result(methods[method][0]).name}: call yours otherwise"
            )
        if same := [other for other in methods if other != method and methods[other] == folders]:
            raise SettingError(
                f"matrix.methods.{method}={name}: is the run of {same[0]}, too: leave one of them out. Methods of "
                "config.yaml count; to leave them out, write papers: [] and datasets: {}"
            )
    return [ArtifactRun(data, data, method, folders, "matrix") for method, folders in methods.items()]


def list_methods(matrix: Mapping[str, Any]) -> dict[str, str]:
    """The further methods of a configuration's ``matrix``, with its ``settings``. Raises SettingError for a setting
    that none of them has."""
    methods, settings = matrix.get("methods", {}), matrix.get("settings", {})
    if not settings:
        return dict(methods)
    data, added = parse(matrix["data"])[0], {}
    for method, name in methods.items():
        with within(f"matrix.settings, on {method}"):
            added[method] = add_settings(name, data, settings)
            resolve("methods", added[method], data)
    named = {key for name in added.values() for key in parse(name)[1]}
    for key in settings:
        if not named & {key, f"stage1.{key}"}:
            raise SettingError(f"matrix.settings.{key}: no method of matrix.methods has this setting")
    return added


def add_settings(name: str, data: str, settings: Mapping[str, Any]) -> str:
    """The specification of a method with further settings: each is the method's and its stage-1 model's, where they
    have it and the name does not set it. That from which groups are inferred gets the encoder alone: what else it has
    on a data set is for inferring groups."""
    point = resolve("methods", name, data).points[0]
    stage1, groups = point.components.get("stage1"), point.components.get("groups")
    inferring = groups.components.get("stage1") if groups else None
    models = (
        ("", point, settings),
        ("stage1.", stage1, settings),
        ("groups.stage1.", inferring, settings.keys() & {"encoder"}),
    )
    added = {
        f"{prefix}{key}": spell(settings[key])
        for prefix, model, keys in models
        for key in keys
        if model and has_setting(model, key)
    }
    named = {prefix + key for key in parse(name)[1] for prefix in ("", "groups.")}
    return "+".join([name, *(f"{key}={value}" for key, value in added.items() if key not in named)])


def has_setting(model: Spec, key: str) -> bool:
    """Whether a method has a setting, or the component whose setting it is (``encoder.width``)."""
    return key in model.settings or key.partition(".")[0] in model.components


def list_inputs(config: Mapping[str, Any]) -> list[str]:
    """Every file that the matrix reads."""
    return [
        str(file)
        for artifact_run in list_artifact_runs(config)
        for folder in artifact_run.folders
        for file in list_run_inputs(locate_result(folder), KINDS)
    ]


def list_outputs(config: Mapping[str, Any]) -> list[str]:
    """The files of the matrix; what the report shows comes first. None without a ``matrix``, or where no method runs on
    its data with its seeds."""
    kinds = find_module("figure")[1] if list_artifact_runs(config) else ()
    return [f"{config.get('outputs', RESULTS)}/matrix.{kind}" for kind in kinds]


def list_papers(artifact_run: ArtifactRun) -> list[str]:
    """The papers that print a method, by its name or as the same runs."""
    name = artifact_run.result.name
    return [
        paper
        for paper in paper_folders.list_papers()
        if (paper_methods := experiments.load_experiments(paper)["methods"]).keys() & {artifact_run.paper_method}
        or name in paper_methods.values()
    ]
