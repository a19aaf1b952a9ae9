"""Loss functions of representations and logits."""

from despur.specs.extensions import extend_path

__path__ = extend_path(list(__path__), "losses")
