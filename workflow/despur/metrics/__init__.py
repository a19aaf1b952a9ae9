"""Metrics of predictions and representations."""

from despur.specs.extensions import extend_path
from despur.specs.public import publish

__path__ = extend_path(list(__path__), "metrics")
__getattr__, __all__, __dir__ = publish(__name__, __file__)

RESAMPLES = 200  # bootstrap samples of an evaluation; here, as plans of jobs read it without NumPy
