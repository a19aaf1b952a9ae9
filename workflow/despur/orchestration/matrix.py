"""The cross-paper matrix: which runs it compares. No torch, no pandas.

The configuration's ``matrix`` names one data set, ``data``, the ``seeds`` (default: those of the whole run) and
``methods`` to run besides those that papers run on this data with these seeds anyway: names, as a paper prints them,
and their specifications. With ``criterion``, by which the best steps of all methods are selected, there are only
these."""

from collections.abc import Mapping
from typing import Any

from despur.orchestration import experiments, paper_folders
from despur.orchestration.artifact_files import find_module, list_run_inputs
from despur.orchestration.experiments import RESULTS, ArtifactRun
from despur.specs.hyperparameters import RULES
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve, resolve_canonical
from despur.specs.settings import SettingError

KINDS = ("metrics", "resamples", "about")  # of a run's files


def list_artifact_runs(config: Mapping[str, Any]) -> list[ArtifactRun]:
    """The runs of each method: those that papers run, in their order, then the further ones; none without a ``matrix``.

    Of several names of one run, and of several runs that papers call by one name, the first stays; a sweep of several
    points is no method. Raises SettingError for a further method that has the name of another run."""
    if not (matrix := config.get("matrix")):
        return []
    data, seeds = resolve_canonical("datasets", matrix["data"]).name, matrix.get("seeds", config["seeds"])
    names: dict[tuple[str, ...], str] = {}
    for artifact_run in () if "criterion" in matrix else experiments.list_runs_of_papers(config):
        result = locate_result(artifact_run.folders[0])
        one_run = artifact_run.dataset == data and result.stage == "runs" and "~" not in result.name
        if one_run and artifact_run.folders == experiments.list_run_folders(data, result.name, seeds):
            names.setdefault(artifact_run.folders, artifact_run.paper_method)
    methods: dict[str, tuple[str, ...]] = {}
    for folders, method in names.items():
        methods.setdefault(method, folders)
    for method, name in list_methods(matrix).items():
        folders = experiments.list_run_folders(data, name, seeds)
        if folders not in methods.values() and methods.setdefault(method, folders) != folders:
            raise SettingError(
                f"matrix.methods.{method}={name}: papers of this configuration have another run of this name, "
                f"{locate_result(methods[method][0]).name}: call yours otherwise"
            )
    return [ArtifactRun(data, data, method, folders, "matrix") for method, folders in methods.items()]


def list_methods(matrix: Mapping[str, Any]) -> dict[str, str]:
    """The further methods of a configuration's ``matrix``. Its ``criterion`` is added to each that selects a step, or
    that reads a stage-1 model which does, unless its name has one."""
    methods, data = matrix.get("methods", {}), parse(matrix["data"])[0]
    if not (criterion := matrix.get("criterion")):
        return dict(methods)
    return {method: add_criterion(name, data, criterion) for method, name in methods.items()}


def add_criterion(name: str, data: str, criterion: str) -> str:
    """The specification of a method with a criterion. With one that reads no attribute, equal steps are not parted by
    the worst group either."""
    point, named = resolve("methods", name, data).points[0], parse(name)[1]
    stated = {"criterion": criterion} | ({} if criterion == RULES[0] else {"ties": "first"})
    models = {"": point, "stage1.": point.components.get("stage1")}
    added = [
        f"{prefix}{key}={value}"
        for prefix, model in models.items()
        for key, value in stated.items()
        if model and "criterion" in model.settings and f"{prefix}criterion" not in named
    ]
    return "+".join([name, *added])


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
    name = locate_result(artifact_run.folders[0]).name
    return [
        paper
        for paper in paper_folders.list_papers()
        if (paper_methods := experiments.load_experiments(paper)["methods"]).keys() & {artifact_run.paper_method}
        or name in paper_methods.values()
    ]
