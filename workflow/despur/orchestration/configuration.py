"""A configuration: how it is read, and what is wrong with it, said before any job starts. No torch, no pandas."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from despur.orchestration import experiments
from despur.orchestration.experiments import room
from despur.specs.names import unknown
from despur.specs.paths import chunks, locate
from despur.specs.resolution import canonical
from despur.specs.settings import SettingError


def read(file: Path) -> dict[str, Any]:
    """A configuration as Snakemake takes it: one that names papers and data sets stands alone, any other changes config.yaml."""
    own = yaml.safe_load(file.read_text()) or {}
    alone = {"papers", "datasets"} <= set(own)
    return {
        "seeds": 3,
        "outputs": str(experiments.RESULTS),
        **(own if alone else _merged(yaml.safe_load(Path("config.yaml").read_text()), own)),
    }


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged key by key, all else is replaced: as Snakemake does."""
    both = {
        key: _merged(first[key], new) for key, new in second.items() if isinstance(new, Mapping) and isinstance(first.get(key), Mapping)
    }
    return {**first, **second, **both}


def check_keys(config: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Refuse unknown keys and values of the wrong type or range; the message says what the key is for."""
    known = schema["properties"]
    for key in config:
        if key not in known:
            raise unknown("config key", key, known)
    error = best_match(Draft202012Validator(schema).iter_errors(dict(config)))
    if error is not None:
        named = str(next(iter(error.absolute_path), "missing"))
        purpose = f" ({named}: {known[named]['description'].strip()})" if named in known else ""
        raise SettingError(f"config key {named}: {error.message}{purpose}")


def check_target(config: Mapping[str, Any], path: Path) -> None:
    """Refuse a path of a paper or of a stage whose name, artifact or seeds cannot be, with a reason: Snakemake knows none."""
    paper = path.parent.name
    if path.parent.parent == Path(config["outputs"]) / "papers":
        known = {Path(file).stem for name in room(paper)["artifacts"] for file in experiments.outputs(config, paper, name)}
        if path.stem not in known:
            raise unknown(f"artifact of {paper}", path.stem, known)
    elif path.parts[:2] in [("results", stage) for stage in ("data", "stage1", "groups", "runs")]:
        result = locate(path)
        if not (result.datasets if result.stage == "data" else result.runs()) or path == result.folder:
            made = "metrics.csv" if result.stage == "runs" else "about.json"
            raise SettingError(f"{path} is a folder: ask for a file in it, {path / made}")


def check(config: Mapping[str, Any]) -> None:
    """Refuse papers, data sets and methods that do not exist; the message names the nearest that does."""
    asked = [room(paper) for paper in config["papers"]]
    roles, methods = ({name for here in asked for name in here[key]} for key in ("datasets", "methods"))
    _check_datasets(config, roles)
    try:
        chunks(config["seeds"], 1)
    except SettingError as error:
        raise SettingError(f"config key seeds: {error}") from None
    _check_methods(config, methods)
    _check_artifacts(config)


def _check_datasets(config: Mapping[str, Any], roles: set[str]) -> None:
    for role in config["datasets"]:
        if role not in roles:
            raise unknown("config key datasets: data set", role, roles)
        for name in experiments.players(config, role):
            canonical("datasets", name)


def _check_methods(config: Mapping[str, Any], methods: set[str]) -> None:
    """Of the whole run, and of a data set."""
    chosen = {"methods": config, **{f"datasets: {role}": cast for role, cast in config["datasets"].items() if isinstance(cast, Mapping)}}
    for key, holder in chosen.items():
        for method in holder.get("methods", []):
            if method not in methods:
                raise unknown(f"config key {key}: method", method, methods)


def _check_artifacts(config: Mapping[str, Any]) -> None:
    """Of an artifact that shows the runs of others, nothing can be changed."""
    for paper, changed in config.get("artifacts", {}).items():
        known = room(paper)["artifacts"]
        for artifact in changed:
            if artifact not in known:
                raise unknown(f"config key artifacts: artifact of {paper}", artifact, known)
            if "datasets" not in known[artifact]:
                raise SettingError(f"config key artifacts: {artifact} shows the runs of {', '.join(known[artifact]['from'])}: change those")
