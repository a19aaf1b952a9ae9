"""``despur list methods``: what there is."""

import ast
from collections.abc import Iterator

from despur.cli.commands import Arguments
from despur.cli.rows import Row
from despur.orchestration import experiments, paper_folders
from despur.specs.code_files import parse_file
from despur.specs.declarations import PACKAGE, list_components, list_files, shorten_docstring, summarize
from despur.specs.public import read_stub

PUBLIC = ("losses", "samplers", "metrics")  # packages whose public names are listed
LISTED = ("methods", "datasets", "encoders", "inference", *PUBLIC, "papers", "claims")

ARGUMENTS: Arguments = {"kind": {"choices": LISTED}}


def list_kind(kind: str) -> Iterator[str]:
    """what there is: methods, datasets, encoders, inference, papers or claims; losses, samplers or metrics to import"""
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
        named = list_public(kind) if kind in PUBLIC else {n: summarize(kind, n) for n in list_components(kind)}
        for name, summary in named.items():
            yield Row(f"{name:<28} {summary}", kind, name=name, summary=summary)


def list_public(kind: str) -> dict[str, str]:
    """The first paragraph of the docstring of each public name of a package, and of each file of extensions."""
    summaries = {}
    for name, (module, attribute) in read_stub(str(PACKAGE / kind / "__init__.py")).items():
        body = parse_file(PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")).body
        (defined,) = (node for node in body if getattr(node, "name", "") == attribute)
        assert isinstance(defined, ast.FunctionDef | ast.ClassDef), name
        summaries[name] = shorten_docstring(ast.get_docstring(defined) or "")
    own = [name for name, file in list_files(kind).items() if not file.is_relative_to(PACKAGE)]
    return summaries | {name: summarize(kind, name) for name in own}
