"""Folders outside the package whose files count as if they were in it: ``my_project/methods/my_method.py``.

``DESPUR_EXTENSIONS`` names the folders, as PATH does; a configuration adds to it (``extensions: [my_project]``)."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from despur.specs.settings import SettingError

VARIABLE = "DESPUR_EXTENSIONS"
EXTENSIBLE = ("augment", "datasets", "encoders", "inference", "losses", "methods", "metrics", "papers", "samplers")


def read_variable() -> list[Path]:
    """The folders, absolute, whether they are there or not."""
    return [Path(text).resolve() for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text]


def list_extensions() -> list[Path]:
    """The folders, absolute. Raises SettingError for one that is not there."""
    folders = read_variable()
    refuse_missing(folders)
    return list(dict.fromkeys(folders))


def refuse_missing(folders: Iterable[Path]) -> None:
    """Raises SettingError for a folder that is not there."""
    if missing := [str(folder) for folder in folders if not folder.is_dir()]:
        raise SettingError(f"{VARIABLE}: {missing[0]} is no folder; it may have the folders {', '.join(EXTENSIBLE)}")


def use_extensions(folders: Iterable[str]) -> None:
    """Add folders to those of the environment, for this process and its jobs. Raises SettingError for one that is not
    there."""
    every = [*read_variable(), *(Path(folder).resolve() for folder in folders)]
    refuse_missing(every)
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys(map(str, every)))
    for kind in EXTENSIBLE:
        if package := sys.modules.get(f"despur.{kind}"):
            package.__path__ = extend_path(list(package.__path__), kind)


def extend_path(path: list[str], kind: str) -> list[str]:
    """Where Python looks for the modules of a package of components: in the package, then in extensions. A folder that
    is not there is refused when a name is looked up, not by an import."""
    return [*dict.fromkeys([*path, *(str(folder / kind) for folder in read_variable())])]
