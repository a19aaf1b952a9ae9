"""Inferences: rules that give training samples an inferred attribute, one file each."""

from despur.specs.extensions import extend_path

__path__ = extend_path(list(__path__), "inference")
