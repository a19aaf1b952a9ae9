"""A configuration: how it is read, and what is wrong with it, said before any job starts. No torch, no pandas."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from despur.orchestration import experiments, matrix, paper_folders
from despur.orchestration.configuration_files import (
    expand,
    list_files,
    load_merged,
    refuse_oversized,
    refuse_unknown,
    within,
)
from despur.orchestration.experiments import load_experiments
from despur.specs.declarations import PACKAGE, read_declarations
from despur.specs.extensions import use_extensions
from despur.specs.names import parse, shorten, show_text, split_stage, unknown
from despur.specs.paths import ResultPath, chunk_seeds, locate_result
from despur.specs.resolution import resolve_canonical
from despur.specs.settings import SettingError
from despur.specs.stages import STAGES
from despur.specs.yaml_files import load_file

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

SCHEMA = PACKAGE.parent / "schemas/config.schema.yaml"


def load_configuration(file: Path) -> dict[str, Any]:
    """The configuration of a file, complete and checked."""
    loaded = load_merged(file)
    with within(str(file)):
        return complete_configuration(loaded)


def load_all_configurations() -> dict[Path, dict[str, Any]]:
    """config.yaml and the files of config/."""
    return {file: load_configuration(file) for file in list_files()}


def find_file(config: Mapping[str, Any]) -> Path | None:
    """Which of these files has this complete configuration; None if it is in none of them."""
    schema = load_file(SCHEMA)
    return next((file for file in list_files() if _add_defaults(expand(load_merged(file)), schema) == config), None)


def list_shown_folders(config: Mapping[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    """(paper, artifact, folders) of all runs that a configuration shows; of the matrix, ("matrix", method, folders)."""
    of_papers = [
        (paper, artifact, artifact_run.folders)
        for paper in config["papers"]
        for artifact in load_experiments(paper)["artifacts"]
        for artifact_run in experiments.list_artifact_runs(config, paper, artifact)
    ]
    of_matrix = matrix.list_artifact_runs(config)
    return [*of_papers, *(("matrix", artifact_run.paper_method, artifact_run.folders) for artifact_run in of_matrix)]


def list_shown_results(config: Mapping[str, Any], paper: str | None = None) -> set[ResultPath]:
    """The results that a configuration shows: of a paper (``matrix``: of the matrix), or all."""
    return {
        locate_result(folder)
        for name, _, folders in list_shown_folders(config)
        for folder in folders
        if paper in (None, name)
    }


def complete_configuration(config: Mapping[str, Any], check: bool = True) -> dict[str, Any]:
    """A configuration with the files that it includes, what its artifacts take from others, and the defaults of the
    schema. Raises SettingError for a wrong key, value or name; without ``check``, names and settings of runs are not
    looked at."""
    schema = load_file(SCHEMA)
    refuse_oversized(config)
    config = expand(config)
    refuse_oversized(config)
    if error := _find_error(config, schema):
        raise _described(error, schema["properties"])
    with within("config key extensions"):
        use_extensions(config.get("extensions", []))
    full = _add_defaults(config, schema)
    if check:
        check_configuration(full)
    return full


def _add_defaults(config: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    defaults = {key: setting["default"] for key, setting in schema["properties"].items() if "default" in setting}
    return {**config, **{key: default for key, default in defaults.items() if key not in config}}


def _find_error(config: Mapping[str, Any], schema: Mapping[str, Any]) -> "ValidationError | None":
    """The error that tells most of what is wrong by the schema, if anything is. jsonschema comes with an extra."""
    from jsonschema import Draft4Validator, Draft202012Validator, validators
    from jsonschema.exceptions import best_match

    checker = validators.extend(Draft202012Validator, type_checker=Draft4Validator.TYPE_CHECKER)  # 2.0 is no integer
    return best_match(checker(schema).iter_errors(dict(config)))


def _described(error: "ValidationError", properties: Mapping[str, Any]) -> SettingError:
    """What is wrong with a key or its value, and what the key is for."""
    path = [show_text(str(key)) for key in error.absolute_path]
    where = f"config key {'.'.join(path)}: " if path else ""
    if error.validator == "additionalProperties":
        allowed = error.schema["properties"]
        wrong = next(key for key in error.instance if key not in allowed)
        return SettingError(f"{where}{unknown('key' if path else 'config key', wrong, allowed)}")
    purpose = properties.get(path[0], {}).get("description", "").strip() if path else ""
    return SettingError(f"{where}{shorten(error.message)}" + (f" ({path[0]}: {purpose})" if purpose else ""))


def check_configuration(config: Mapping[str, Any]) -> None:
    """Refuse wrong names, settings and seeds anywhere in a configuration. The message names the key and the nearest
    valid name."""
    with within("config key papers"):
        methods = {name for paper in config["papers"] for name in list_method_names(paper, config)}
    with within("config key seeds"):
        chunk_seeds(config["seeds"], 1)
    _check_datasets(config)
    for paper, changed in config.get("artifacts", {}).items():
        with within("config key artifacts"):
            known_artifacts = load_experiments(paper)["artifacts"]
        with within(f"config key artifacts.{paper}"):
            refuse_unknown("artifact", changed, known_artifacts)
        for artifact, changes in changed.items():
            _check_artifact(f"config key artifacts.{paper}.{artifact}", paper, artifact, changes)
    with within("config key methods (names of experiments.yaml; a method of your own: matrix)"):
        refuse_unknown("method of the chosen papers", config.get("methods", ()), methods)
    _check_runs(config)


def list_method_names(paper: str, config: Mapping[str, Any] | None = None) -> set[str]:
    """The names of methods in a paper's experiments.yaml, and in the artifacts of that paper in a configuration."""
    changed = config.get("artifacts", {}).get(paper, {}) if config else {}
    named = [
        entry.get(key, ())
        for entry in (*load_experiments(paper)["artifacts"].values(), *changed.values())
        for key in ("methods", "selected")
    ]
    return {*load_experiments(paper)["methods"], *(name for names in named for name in names)}


