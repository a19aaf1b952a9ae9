"""Samplers: which samples a batch has."""

from despur.specs.extensions import extend_path
from despur.specs.public import publish

__path__ = extend_path(list(__path__), "samplers")
__getattr__, __all__, __dir__ = publish(__name__, __file__)
