"""The files of a configuration: loaded and merged, with what they include. Their names are not checked here."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from despur.specs.names import shorten, show_text, unknown
from despur.specs.settings import SettingError
from despur.specs.yaml_files import load_file

LARGEST = 10**18
MOST_VALUES = 100_000  # of a configuration, with what it includes; those of config/ have some hundreds


@contextmanager
def within(where: str) -> Iterator[None]:
    """Say of an error where it is: a key of the configuration, a file."""
    try:
        yield
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from None


def refuse_unknown(what: str, names: Iterable[Any], allowed: Iterable[str]) -> None:
    for name in names:
        if name not in allowed:
            raise unknown(what, name, allowed)


def list_files() -> list[Path]:
    """The configurations in the working directory: config.yaml and the files of config/."""
    return [file for file in (Path("config.yaml"), *sorted(Path("config").glob("*.yaml"))) if file.exists()]


def load_merged(file: Path) -> dict[str, Any]:
    """A file as Snakemake takes it: one that names papers and data sets stands alone, any other changes config.yaml."""
    content = load_file(file)
    return content if {"papers", "datasets"} <= set(content) else _merged(load_file(Path("config.yaml")), content)


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged key by key, all else is replaced: as Snakemake does."""
    both = {
        key: _merged(first[key], new)
        for key, new in second.items()
        if isinstance(new, Mapping) and isinstance(first.get(key), Mapping)
    }
    return {**first, **second, **both}


def refuse_oversized(config: Mapping[str, Any]) -> None:
    """Refuse a configuration that holds itself, or that grows without bounds when it is written out (YAML's aliases
    allow both), and whole numbers that take long to print."""
    queue: list[Any] = [config]
    for _ in range(MOST_VALUES):
        if not queue:
            return
        node = queue.pop()
        if isinstance(node, int) and abs(node) > LARGEST:
            raise SettingError(f"the configuration has a number above {LARGEST:,}")
        queue += [*node, *node.values()] if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    raise SettingError(f"the configuration has more than {MOST_VALUES:,} values: write it without aliases (*name)")


def expand(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the files that it includes, and with what its artifacts take of others."""
    return _fill_same_as(_include_files(config))


def _include_files(config: Mapping[str, Any]) -> dict[str, Any]:
    """The files of ``include``, merged in their order; what the configuration says itself replaces what they say."""
    files = config.get("include", [])
    merged: dict[str, Any] = {}
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise SettingError(f"config key include: {shorten(repr(files))} must be a list of files")
    for file in files:
        with within("config key include"):
            merged = _merged(merged, load_file(Path(file)))
    return _merged(merged, {key: value for key, value in config.items() if key != "include"})


def _fill_same_as(config: Mapping[str, Any]) -> dict[str, Any]:
    """Artifacts with ``same_as`` take what another artifact of their paper takes, but for what they say themselves."""
    artifacts = config.get("artifacts", {})
    if not isinstance(artifacts, Mapping) or not all(isinstance(changes, Mapping) for changes in artifacts.values()):
        return dict(config)  # the schema says what is wrong
    filled = {paper: dict(paper_artifacts) for paper, paper_artifacts in artifacts.items()}
    for paper, paper_artifacts in artifacts.items():
        for artifact, changes in paper_artifacts.items():
            if isinstance(changes, Mapping) and "same_as" in changes:
                with within(f"config key artifacts.{show_text(f'{paper}.{artifact}')}.same_as"):
                    filled[paper][artifact] = _copy_changes(paper_artifacts, changes)
    return {**config, "artifacts": filled} if artifacts else dict(config)


def _copy_changes(artifacts: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    named = changes["same_as"]
    plain = [name for name, entry in artifacts.items() if isinstance(entry, Mapping) and "same_as" not in entry]
    refuse_unknown("artifact", [named], plain)
    return _merged(artifacts[named], {key: value for key, value in changes.items() if key != "same_as"})
