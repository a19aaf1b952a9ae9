"""Targets that nothing makes: which name was meant."""

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from despur.orchestration import artifact_files
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError
from despur.specs.stages import FOLDERS


def check_target(config: Mapping[str, Any], path: Path) -> None:
    """Refuse a path of a paper or of a stage with a wrong name, artifact or seeds. The error says why; Snakemake's
    error would not."""
    if path.parent.parent == Path(config["outputs"]) / "papers":
        paper, artifact = artifact_files.locate_artifact(path)
        if paper in config["papers"] and artifact not in artifact_files.list_artifacts(config, paper):
            raise SettingError(
                f"{path.stem} of {paper} has no runs in this configuration: see its datasets, methods and sweep"
            )
    elif path.parts[:2] in [("results", stage) for stage in FOLDERS]:
        result = locate_result(path)
        if not (result.datasets if result.stage == "data" else result.runs()) or path == result.folder:
            raise SettingError(f"{path} is a folder: name a file in it, {name_last_file(path)}")


def name_last_file(path: Path) -> Path:
    """What a result path asks for: a file itself; of a folder, the file that is written last. Raises SettingError for
    any other path."""
    result = locate_result(path)
    if path.name != result.folder.name:
        return path
    return path / ("metrics.csv" if result.stage == "runs" else "about.json")


def respell(target: str) -> set[str]:
    """A target as paths of results begin: from the project's folder, with the name of a stage."""
    path = PurePath(os.path.relpath(target) if PurePath(target).is_absolute() else target)
    stages = {str(PurePath("results", stage, *path.parts[2:])) for stage in FOLDERS}
    return {str(path), str(PurePath("results", *path.parts[1:])), *stages}


def check_targets(
    targets: Iterable[str], names: Iterable[str], outputs: Iterable[str], is_made: Callable[[str], bool]
) -> None:
    """Raises SettingError, with the nearest name, for a target that is neither one of the ``names`` of rules nor made
    by one. ``outputs``: the files that rules write, some with wildcards; ``is_made``: whether a rule makes a path."""
    rules, files = set(names), list(outputs)
    for target in targets:
        if target in rules or is_made(target):
            continue
        named = {
            str(PurePath(target).with_name(PurePath(file).name)) for file in files if "{" not in PurePath(file).name
        }
        made_here = {*rules, *(file for file in files if "{" not in file), *filter(is_made, named | respell(target))}
        near = difflib.get_close_matches(target, sorted(made_here), n=1)
        hint = (
            f"; did you mean {near[0]}?" if near else ". snakemake --list names the rules; docs/result_paths.md, files"
        )
        raise SettingError(f"no rule makes {target}{hint}")
