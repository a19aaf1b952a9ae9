"""despur: methods, samplers, losses and metrics for representations without spurious features."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from despur.model import Model, load

__all__ = ["Model", "load"]


def __getattr__(name: str) -> Any:
    """``despur.load`` and ``despur.Model``, imported (with torch) only when they are used."""
    if name in __all__:
        from despur import model

        return getattr(model, name)
    raise AttributeError(f"module 'despur' has no attribute {name!r}")
