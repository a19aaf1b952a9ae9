"""Papers: a folder each, with its tables, figures, claims and printed numbers."""

from despur.specs.extensions import extend_path

__path__ = extend_path(list(__path__), "papers")
