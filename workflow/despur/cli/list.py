"""``python -m despur list methods``: what there is."""

from collections.abc import Iterator

import yaml

from despur.orchestration import experiments
from despur.specs.declarations import list_components, summarize

KINDS = ("methods", "datasets", "encoders", "inference", "papers", "claims")


def list_kind(kind: str) -> Iterator[str]:
    """what there is: methods, datasets, encoders, inference, papers or claims"""
    if kind == "papers":
        yield from (
            f"{paper:<20} {experiments.load_experiments(paper)['title']}" for paper in experiments.list_papers()
        )
    elif kind == "claims":
        for paper in experiments.list_papers():
            for claim in yaml.safe_load((experiments.PAPERS / paper / "claims.yaml").read_text())["claims"]:
                yield f"{paper:<20} {claim['name']}: {claim['statement']} ({claim['place']})"
    else:
        yield from (f"{name:<28} {summarize(kind, name)}" for name in list_components(kind))