def _check_datasets(config: Mapping[str, Any]) -> None:
    """Data sets of all papers are known: a configuration of other papers keeps those of config.yaml."""
    methods_on: dict[str, set[str]] = {}
    for paper in paper_folders.list_papers():
        for name in load_experiments(paper)["datasets"]:
            methods_on.setdefault(name, set()).update(list_method_names(paper, config))
    with within("config key datasets"):
        refuse_unknown("data set of a paper", config["datasets"], methods_on)
    for name, entry in config["datasets"].items():
        with within(f"config key datasets.{name}"):
            for data in experiments.list_substitutes(config, name):
                resolve_canonical("datasets", data)
            refuse_unknown("method", entry.get("methods", ()) if isinstance(entry, Mapping) else (), methods_on[name])


def _check_artifact(key: str, paper: str, artifact: str, changes: Mapping[str, Any]) -> None:
    """What a configuration changes of an artifact. An artifact that shows the runs of others can only be left out."""
    here = load_experiments(paper)
    entry = here["artifacts"][artifact]
    if "datasets" not in entry and changes.keys() - {"made"}:
        raise SettingError(f"{key}: {artifact} shows the runs of {', '.join(entry['from'])}: change those")
    methods, seeds = changes.get("methods", ()), changes.get("seeds", 1)
    with within(f"{key}.methods"):
        if isinstance(methods, Mapping):
            _check_specifications(here, methods, methods if here.get("any_method_name") else list_method_names(paper))
        else:
            refuse_unknown("method", methods, here["methods"])
    with within(f"{key}.seeds"):
        refuse_unknown("method", seeds if isinstance(seeds, Mapping) else (), {*methods, *list_method_names(paper)})
        for method_seeds in seeds.values() if isinstance(seeds, Mapping) else (seeds,):
            chunk_seeds(method_seeds, 1)


def _check_specifications(here: Mapping[str, Any], methods: Mapping[str, Any], allowed: Iterable[str]) -> None:
    """Names of methods and data sets. Settings depend on the data: they are checked with the runs."""
    refuse_unknown("method", methods, allowed)
    for entry in methods.values():
        datasets = entry if isinstance(entry, Mapping) else ()
        refuse_unknown("data set of a paper", datasets, here["datasets"])
        for text in (text for name in datasets or ("",) for text in experiments.list_specifications(entry, name)):
            stage, name = split_stage(text)
            read_declarations(STAGES[stage].components, parse(name)[0])


def _check_runs(config: Mapping[str, Any]) -> None:
    """Every run of the configuration, to its last setting."""
    for paper in config["papers"]:
        for artifact in load_experiments(paper)["artifacts"]:
            with within(f"config key artifacts.{paper}.{artifact}"):
                experiments.list_own_runs(config, paper, artifact)
    with within("config key matrix"):
        chunk_seeds(config.get("matrix", {}).get("seeds", 1), 1)
        matrix.list_artifact_runs(config)
