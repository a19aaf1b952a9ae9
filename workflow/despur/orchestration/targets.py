"""Targets that nothing makes: which name was meant."""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from despur.orchestration import artifact_files
from despur.orchestration.experiments import load_experiments
from despur.specs.names import unknown
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError

OTHERS = {"--report", "--archive", "--cleanup-metadata"}  # their values look like targets, and may have old names


def check_words(config: Mapping[str, Any], words: Sequence[str]) -> None:
    """Refuse a word of the command line that looks like a path and has a wrong name: targets are not known yet."""
    for word in words if OTHERS.isdisjoint(words) else ():
        check_target(config, Path(word))


def check_target(config: Mapping[str, Any], path: Path) -> None:
    """Refuse a path of a paper or of a stage with a wrong name, artifact or seeds. The error says why; Snakemake's
    error would not."""
    paper = path.parent.name
    if path.parent.parent == Path(config["outputs"]) / "papers":
        known = {
            Path(file).stem
            for name in load_experiments(paper)["artifacts"]
            for file in artifact_files.list_outputs(config, paper, name)
        }
        if path.stem not in known:
            raise unknown(f"artifact of {paper}", path.stem, known)
    elif path.parts[:2] in [("results", stage) for stage in ("data", "stage1", "groups", "runs")]:
        result = locate_result(path)
        if not (result.datasets if result.stage == "data" else result.runs()) or path == result.folder:
            made = "metrics.csv" if result.stage == "runs" else "about.json"
            raise SettingError(f"{path} is a folder: name a file in it, {path / made}")


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
        moved = str(PurePath("results", *PurePath(target).parts[1:]))
        known = {*rules, *(file for file in files if "{" not in file), *filter(is_made, {*named, moved})}
        near = difflib.get_close_matches(target, sorted(known), n=1)
        hint = (
            f"; did you mean {near[0]}?" if near else ". snakemake --list names the rules; docs/result_paths.md, files"
        )
        raise SettingError(f"no rule makes {target}{hint}")
