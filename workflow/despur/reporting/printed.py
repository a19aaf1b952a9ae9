"""Compares the settings of a printed number, ``p_corr=0.995;lambda=0.2``, with those of the run and of the paper
folder."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import pandas as pd

from despur.orchestration.experiments import ArtifactRun, list_specifications, load_experiments
from despur.specs.declarations import read_declarations
from despur.specs.names import parse
from despur.specs.paths import KINDS, locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import spell
from despur.specs.spec import Spec


def parse_settings(text: Any) -> dict[str, str]:
    """``p_corr=0.995;lambda=0.2`` as a mapping; empty text as none."""
    return {
        key.strip(): value.strip()
        for key, _, value in (item.partition("=") for item in str(text).split(";") if "=" in item)
    }


def at_settings(rows: pd.DataFrame, printed: Any) -> pd.DataFrame:
    """The rows at the printed values of settings: those that they vary (columns ``lambda``, ``data.p_corr``), and
    their method's own."""
    for key, value in parse_settings(printed).items():
        columns = [c for c in (key, f"data.{key}") if c in rows and rows[c].notna().any()]
        if columns:
            rows = rows[rows[columns[0]].map(lambda own, value=value: is_same(own, value))]
        elif len(rows):
            rows = rows[
                [
                    has_setting_value(method, data, key, value)
                    for method, data in zip(rows["method"], rows["data"], strict=True)
                ]
            ]
    return rows


@cache
def has_setting_value(method: str, data: str, key: str, value: str) -> bool:
    """Whether a method has a setting at this value; true for what is no setting of it."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    return key not in point.settings or is_same(spell(point.settings[key]), value)


def is_same(own: Any, printed: Any) -> bool:
    """Whether two spellings are of one value."""
    try:
        return float(own) == float(printed)
    except ValueError:
        return str(own) == str(printed)


def has_same_settings(printed: Any, data: str) -> bool:
    """Whether every point of a data set has the settings that identify a printed number (``p_corr=0.995``)."""
    sweep = resolve("datasets", data)
    known = read_declarations("datasets", sweep.base_name)["SETTINGS"]
    pairs = parse_settings(printed).items()
    return all(
        p.settings[key] == known[key].parse(key, value) for key, value in pairs if key in known for p in sweep.points
    )


def explain_not_compared(printed: Any, data: str, substitute: bool, changes: Mapping[str, str]) -> str:
    """The verdict on runs that are not at the data and settings of a printed number, with the reason. Empty for the
    paper's own data and settings."""
    if substitute:
        return "substitute data: not compared"
    others = ", ".join(f"{key}={value}" for key, value in sorted(changes.items()) if key not in parse_settings(printed))
    if others:
        return f"other settings ({others}): not compared"
    return "" if has_same_settings(printed, data) else "other settings: not compared"


def find_refusal(printed: Any, used: Iterable[tuple[str, bool]], metrics: pd.DataFrame) -> str:
    """Why a number of several runs is not compared; empty where all have the paper's data and settings. ``used``: each
    data set, and whether it is a substitute; ``metrics``: of these runs."""
    changed = {key: value for own in list_changes(metrics).values() for key, value in own.items()}
    refusals = (explain_not_compared(printed, data, bool(substitute), changed) for data, substitute in used)
    return next(filter(None, refusals), "")


def list_changes(metrics: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, str]]:
    """The changed settings of all runs, by data set of the paper, printed method and data. They also hold for metrics
    that are derived from these runs (a gap)."""
    keys = ["paper_dataset", "paper_method", "data"]
    if "changed" not in metrics:
        return {}
    found = metrics[[*keys, "changed"]].dropna().drop_duplicates()
    return {key: parse_settings(";".join(own["changed"])) for key, own in found.groupby(keys)}


def describe_changes(artifact_run: ArtifactRun, data: str, method: str) -> str:
    """The settings, ``size=64;epochs=1``, in which a run differs from its paper folder and its data set's file.

    A method is compared with the point of the paper folder that has the fewest different settings.
    ``draw``, ``snapshots`` and the paper's ``accepted_variants`` may differ."""
    if not artifact_run.paper or artifact_run.substitute:
        return ""
    own = [f"{key}={value}" for key, value, _ in list_changed_settings(artifact_run, data, method)]
    return ";".join(item for item in [*_changed_data(artifact_run, data), *own] if not is_accepted(artifact_run, item))


