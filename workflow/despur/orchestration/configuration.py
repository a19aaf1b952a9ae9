"""A configuration: how it is read, and what is wrong with it, said before any job starts. No torch, no pandas."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft4Validator, Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match

from despur.orchestration import experiments, matrix
from despur.orchestration.experiments import load_experiments
from despur.specs.declarations import PACKAGE, declared
from despur.specs.names import parse, unknown
from despur.specs.paths import KINDS, chunk_seeds, locate, split_stage
from despur.specs.resolution import resolve_canonical
from despur.specs.settings import SettingError

SCHEMA = PACKAGE.parent / "schemas/config.schema.yaml"
Validator = validators.extend(Draft202012Validator, type_checker=Draft4Validator.TYPE_CHECKER)  # 2.0 is no integer


@contextmanager
def _within(where: str) -> Iterator[None]:
    """Say of an error where it is: a key of the configuration, a file."""
    try:
        yield
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from None


def load_configuration(file: Path) -> dict[str, Any]:
    """A configuration as Snakemake takes it, checked: one that names papers and data sets stands alone, any other
    changes config.yaml."""
    own = _load(file)
    with _within(str(file)):
        return complete_configuration(
            own if {"papers", "datasets"} <= set(own) else _merged(_load(Path("config.yaml")), own)
        )


def load_all_configurations() -> dict[Path, dict[str, Any]]:
    """config.yaml and the files of config/."""
    files = [file for file in (Path("config.yaml"), *sorted(Path("config").glob("*.yaml"))) if file.exists()]
    return {file: load_configuration(file) for file in files}


def list_shown_folders(config: Mapping[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    """(paper, artifact, folders) of all runs that a configuration shows; of the matrix, ("matrix", method, folders)."""
    found = [
        (paper, artifact, cell.folders)
        for paper in config["papers"]
        for artifact in load_experiments(paper)["artifacts"]
        for cell in experiments.list_artifact_runs(config, paper, artifact)
    ]
    return [*found, *(("matrix", cell.printed, cell.folders) for cell in matrix.list_artifact_runs(config))]


def _load(file: Path) -> dict[str, Any]:
    """What a YAML file says, not checked."""
    try:
        loaded = yaml.safe_load(file.read_text()) or {}
    except (OSError, yaml.YAMLError) as error:
        raise SettingError(f"{file} cannot be read: {error}") from None
    if not isinstance(loaded, dict):
        raise SettingError(f"{file}: must be keys with values, as in config.yaml")
    return loaded


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged key by key, all else is replaced: as Snakemake does."""
    both = {
        key: _merged(first[key], new)
        for key, new in second.items()
        if isinstance(new, Mapping) and isinstance(first.get(key), Mapping)
    }
    return {**first, **second, **both}


