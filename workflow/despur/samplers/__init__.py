"""Samplers: which samples a batch has."""

from despur.specs.extensions import extend_path

__path__ = extend_path(list(__path__), "samplers")
