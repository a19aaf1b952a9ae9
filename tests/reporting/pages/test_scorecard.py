"""The page: what it counts, what it links to, what it says of what is missing."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import yaml
from documents import commands_of_page
from page import CONFIG, page

from despur.evidence import tally
from despur.evidence.claims.claim_format import read_claims
from despur.orchestration import configuration, experiments
from despur.reporting.pages import scorecard, scorecard_page
from despur.reporting.templates import create_environment


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a made-up run, with its page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("made"))
        Path("config").mkdir()
        Path("config/fair_cl.yaml").write_text("papers: [fair_cl]\ndatasets: {}\n")
        return page().parent


@pytest.fixture
def text(made):
    return (made / "scorecard.html").read_text()


class Outline(HTMLParser):
    """Addresses, identifiers and unclosed tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.ids, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.addresses += [found[key] for key in ("href", "src") if found.get(key)]
        self.ids += [found["id"]] if "id" in found else []
        if tag not in ("meta", "link", "br", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_no_other_file(text):
    outline = Outline(text)
    assert outline.open == []
    assert not any(address.startswith(("http", "//")) for address in outline.addresses)
    assert not re.search(r'<(script|img|link)[^>]+(src|href)="(?!data:)', text)


def test_every_link_leads_somewhere(made, text):
    outline = Outline(text)
    local = [a for a in outline.addresses if not a.startswith(("#", "data:"))]
    assert any(a.endswith("table_1.html") for a in local) and any(a.endswith("figure_5.png") for a in local)
    assert any("runs/" in a for a in local)
    assert [a for a in local if not (made / a).exists()] == []
    assert {a[1:] for a in outline.addresses if a.startswith("#")} <= set(outline.ids)


def test_compared_numbers_are_counted_and_substitute_data_is_not(text):
    assert "printed numbers were compared" in text
    assert re.search(r"<b>3 of 186</b>\s+printed numbers compared", text.split('id="cnc"')[1])
    assert ">substitute data</span>" in text


def test_missing_papers_are_shown_with_the_command_that_runs_them(text):
    assert "make CONFIG=config/fair_cl.yaml" in text.split('id="fair_cl"')[1][:1500]
    assert "add domain_temperature to the papers of a configuration" in text
    assert "snakemake cnc" in text
    for paper in experiments.list_papers():
        assert f'id="{paper}"' in text


def test_commands_name_a_configuration_that_is_there(made, text):
    files = {word for line in commands_of_page(text) for word in line.split() if word.endswith(".yaml")}
    assert len(files) == 2  # this configuration, and config/fair_cl.yaml
    own = next(made.parent / file for file in files if file.endswith("scorecard.yaml"))
    assert configuration.load_configuration(own)["datasets"] == CONFIG["datasets"]


def test_the_page_names_split_and_step(text):
    assert text.count("at the step that is best on validation") == 2  # numbers, matrix


def test_several_places_of_measurement_fold():
    show = vars(create_environment().get_template("scorecard.macros.jinja").module)["elsewhere"]
    assert "<details>" not in show("here") + show("commit a on M")
    assert "<summary>measured in 2 places</summary>" in show("commit a on M; commit b on N")


def test_claims_show_verdict_bounds_and_what_would_settle_them(text):
    part = text.split('id="claims"')[1].split('id="matrix"')[0]
    for verdict in ("holds", "fails", "undecided"):
        assert f"badge {verdict}" in part
    assert re.search(r"<summary>\d+ not run here</summary>", part)
    assert re.search(r"0\.5\s+<span>\[0\.3, 0\.7\]", part) and "about 12 seeds" in part


def test_substitute_data_have_a_count_and_a_badge_of_their_own(text):
    headline = text.split('id="headline"')[1].split('id="papers"')[0]
    own, substitute = headline.split('class="tile substitute"')
    assert "1 hold, 1 fail" in own and re.search(r"own data; 1 undecided", own)
    assert re.search(r"1 seen here, 0\s+opposite", substitute) and "no evidence about a paper" in substitute
    on_substitute = text.split("On substitute data, orders only")[1]
    assert '<span class="badge seen-here on-substitute">seen here</span>' in on_substitute
    assert text.count("seen-here on-substitute") == 1


def test_comparisons_that_no_paper_states_stand_apart(made, text):
    fair = text.split("<h3>Contrastive Learning for Fair Representations</h3>")[2].split("</section>")[0]
    claims, comparisons = fair.split("Comparisons that no sentence of the paper states")
    assert "tuned single adversary" in comparisons and "tuned single adversary" not in claims
    table = pd.read_csv(made / "scorecard.csv")
    names = {kind: set(table.loc[table["kind_of_row"] == kind, "claim"]) for kind in ("claim", "comparison")}
    assert "con_beats_tuned_baselines" in names["comparison"] and not names["comparison"] & names["claim"]


def test_the_papers_slips_are_listed_with_what_is_printed(text):
    part = text.split('id="slips"')[1].split('id="matrix"')[0]
    assert re.search(r"CNC&#39;s average accuracy is above that of DANN.*\s.*celeba.*Table A.2: DANN", part)
    slips = sum(
        len(claim.slip) if isinstance(claim.slip, dict) else bool(claim.slip)
        for paper in experiments.list_papers()
        for claim in read_claims(experiments.PAPERS / paper / "claims.yaml")[0]
    )
    assert part.count("<tr>") == slips + 1 and f"<b>{slips}</b>claims are contradicted" in text


def test_the_table_has_every_number_and_claim_once(made):
    table = pd.read_csv(made / "scorecard.csv")
    numbers, claims = table[table["kind_of_row"] == "number"], table[table["kind_of_row"] == "claim"]
    assert len(numbers) == sum(len(tally.list_printed(paper)) for paper in experiments.list_papers())
    assert not numbers.duplicated(["paper", *tally.KEY]).any() and numbers[["unit", "place"]].notna().all(axis=None)
    assert set(claims["verdict"]) == {"holds", "fails", "undecided", "seen here", "not run here", "not executed"}
    assert set(table.loc[table["paper"] != "cnc", "verdict"]) == {"not run here", "not executed"}


def test_the_largest_difference_comes_first(text):
    part = text.split("the largest differences first")[1]
    assert part.index("beyond 5") < part.index("not known") < part.index("within 2")


def test_the_matrix_says_who_helps_on_whose_metric(text):
    part = text.split("Who helps on whose metric?")[1]
    assert re.search(r"<b>GAP</b> \(fair_cl\): helped by\s+cnc of other papers,\s+leace, con of its own\s*</li>", part)
    assert "data:image/png;base64," in part


def test_every_run_folder_behind_a_number_is_linked(made, text):
    folders = experiments.list_artifact_runs(CONFIG | {"seeds": ["0", "1"]}, "cnc", "table_1")[0].folders
    for folder in folders:
        (made.parent / folder).mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made.parent)
        patch.setattr(experiments, "list_papers", lambda: ["cnc"])
        again = scorecard.Page(CONFIG | {"seeds": ["0", "1"]}, Path("results/scorecard"))
        shown = scorecard.render(again)
    assert len(folders) == 2 and all(f'href="{folder.removeprefix("results/")}"' in shown for folder in folders)


