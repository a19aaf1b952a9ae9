"""Loss functions of representations and logits."""

from despur.specs.extensions import extend_path
from despur.specs.public import publish

__path__ = extend_path(list(__path__), "losses")
__getattr__, __all__, __dir__ = publish(__name__, __file__)
