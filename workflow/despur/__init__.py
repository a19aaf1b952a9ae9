"""despur: methods, samplers, losses and metrics for representations without spurious features."""

import despur.storage.interrupts  # noqa: F401  first: the others take time

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from despur.model import Model, load
    from despur.storage.finished_runs import load_metrics

__all__ = ["Model", "load", "load_metrics"]


def __getattr__(name: str) -> Any:
    """``despur.load``, ``despur.Model`` and ``despur.load_metrics``, imported (some with torch) only when they are
    used; and ``despur.__version__``."""
    if name == "__version__":
        return import_module("importlib.metadata").version("despur")
    if name in __all__:
        return getattr(
            import_module("despur.storage.finished_runs" if name == "load_metrics" else "despur.model"), name
        )
    raise AttributeError(f"module 'despur' has no attribute {name!r}")
