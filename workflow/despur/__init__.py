"""despur: methods, samplers, losses and metrics for representations without spurious features."""

import despur.storage.interrupts  # noqa: F401  first: the others take time

# isort: split
from importlib import import_module
from typing import Any

from despur.specs.public import publish

_load_public, __all__, __dir__ = publish(__name__, __file__)


def __getattr__(name: str) -> Any:
    """A public name, imported (some with torch) only when it is used; and ``despur.__version__``."""
    if name == "__version__":
        return import_module("importlib.metadata").version("despur")
    return _load_public(name)