def describe_shortening(artifact_run: ArtifactRun, data: str, method: str) -> str:
    """The settings that count epochs or steps, ``epochs=1 instead of 300``, of which a run has fewer than its paper
    folder states."""
    if not artifact_run.paper or artifact_run.substitute:
        return ""
    fewer = [
        f"{key}={own} instead of {stated}"
        for key, own, stated in list_changed_settings(artifact_run, data, method)
        if counts_training(key)
        and stated is not None
        and float(own) < float(stated)
        and not is_accepted(artifact_run, f"{key}={own}")
    ]
    return ", ".join(fewer)


def counts_training(key: str) -> bool:
    """Whether a setting counts epochs or steps: ``epochs``, ``stage1.epochs``, ``finetune_epochs``."""
    return key.rpartition(".")[2].rpartition("_")[2] in ("epochs", "steps")


def is_accepted(artifact_run: ArtifactRun, item: str) -> bool:
    """Whether a changed setting, ``colors=released``, is a variant that the paper folder accepts."""
    return item in load_experiments(artifact_run.paper).get("accepted_variants", [])


def list_changed_settings(artifact_run: ArtifactRun, data: str, method: str) -> list[tuple[str, str, str | None]]:
    """(key, value, the paper folder's value) of the settings in which a method differs from the nearest of the points
    that the paper folder states; None where that point lacks the setting."""
    own, *others = [
        point for text in (method, *list_stated(artifact_run)) for point in _points(artifact_run, text, data)
    ]
    differing = [
        [(key, own[key], other.get(key)) for key in own if own[key] != other.get(key) and key != "snapshots"]
        for other in others
    ]
    return min(differing, key=len, default=[])


def _changed_data(artifact_run: ArtifactRun, data: str) -> list[str]:
    """Settings of a data set that are neither those that the paper folder states, nor else their default, nor varied by
    the artifact, nor part of the data set's name in the paper."""
    experiments = load_experiments(artifact_run.paper)
    stated = _settings_of(experiments.get("data", {}).get(artifact_run.paper_dataset))
    varied = _settings_of(experiments["artifacts"][artifact_run.artifact].get("data"))
    (point,) = resolve("datasets", data).points
    own = {key: spell(point.value(key)) for key in stated} | point.changes
    return [
        f"{key}={value}"
        for key, value in own.items()
        if key != "draw"
        and value not in (*varied.get(key, ()), *stated.get(key, ()))
        and artifact_run.paper_dataset != f"{point.base_name}_{value}"
    ]


def _settings_of(text: str | None) -> dict[str, list[str]]:
    """``p_corr=0.5~0.9`` as a mapping of keys to values."""
    return parse(f"data+{text}")[1] if text else {}


def list_stated(artifact_run: ArtifactRun) -> list[str]:
    """The specifications of a run's method in its paper folder. For a name that the folder does not have (one job for
    several methods): all specifications."""
    experiments = load_experiments(artifact_run.paper)
    own = experiments["artifacts"][artifact_run.artifact].get("methods", [])
    named = own if isinstance(own, dict) else experiments["methods"]
    known = (
        [named[artifact_run.paper_method]]
        if artifact_run.paper_method in named
        else [*experiments["methods"].values(), *named.values()]
    )
    texts = [text for one in known for text in list_specifications(one, artifact_run.paper_dataset)]
    return [
        text.rpartition("/")[2]
        for text in texts
        if (text.rpartition("/")[0] or "runs") == locate_result(artifact_run.folders[0]).stage
    ]


def _points(artifact_run: ArtifactRun, text: str, data: str) -> list[dict[str, str]]:
    """Every setting of each point of a method on a data set."""
    stage = locate_result(artifact_run.folders[0]).stage
    points = resolve(KINDS[stage], text, parse(data)[0], "" if stage == "runs" else stage).points
    return [{"method": point.base_name, **list_values(point)} for point in points]


def list_values(spec: Spec, prefix: str = "") -> dict[str, str]:
    """Every setting of a specification and of its components, with dotted keys, as in names."""
    own = {prefix + key: spell(value) for key, value in spec.settings.items()}
    return own | {
        key: value
        for part, below in spec.components.items()
        for key, value in list_values(below, f"{prefix}{part}.").items()
    }


def weighted_averages(table: pd.DataFrame, is_weighted: pd.Series) -> pd.DataFrame:
    """Rows of metrics with the average that weights groups by their training sizes in the place of the plain one,
    where ``is_weighted`` is true: some papers print that one."""
    kept = table[~(is_weighted & (table["metric"] == "average_accuracy"))]
    weighted = kept["metric"].replace("weighted_average_accuracy", "average_accuracy")
    return kept.assign(metric=kept["metric"].mask(is_weighted, weighted))
