"""Inferences: rules that give training samples an inferred attribute, one file each."""

from despur.specs.extensions import extend_path
from despur.specs.public import publish

__path__ = extend_path(list(__path__), "inference")
__getattr__, __all__, __dir__ = publish(__name__, __file__)
