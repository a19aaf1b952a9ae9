"""``despur list methods``: what there is."""

from collections.abc import Iterator

from despur.cli.rows import Row
from despur.orchestration import experiments, paper_folders
from despur.specs.declarations import list_components, summarize

LISTED = ("methods", "datasets", "encoders", "inference", "papers", "claims")


def list_kind(kind: str) -> Iterator[str]:
    """what there is: methods, datasets, encoders, inference, papers or claims"""
    if kind == "papers":
        for paper in paper_folders.list_papers():
            title = experiments.load_experiments(paper)["title"]
            yield Row(f"{paper:<20} {title}", kind, name=paper, title=title)
    elif kind == "claims":
        from despur.evidence.claims.claim_format import read_claims

        for paper in paper_folders.list_papers():
            for claim in read_claims(paper_folders.find_paper(paper) / "claims.yaml")[0]:
                told = {"name": claim.name, "statement": claim.statement, "place": claim.place}
                yield Row(
                    "{paper:<20} {name}: {statement} ({place})".format(paper=paper, **told), kind, paper=paper, **told
                )
    else:
        for name in list_components(kind):
            summary = summarize(kind, name)
            yield Row(f"{name:<28} {summary}", kind, name=name, summary=summary)
