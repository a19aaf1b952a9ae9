"""Metrics of predictions and representations."""

from despur.specs.extensions import extend_path

__path__ = extend_path(list(__path__), "metrics")

RESAMPLES = 200  # bootstrap samples of an evaluation; here, as plans of jobs read it without NumPy
