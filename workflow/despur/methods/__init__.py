"""Methods: ways to train or fit a model, one file each."""

from despur.specs.extensions import extend_path

__path__ = extend_path(list(__path__), "methods")
