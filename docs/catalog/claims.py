"""The catalog of claims: what each paper claims, where, and how it is tested."""

import yaml

from catalog.markdown import code, contents, escape, page, table
from despur.orchestration.experiments import PAPERS, list_papers, load_experiments

INTRODUCTION = (
    "After this page you know every claim that despur tests.\n\n"
    "A claim is a sentence of a paper that numbers can support or contradict. Its contrasts, margins and reasons stand "
    "in the paper folder's `claims.yaml`; [Reading the results](../reading_results.md) explains the verdicts."
)


def build_pages() -> dict[str, str]:
    """The pages, by name: one for each paper, and ``index``."""
    papers = list_papers()
    rows = [
        [f"[{paper}]({paper}.md)", escape(load_experiments(paper)["title"]), str(len(read_claims(paper)))]
        for paper in papers
    ]
    shown = table(["paper folder", "paper", "claims"], rows)
    index = page("Claims", INTRODUCTION, shown, contents(papers), "[All pages](../index.md)")
    return {"index": index, **{paper: build_page(paper) for paper in papers}}


def read_claims(paper: str) -> list[dict[str, object]]:
    """The claims of a paper, as they are written."""
    return yaml.safe_load((PAPERS / paper / "claims.yaml").read_text())["claims"]


def build_page(paper: str) -> str:
    """A row for each claim of a paper."""
    file = f"workflow/papers/{paper}/claims.yaml"
    rows = [
        [
            escape(claim["statement"]),
            escape(claim["place"]),
            ", ".join(f"{each}" for each in claim["datasets"]),
            code(claim["artifact"]),
            code(claim["name"]),
        ]
        for claim in read_claims(paper)
    ]
    parts = [
        escape(load_experiments(paper)["title"]),
        f"File: [{code(file)}](/{file}). The paper: [{paper}](../papers/{paper}.md).",
        table(["statement", "place", "data sets", "artifact", "claim"], rows),
    ]
    return page(f"Claims of {paper}", *parts, "[All claims](index.md)")