def complete_configuration(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the files that it includes, what its artifacts take from others, and the defaults of the
    schema. Raises SettingError for a wrong key, value or name."""
    schema = yaml.safe_load(SCHEMA.read_text())
    config = _fill_same_as(_include_files(config))
    error = best_match(Validator(schema).iter_errors(dict(config)))
    if error is not None:
        raise _described(error, schema["properties"])
    defaults = {key: setting["default"] for key, setting in schema["properties"].items() if "default" in setting}
    full = {**config, **{key: default for key, default in defaults.items() if key not in config}}
    check_configuration(full)
    return full


def _include_files(config: Mapping[str, Any]) -> dict[str, Any]:
    """The files of ``include``, merged in their order; what the configuration says itself replaces what they say."""
    files = config.get("include", [])
    found: dict[str, Any] = {}
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise SettingError(f"config key include: {files!r} must be a list of files")
    for file in files:
        with _within("config key include"):
            found = _merged(found, _load(Path(file)))
    return _merged(found, {key: value for key, value in config.items() if key != "include"})


def _fill_same_as(config: Mapping[str, Any]) -> dict[str, Any]:
    """Artifacts with ``same_as`` take what another artifact of their paper takes, but for what they say themselves."""
    artifacts = config.get("artifacts", {})
    if not isinstance(artifacts, Mapping) or not all(isinstance(own, Mapping) for own in artifacts.values()):
        return dict(config)  # the schema says what is wrong
    filled = {paper: dict(own) for paper, own in artifacts.items()}
    for paper, own in artifacts.items():
        for artifact, changes in own.items():
            if isinstance(changes, Mapping) and "same_as" in changes:
                with _within(f"config key artifacts.{paper}.{artifact}.same_as"):
                    filled[paper][artifact] = _copy_changes(own, changes)
    return {**config, "artifacts": filled} if artifacts else dict(config)


def _copy_changes(artifacts: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    named = changes["same_as"]
    plain = [name for name, each in artifacts.items() if isinstance(each, Mapping) and "same_as" not in each]
    _refuse_unknown("artifact", [named], plain)
    return _merged(artifacts[named], {key: value for key, value in changes.items() if key != "same_as"})


def _described(error: ValidationError, known: Mapping[str, Any]) -> SettingError:
    """What is wrong with a key or its value, and what the key is for."""
    path = [str(key) for key in error.absolute_path]
    where = f"config key {'.'.join(path)}: " if path else ""
    if error.validator == "additionalProperties":
        allowed = error.schema["properties"]
        wrong = next(key for key in error.instance if key not in allowed)
        return SettingError(f"{where}{unknown('key' if path else 'config key', wrong, allowed)}")
    return SettingError(
        f"{where}{error.message}" + (f" ({path[0]}: {known[path[0]]['description'].strip()})" if path else "")
    )


def check_target(config: Mapping[str, Any], path: Path) -> None:
    """Refuse a path of a paper or of a stage with a wrong name, artifact or seeds. The error says why; Snakemake's
    error would not."""
    paper = path.parent.name
    if path.parent.parent == Path(config["outputs"]) / "papers":
        known = {
            Path(file).stem
            for name in load_experiments(paper)["artifacts"]
            for file in experiments.list_outputs(config, paper, name)
        }
        if path.stem not in known:
            raise unknown(f"artifact of {paper}", path.stem, known)
    elif path.parts[:2] in [("results", stage) for stage in ("data", "stage1", "groups", "runs")]:
        result = locate(path)
        if not (result.datasets if result.stage == "data" else result.runs()) or path == result.folder:
            made = "metrics.csv" if result.stage == "runs" else "about.json"
            raise SettingError(f"{path} is a folder: name a file in it, {path / made}")


def check_configuration(config: Mapping[str, Any]) -> None:
    """Refuse wrong names, settings and seeds anywhere in a configuration. The message names the key and the nearest
    valid name."""
    with _within("config key papers"):
        known = {name for paper in config["papers"] for name in list_method_names(paper, config)}
    with _within("config key seeds"):
        chunk_seeds(config["seeds"], 1)
    _check_datasets(config)
    for paper, changed in config.get("artifacts", {}).items():
        with _within("config key artifacts"):
            known_artifacts = load_experiments(paper)["artifacts"]
        with _within(f"config key artifacts.{paper}"):
            _refuse_unknown("artifact", changed, known_artifacts)
        for artifact, own in changed.items():
            _check_artifact(f"config key artifacts.{paper}.{artifact}", paper, artifact, own)
    with _within("config key methods"):
        _refuse_unknown("method", config.get("methods", ()), known)
    _check_runs(config)


def list_method_names(paper: str, config: Mapping[str, Any] | None = None) -> set[str]:
    """The names of methods in a paper's experiments.yaml, and in the artifacts of that paper in a configuration."""
    own = config.get("artifacts", {}).get(paper, {}) if config else {}
    named = [
        each.get(key, ())
        for each in (*load_experiments(paper)["artifacts"].values(), *own.values())
        for key in ("methods", "selected")
    ]
    return {*load_experiments(paper)["methods"], *(name for names in named for name in names)}


def _refuse_unknown(what: str, names: Iterable[Any], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise unknown(what, name, known)


def _check_datasets(config: Mapping[str, Any]) -> None:
    """Data sets of all papers are known: a configuration of other papers keeps those of config.yaml."""
    methods_on: dict[str, set[str]] = {}
    for paper in experiments.list_papers():
        for name in load_experiments(paper)["datasets"]:
            methods_on.setdefault(name, set()).update(list_method_names(paper, config))
    with _within("config key datasets"):
        _refuse_unknown("data set of a paper", config["datasets"], methods_on)
    for name, own in config["datasets"].items():
        with _within(f"config key datasets.{name}"):
            for data in experiments.list_substitutes(config, name):
                resolve_canonical("datasets", data)
            _refuse_unknown("method", own.get("methods", ()) if isinstance(own, Mapping) else (), methods_on[name])


def _check_artifact(key: str, paper: str, artifact: str, own: Mapping[str, Any]) -> None:
    """What a configuration changes of an artifact. An artifact that shows the runs of others has nothing to change."""
    here = load_experiments(paper)
    known = here["artifacts"][artifact]
    if "datasets" not in known:
        raise SettingError(f"{key}: {artifact} shows the runs of {', '.join(known['from'])}: change those")
    methods, seeds = own.get("methods", ()), own.get("seeds", 1)
    with _within(f"{key}.methods"):
        if isinstance(methods, Mapping):
            _check_specifications(here, methods, methods if here.get("any_method_name") else list_method_names(paper))
        else:
            _refuse_unknown("method", methods, here["methods"])
    with _within(f"{key}.seeds"):
        _refuse_unknown("method", seeds if isinstance(seeds, Mapping) else (), {*methods, *list_method_names(paper)})
        for each in seeds.values() if isinstance(seeds, Mapping) else (seeds,):
            chunk_seeds(each, 1)


def _check_specifications(here: Mapping[str, Any], methods: Mapping[str, Any], known: Iterable[str]) -> None:
    """Names of methods and data sets. Settings depend on the data: they are checked with the runs."""
    _refuse_unknown("method", methods, known)
    for stated in methods.values():
        datasets = stated if isinstance(stated, Mapping) else ()
        _refuse_unknown("data set of a paper", datasets, here["datasets"])
        for text in (text for name in datasets or ("",) for text in experiments.list_specifications(stated, name)):
            stage, name = split_stage(text)
            declared(KINDS[stage], parse(name)[0])


def _check_runs(config: Mapping[str, Any]) -> None:
    """Every run of the configuration, to its last setting."""
    for paper in config["papers"]:
        for artifact in load_experiments(paper)["artifacts"]:
            with _within(f"config key artifacts.{paper}.{artifact}"):
                experiments.list_own_runs(config, paper, artifact)
    with _within("config key matrix"):
        chunk_seeds(config.get("matrix", {}).get("seeds", 1), 1)
        matrix.list_artifact_runs(config)