def test_without_any_result_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scorecard_page.origin, "git", lambda *_: None)  # as where the package is installed
    monkeypatch.setattr(experiments, "list_papers", lambda: ["cnc"])
    scorecard.write(CONFIG | {"matrix": {}}, Path("results/scorecard"))
    text = Path("results/scorecard.html").read_text()
    assert "0 of" in text and "badge holds" not in text and "badge within-2" not in text
    assert "Snakemake has no records of these jobs" in text and "not a git checkout" in text


def test_the_configuration_on_the_page_makes_the_page_again(text):
    shown = re.search(r"<pre>(.*?)</pre>", text, re.DOTALL)[1].replace("&#39;", "'")
    assert yaml.safe_load(shown) == CONFIG


def test_the_command_line_takes_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("some.yaml").write_text("papers: [cnc]\ndatasets: {cmnist: colored_digits}\noutputs: results/some\n")
    monkeypatch.setattr("sys.argv", ["scorecard", "--configfile", "some.yaml", "--output", "results/some/scorecard"])
    monkeypatch.setattr(experiments, "list_papers", lambda: ["cnc"])
    scorecard.main()
    assert Path("results/some/scorecard.html").exists()


def test_a_configuration_that_cannot_be_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("some.yaml").write_text("papers: [cncc]\ndatasets: {}\n")
    monkeypatch.setattr("sys.argv", ["scorecard", "--configfile", "some.yaml", "--output", "results/scorecard"])
    with pytest.raises(SystemExit):
        scorecard.main()
    assert "error: some.yaml: config key papers: unknown paper 'cncc'; did you mean cnc?" in capsys.readouterr().err
