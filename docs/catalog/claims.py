"""The catalog of claims: what each paper claims, where, how it is tested, and what the paper's own numbers say of
it."""

from collections import Counter
from functools import cache

import yaml

from catalog.markdown import code, contents, escape, link_file, page, table
from catalog.verdicts import TITLES, describe_verdicts
from despur.evidence.claims.claim_format import Claim, read_claims
from despur.evidence.claims.decisions import judge_on_printed
from despur.evidence.claims.printed_numbers import PrintedNumbers
from despur.evidence.verdicts import ClaimVerdict, PrintedVerdict
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper, list_papers
from despur.specs.declarations import PACKAGE

INTRODUCTION = (
    "After this page you know every claim that despur tests, and the verdicts of the runs that are kept.\n\n"
    "A claim is a sentence of a paper that numbers can support or contradict. It has one contrast or several, each "
    "with a margin. Before any run, each claim is executed on the numbers that its paper prints: it holds there, or "
    "the paper's own numbers contradict it, or they are not printed. Each data set counts for itself; "
    "comparisons that no sentence of the paper states are not counted. "
    "[Reading the results](../reading_results.md) explains the verdicts, and [How often verdicts are wrong]"
    "(../error_rates.md) their error rates."
)
FORMAT = PACKAGE / "evidence/claims/claim_format.py"
OUTCOMES = (*PrintedVerdict, ClaimVerdict.NOT_EXECUTED)


def build_pages() -> dict[str, str]:
    """The pages, by name: one for each paper, and ``index``."""
    papers = list_papers()
    rows = [[f"[{paper}]({paper}.md)", escape(load_experiments(paper)["title"]), *count(paper)] for paper in papers]
    shown = table(["paper folder", "paper", "claims", *OUTCOMES], rows)
    index = page("Claims", INTRODUCTION, shown, contents(papers), "[All pages](../index.md)")
    return {"index": index, **{paper: build_page(paper) for paper in papers}}


@cache
def judge(paper: str) -> list[tuple[Claim, dict[str, list[str]]]]:
    """The claims of a paper, each with what the printed numbers say: data sets by outcome and note."""
    file = find_paper(paper) / "claims.yaml"
    claims, names = read_claims(file)
    printed = {claim.artifact: PrintedNumbers(file.parent / "reported", names, claim.artifact) for claim in claims}
    return [(claim, judge_claim(claim, printed[claim.artifact])) for claim in claims]


def judge_claim(claim: Claim, printed: PrintedNumbers) -> dict[str, list[str]]:
    """Data sets by outcome and note: ``not printed: Fig. 3 is a plot``."""
    datasets_by_outcome: dict[str, list[str]] = {}
    for datasets in claim.rows:
        outcome, note = ClaimVerdict.NOT_EXECUTED, claim.not_executed
        if not claim.not_executed:
            outcome, note = judge_on_printed(claim, datasets, printed).values()
        datasets_by_outcome.setdefault(f"{outcome}: {note}" if note else outcome, []).append(" and ".join(datasets))
    return datasets_by_outcome


def count(paper: str) -> list[str]:
    """How many claims a paper has, on all data sets, and how many of each outcome."""
    counts = Counter(
        next(outcome for outcome in OUTCOMES if said.startswith(outcome))
        for claim, outcomes in judge(paper)
        if not claim.ours
        for said, datasets in outcomes.items()
        for _ in datasets
    )
    return [str(number) for number in (counts.total(), *(counts[outcome] for outcome in OUTCOMES))]


def build_page(paper: str) -> str:
    """The slips of a paper, then a row for each claim, then the comparisons that it does not state."""
    file, every = find_paper(paper) / "claims.yaml", judge(paper)
    claims, ours = ([judged for judged in every if judged[0].ours == is_ours] for is_ours in (False, True))
    parts = [
        escape(load_experiments(paper)["title"]),
        f"File: {link_file(file)}; format and rule of margins: {link_file(FORMAT)}. "
        f"The paper: [{paper}](../papers/{paper}.md).",
        "## Slips",
        list_slips(claims),
        "## Claims",
        tabulate(paper, claims),
    ]
    if ours:
        parts += ["## Comparisons that no sentence of the paper states", tabulate(paper, ours)]
    return page(f"Claims of {paper}", *parts, "[All claims](index.md)")


def list_slips(claims: list[tuple[Claim, dict[str, list[str]]]]) -> str:
    """The claims that the paper's own numbers contradict, with what is printed."""
    start = f"{PrintedVerdict.CONTRADICTED}: "
    lines = [
        f"- {escape(claim.statement)} ({code(claim.name)}) – {escape(said.removeprefix(start))} ({', '.join(datasets)})"
        for claim, outcomes in claims
        for said, datasets in outcomes.items()
        if said.startswith(PrintedVerdict.CONTRADICTED)
    ]
    return "\n".join(["The printed numbers contradict these claims:\n", *lines]) if lines else "None."


def tabulate(paper: str, claims: list[tuple[Claim, dict[str, list[str]]]]) -> str:
    """A row for each claim."""
    rows = [
        [
            f"{escape(claim.statement)} ({code(claim.name)})",
            f"{escape(claim.place)} ({code(claim.artifact)})",
            describe_contrasts(claim),
            describe_outcomes(outcomes),
            *describe_verdicts(paper, claim.name),
        ]
        for claim, outcomes in claims
    ]
    return table(["claim", "place, artifact", "contrasts, margin", "on the printed numbers", *TITLES], rows)


def describe_contrasts(claim: Claim) -> str:
    """Contrasts as they are written, the margin, and the paper's words behind it."""
    if claim.not_executed:
        return ""
    contrasts = claim.contrasts if isinstance(claim.contrasts, list) else [claim.contrasts]
    lines = [
        code(yaml.safe_dump(one, default_flow_style=True, sort_keys=False, width=10**6).strip()) for one in contrasts
    ]
    needed = f"at least {claim.at_least} of: " if claim.at_least else ""
    inherited = any("margin" not in one for one in contrasts)
    margin = f"margin {claim.margin:.4g}: " if inherited else ""
    return f"{needed}{'<br>'.join(lines)}<br>{margin}{escape(claim.because)}"


def describe_outcomes(outcomes: dict[str, list[str]]) -> str:
    """``holds (cmnist, celeba)``; several outcomes on lines of their own."""
    return "<br>".join(f"{escape(said)} ({', '.join(datasets)})" for said, datasets in outcomes.items())
