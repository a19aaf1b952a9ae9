"""Targets that nobody can make: which name was meant."""

import difflib
from collections.abc import Callable, Iterable
from pathlib import PurePath

from despur.specs.settings import SettingError


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
