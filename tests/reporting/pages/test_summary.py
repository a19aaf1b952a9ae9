"""What is known of each paper, in one table: of a terminal and of documents."""

import pandas as pd
import pytest
from project import SOURCE

from despur.evidence.all_evidence import gather_evidence, list_not_run, load_evidence
from despur.evidence.tally import COMPARISON, SCORECARD_COLUMNS
from despur.evidence.verdicts import Tier
from despur.orchestration.paper_folders import list_papers
from despur.reporting.pages import summary
from despur.reporting.pages.judged_claims import describe_primary
from despur.storage.store import InputError


def known(*rows):
    """The summary of cnc, of which these rows of a scorecard are known."""
    shared = {"paper": "cnc", "kind_of_row": "claim", "paper_dataset": "cmnist", "seeds": 3, "statement": "a claim"}
    table = pd.DataFrame([shared | row for row in rows]).reindex(columns=SCORECARD_COLUMNS)
    texts = ["place", "setting", "by_seed", "settings", "data", "primary", "reason"]
    evidence = gather_evidence([list_not_run(), table.fillna(dict.fromkeys(texts, "")).astype(object)])
    return next(each for each in summary.summarize_papers(evidence) if each.paper == "cnc")


def test_documents_have_the_table_of_today(monkeypatch):
    monkeypatch.chdir(SOURCE)
    papers = summary.summarize_papers(load_evidence())
    for file in summary.DOCUMENTS:
        new = summary.replace_summary(file.read_text(), file, papers)
        assert new == file.read_text(), f"{file}: run despur ledger report"


def test_a_terminal_has_at_most_twelve_lines_with_a_row_for_each_paper():
    papers = summary.summarize_papers(load_evidence(reference=SOURCE / "results/reference"))
    lines = [*summary.format_lines(papers)]
    assert len(lines) <= 12 and max(map(len, lines)) <= 140
    assert sorted(line.split()[0] for line in lines[2 : 2 + len(papers)]) == list_papers()


def test_the_columns_of_numbers_add_up_to_the_distinct_measurements():
    evidence = load_evidence(reference=SOURCE / "results/reference")
    for paper, each in zip(evidence.papers, summary.summarize_papers(evidence), strict=True):
        cells = [each.cells[name] for name in summary.COUNTS]
        counts = [int(cell.split(" of ")[-1].split()[0]) for cell in cells if cell != "–"]
        assert sum(counts) == sum(paper.numbers.values())


def test_orders_on_substitutes_stand_apart_from_claims_on_the_papers_data():
    found = known(
        {"claim": "a", "tier": Tier.SUBSTITUTE, "verdict": "seen here", "data": "colored_digits"},
        {"claim": "b", "tier": Tier.SUBSTITUTE, "verdict": "not seen", "data": "colored_digits"},
        {"claim": "b", "tier": Tier.PAPER, "verdict": "holds", "primary": "abstract", "statement": "b is best"},
        {"claim": "c", "tier": Tier.SUBSTITUTE, "verdict": "seen here", "kind_of_row": COMPARISON},
    )
    assert found.cells[summary.ORDERS_SEEN[Tier.SUBSTITUTE]] == "1 seen, 0 opposite, 1 not seen"
    assert "“b is best”: undecided (cmnist)" in found.claim  # it has no p value: Holm lets it not stand


def test_verdicts_on_claims_that_do_not_stand_are_told_apart_and_a_primary_claim_has_its_estimate():
    measured = {"tier": Tier.PAPER, "estimate": 0.25, "low": 0.125, "high": 0.375, "reason": "", "k": 1, "margin": 0}
    measured |= {"weakest": "c - d (accuracy)"}
    sure = measured | {"verdict": "holds", "p_holds": 1e-9, "p_fails": 1.0}
    found = known(
        sure | {"claim": "a"},
        sure | {"claim": "b", "p_holds": 0.2},
        measured | {"claim": "c", "verdict": "undecided", "p_holds": 0.3, "p_fails": 0.9, "primary": "abstract"}
        | {"statement": "c is best", "advice": "about 16 seeds; then it would hold"},
    )  # fmt: skip
    assert found.cells[summary.CLAIMS] == "2 hold (1 strict), 0 fail, 1 undecided"
    said = "3 seeds: +25 [+12.5, +37.5] points, would hold with about 16 seeds if mean and spread stayed)"
    assert f"“c is best”: undecided (cmnist, {said}" in found.claim


def test_orders_with_another_encoder_have_a_column_and_a_line_where_there_are_any():
    title = summary.ORDERS_SEEN[Tier.OTHER_ENCODER]
    row = {
        "claim": "a",
        "tier": Tier.OTHER_ENCODER,
        "verdict": "opposite seen here",
        "paper_dataset": "waterbirds",
        "data": "waterbirds",
    }
    found = known(row)
    assert found.cells[title] == "0 seen, 1 opposite, 0 not seen"
    assert [*summary.format_lines([found])][-1] == f"cnc: {title} {found.cells[title]}"
    assert title not in known(row | {"tier": Tier.SUBSTITUTE}).cells


def test_the_primary_claim_says_its_verdict_on_each_data_set():
    found = describe_primary(
        pd.DataFrame(
            {
                "statement": "best",
                "paper_dataset": ["cmnist", "celeba", "waterbirds", "cmnist"],
                "tier": [Tier.PAPER] * 3 + [Tier.SUBSTITUTE],
                "verdict": ["holds", "not run here", "not run here", "seen here"],
            }
        ),
        measured_datasets=(),
    )
    assert found == "Primary claim: “best”: holds (cmnist), not run (celeba; waterbirds)."


@pytest.mark.parametrize("name, message", [("a", r"a\.md must have .* once each"), ("b", r"b\.md is not there")])
def test_a_text_without_marks_is_refused(tmp_path, monkeypatch, name, message):
    (tmp_path / "a.md").write_text("# despur\n")
    monkeypatch.setattr(summary, "DOCUMENTS", [tmp_path / f"{name}.md"])
    with pytest.raises(InputError, match=message):
        next(summary.renew_documents(None))


def test_a_primary_claim_about_several_data_sets_names_those_that_are_missing():
    row = {"statement": "best", "paper_dataset": "cmnist, celeba", "tier": Tier.PAPER, "verdict": "not run here"}
    assert describe_primary(pd.DataFrame([row]), {"cmnist"}) == "Primary claim: “best”: not run (celeba)."
    assert describe_primary(pd.DataFrame([row]), {"cmnist", "celeba"}).endswith("not run (cmnist, celeba).")
