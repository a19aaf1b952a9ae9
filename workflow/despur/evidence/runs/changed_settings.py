"""In which settings a run differs from those that its paper folder states."""

import re
from functools import cache

from despur.orchestration.experiments import ArtifactRun, list_specifications, load_experiments
from despur.specs.names import parse, split_stage
from despur.specs.resolution import resolve
from despur.specs.settings import spell
from despur.specs.spec import Spec
from despur.specs.stages import STAGES

KEPT = {"snapshots", "selections"}  # settings of what a run keeps besides


def name_data(artifact_run: ArtifactRun, data: str) -> str:
    """The name of a run's data; where each seed has a draw of its own, without the draw."""
    return re.sub(r"\+draw=\d+", "", data) if "draw=seed" in artifact_run.dataset else data


def name_run(artifact_run: ArtifactRun, key: str) -> tuple[str, str, str, int]:
    """What rows of metrics call the run of a key, ``cmnist+draw=1/erm/s1``: ``used_dataset``, ``data``, ``method``,
    ``seed``."""
    data, method, seed = key.split("/")
    return artifact_run.dataset, name_data(artifact_run, data), method, int(seed.removeprefix("s"))


def describe_changes(artifact_run: ArtifactRun, data: str, method: str) -> str:
    """The settings, ``size=64;epochs=1``, in which a run differs from its paper folder and its data set's file.

    A method is compared with the point of the paper folder that has the fewest different settings.
    ``draw``, what is :data:`KEPT` besides and the paper's ``accepted_variants`` may differ. Of a component that the
    paper does not use, such as another encoder, only what the name of the method says is told, not its defaults."""
    if not artifact_run.paper or artifact_run.substitute:
        return ""
    named = method.split("+")
    items = _changed_data(artifact_run, data) + [
        f"{key}={value}"
        for key, value, of_paper in list_changed_settings(artifact_run, data, method)
        if of_paper is not None or f"{key}={value}" in named
    ]
    return ";".join(item for item in items if not is_accepted(artifact_run, item))


def describe_shortening(artifact_run: ArtifactRun, data: str, method: str) -> str:
    """The settings that count epochs or steps, ``epochs=1 instead of 300``, of which a run has fewer than its paper
    folder states."""
    if not artifact_run.paper or artifact_run.substitute:
        return ""
    fewer = [
        f"{key}={value} instead of {of_paper}"
        for key, value, of_paper in list_changed_settings(artifact_run, data, method)
        if counts_training(key)
        and of_paper is not None
        and float(value) < float(of_paper)
        and not is_accepted(artifact_run, f"{key}={value}")
    ]
    return ", ".join(fewer)


def counts_training(key: str) -> bool:
    """Whether a setting counts epochs or steps: ``epochs``, ``stage1.epochs``, ``finetune_epochs``."""
    return key.rpartition(".")[2].rpartition("_")[2] in ("epochs", "steps")


def is_accepted(artifact_run: ArtifactRun, item: str) -> bool:
    """Whether a changed setting, ``colors=released``, is a variant that the paper folder accepts."""
    return item in load_experiments(artifact_run.paper).get("accepted_variants", [])


@cache
def list_changed_settings(artifact_run: ArtifactRun, data: str, method: str) -> list[tuple[str, str, str | None]]:
    """(key, value, the paper folder's value) of the settings in which a method differs from the nearest of the points
    that the paper folder states; None where that point lacks the setting."""
    stage, base = artifact_run.result.stage, parse(data)[0]
    settings, *others = [
        point for text in (method, *list_stated(artifact_run)) for point in list_points(stage, text, base)
    ]
    kept = {key: value for key, value in settings.items() if key not in KEPT}
    differing = (
        [(key, value, other.get(key)) for key, value in kept.items() if value != other.get(key)] for other in others
    )
    return min(differing, key=len, default=[])


def _changed_data(artifact_run: ArtifactRun, data: str) -> list[str]:
    """Settings of a data set that are neither those that the paper folder states, nor else their default, nor varied by
    the artifact, nor part of the data set's name in the paper."""
    experiments = load_experiments(artifact_run.paper)
    paper_settings = _settings_of(experiments.get("data", {}).get(artifact_run.paper_dataset))
    varied = _settings_of(experiments["artifacts"][artifact_run.artifact].get("data"))
    (point,) = resolve("datasets", data).points
    data_settings = {key: spell(point.value(key)) for key in paper_settings} | point.changes
    return [
        f"{key}={value}"
        for key, value in data_settings.items()
        if key != "draw"
        and value not in (*varied.get(key, ()), *paper_settings.get(key, ()))
        and artifact_run.paper_dataset != f"{point.base_name}_{value}"
    ]


def _settings_of(text: str | None) -> dict[str, list[str]]:
    """``p_corr=0.5~0.9`` as a mapping of keys to values."""
    return parse(f"data+{text}")[1] if text else {}


def list_stated(artifact_run: ArtifactRun) -> list[str]:
    """The specifications of a run's method in its paper folder. For a name that the folder does not have (one job for
    several methods): all specifications."""
    experiments = load_experiments(artifact_run.paper)
    artifact_methods = experiments["artifacts"][artifact_run.artifact].get("methods", [])
    named = artifact_methods if isinstance(artifact_methods, dict) else experiments["methods"]
    every = [*experiments["methods"].values(), *named.values()]
    entries = [named[artifact_run.paper_method]] if artifact_run.paper_method in named else every
    texts = [text for entry in entries for text in list_specifications(entry, artifact_run.paper_dataset)]
    stage = artifact_run.result.stage
    return [name for of_stage, name in map(split_stage, texts) if of_stage == stage]


@cache
def list_points(stage: str, text: str, data: str) -> list[dict[str, str]]:
    """Every setting of each point of a method on a data set."""
    points = resolve(STAGES[stage].components, text, data, STAGES[stage].part).points
    return [{"method": point.base_name, **list_values(point)} for point in points]


def list_values(spec: Spec, prefix: str = "") -> dict[str, str]:
    """Every setting of a specification and of its components, with dotted keys, as in names."""
    values = {prefix + key: spell(value) for key, value in spec.settings.items()}
    return values | {
        key: value
        for part, below in spec.components.items()
        for key, value in list_values(below, f"{prefix}{part}.").items()
    }
