"""Libraries that not everybody needs: the extras of the package (``pip install "despur[workflow]"``), as its metadata
state them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires

from despur.specs.settings import SettingError

# Distributions whose module is called otherwise.
DISTRIBUTIONS = {
    "PIL": "pillow",
    "open_clip": "open_clip_torch",
    "umap": "umap-learn",
    "vl_convert": "vl-convert-python",
}


def find_extra(module: str) -> str:
    """The extra that brings a module; nothing for a module of the core, or of nobody."""
    distribution = DISTRIBUTIONS.get(module.partition(".")[0], module.partition(".")[0])
    try:
        requirements = requires("despur") or []
    except PackageNotFoundError:  # a folder on sys.path, not installed
        requirements = []
    matches = (re.match(rf"{re.escape(distribution)}\b(?!-).*extra == [\"'](\w+)", line) for line in requirements)
    return next((match[1] for match in matches if match), "")


@contextmanager
def name_extra() -> Iterator[None]:
    """Raises SettingError, in place of ModuleNotFoundError, for an import of what an extra brings: with the command
    that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if not (extra := find_extra(error.name or "")):
            raise
        raise SettingError(f"{error.name} is not installed: pip install 'despur[{extra}]'") from error
