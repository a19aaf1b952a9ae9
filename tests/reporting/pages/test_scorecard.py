"""The page: what it counts, what it links to, what it says of what is missing."""

import re
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import yaml
from documents import commands_of_page
from page import CONFIG, page
from project import SOURCE

from despur.evidence import tally
from despur.evidence.claims.claim_format import read_claims
from despur.evidence.measurements import Measurement
from despur.orchestration import configuration, paper_folders
from despur.reporting.pages import scorecard, scorecard_page
from despur.reporting.pages.open_choices import list_choices
from despur.reporting.templates import create_environment

FOLDERS = [f"runs/cmnist/erm/s{seed}" for seed in range(2)]  # of the first number


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a made-up run, with its page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("made"))
        Path("config").mkdir()
        Path("config/fair_cl.yaml").write_text("papers: [fair_cl]\ndatasets: {}\n")
        for folder in FOLDERS:
            (Path("results") / folder).mkdir(parents=True)
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


def test_the_first_screen_says_of_each_paper_what_is_known_on_which_data_and_how_surely(text):
    known = text.split('id="known"')[1].split("</table>")[0]
    row = known.split(">cnc</a>")[1].split("</tr>")[0]
    assert re.search(r'data-label="within 5 points">1 ', row) and re.search(r'data-label="not known">1<', row)
    assert "3 stated; 1 to 3 seeds of " in row and 'orders on substitutes">1 seen, 0 opposite, 0 not seen<' in row
    assert all(f">{paper}</a>" in known for paper in paper_folders.list_papers())
    assert known.count("Primary claim") == len(paper_folders.list_papers())


def test_missing_papers_are_shown_with_the_command_that_runs_them(text):
    assert "make CONFIG=config/fair_cl.yaml" in text.split('id="fair_cl"')[1][:1500]
    assert "add domain_temperature to the papers of a configuration" in text
    assert "snakemake cnc" in text
    for paper in paper_folders.list_papers():
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
    assert "<summary>2 pairs of commit and machine measured it</summary>" in show("commit a on M; commit b on N")


def test_a_verdict_says_how_surely_and_what_it_would_be_under_other_assumptions():
    row = dict.fromkeys(field.name for field in fields(Measurement)) | {"verdict": "not known", "reason": ""}
    row |= {"would_decide": "about 5 seeds of ours", "collapsed": "", "if_normal": "beyond 5", "threefold": "not known"}
    first, second = scorecard_page.list_notes(Measurement(**row))
    assert first == "about 5 seeds of ours" and second == "beyond 5 if seeds are normal (90 % interval)"
    show = vars(create_environment().get_template("scorecard.macros.jinja").module)
    claim = {"verdict": "seen here", "statement": "A is above B", "place": "Sec. 1", "paper_dataset": "x", "data": "y"}
    named, reason, collapsed = "abstract; named when nothing was recorded", "first asked for", "2 of 5 seeds collapsed"
    claim |= {"measured": "", "seeds": 10, "primary": named, "reason": reason, "collapsed": collapsed}
    claim |= {"settings": "mmd (weight, screened)"}
    shown = show["orders"](pd.DataFrame([claim | {"q": 0.021, "p": 0.01}]))
    assert all(words in shown for words in ("q 0.021", f"primary claim: {named}", reason, collapsed, claim["settings"]))
    assert "named when nothing was recorded" in show["claim_list"](pd.DataFrame([claim]), "claims that are not run")


def test_choices_are_listed_with_what_they_cost(monkeypatch):
    monkeypatch.chdir(SOURCE)
    choices = list_choices()
    assert [bool(choice["runs"]) for choice in choices] == sorted((bool(c["runs"]) for c in choices), reverse=True)
    shown = vars(create_environment().get_template("scorecard.macros.jinja").module)["choice_rows"](choices)
    assert shown.count("<tr>") == len(choices) + 1 and "not tried" in shown and "too few seeds (0 of 6)" in shown


def test_claims_show_verdict_bounds_and_what_would_settle_them(text):
    part = text.split('id="cnc"')[1].split("</section>")[0]
    for verdict in ("holds", "fails", "undecided"):
        assert f"badge {verdict}" in part
    assert re.search(r"<summary>\d+ claims that are not run</summary>", part)
    assert re.search(r"0\.5\s+<span>\[0\.3, 0\.7\]", part) and "about 12 seeds" in part


def test_of_substitute_data_orders_alone_are_shown_apart(text):
    part = text.split('id="substitutes"')[1].split('id="slips"')[0]
    assert re.search(r"<p>(.*?)</p>", part, re.DOTALL)[1] == (
        "<b>This shows that the code runs and that an effect appears on this data; it is no evidence about a paper.</b>"
    )
    assert '<span class="badge seen-here on-substitute">seen here</span>' in part
    assert "0.3" not in part and "margin" not in part and "fails" not in part  # no magnitude
    assert text.count("seen-here on-substitute") == 1


def test_comparisons_that_no_paper_states_are_no_claims(made):
    table = pd.read_csv(made / "scorecard.csv")
    names = {kind: set(table.loc[table["kind_of_row"] == kind, "claim"]) for kind in ("claim", "comparison")}
    assert "con_beats_tuned_baselines" in names["comparison"] and not names["comparison"] & names["claim"]


def test_the_papers_slips_are_listed_with_what_is_printed(text):
    part = text.split('id="slips"')[1].split('id="matrix"')[0]
    assert re.search(r"CNC&#39;s average accuracy is above that of DANN.*\s.*celeba.*Table A.2: DANN", part)
    slips = sum(
        len(claim.slip) if isinstance(claim.slip, dict) else bool(claim.slip)
        for paper in paper_folders.list_papers()
        for claim in read_claims(paper_folders.PAPERS / paper / "claims.yaml")[0]
        if not claim.ours
    )
    assert part.count("<tr>") == slips + 1


def test_the_table_has_every_number_and_claim_once(made):
    table = pd.read_csv(made / "scorecard.csv")
    numbers, claims = table[table["kind_of_row"] == "number"], table[table["kind_of_row"] == "claim"]
    assert len(numbers) == sum(len(tally.list_printed(paper)) for paper in paper_folders.list_papers())
    assert not numbers.duplicated(["paper", *tally.PRINTED_KEY]).any() and numbers[["unit", "place"]].notna().all(
        axis=None
    )
    assert set(claims["verdict"]) == {"holds", "fails", "undecided", "seen here", "not run here", "not executed"}
    assert set(table.loc[table["paper"] != "cnc", "verdict"]) == {"not run here", "not executed"}


def test_the_largest_difference_comes_first(text):
    part = text.split("the largest differences first")[1]
    assert part.index("beyond 5") < part.index("not known") < part.index("within 2")


def test_the_matrix_says_who_helps_on_whose_metric(text):
    part = text.split("Who helps on whose metric?")[1]
    assert re.search(r"<b>GAP</b> \(fair_cl\): helped by\s+cnc of other papers,\s+leace, con of its own\s*</li>", part)
    assert "data:image/png;base64," in part


def test_every_run_folder_behind_a_number_is_linked(text):
    assert all(f'href="{folder}"' in text for folder in FOLDERS)


def test_without_any_result_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scorecard_page.origin, "git", lambda *_: None)  # as where the package is installed
    monkeypatch.setattr(paper_folders, "list_papers", lambda: ["cnc"])
    scorecard.write(CONFIG | {"matrix": {}}, Path("results/scorecard"))
    text = Path("results/scorecard.html").read_text()
    assert "No order was looked at" in text and "badge holds" not in text and "badge within-2" not in text
    assert "Snakemake has no records of these jobs" in text and "not a git checkout" in text


def test_the_configuration_on_the_page_makes_the_page_again(text):
    shown = re.search(r"<pre>(.*?)</pre>", text, re.DOTALL)[1].replace("&#39;", "'")
    assert yaml.safe_load(shown) == CONFIG


def test_the_command_line_takes_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("some.yaml").write_text("papers: [cnc]\ndatasets: {cmnist: colored_digits}\noutputs: results/some\n")
    monkeypatch.setattr("sys.argv", ["scorecard", "--configfile", "some.yaml", "--output", "results/some/scorecard"])
    monkeypatch.setattr(paper_folders, "list_papers", lambda: ["cnc"])
    scorecard.main()
    assert Path("results/some/scorecard.html").exists()


def test_a_configuration_that_cannot_be_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("some.yaml").write_text("papers: [cncc]\ndatasets: {}\n")
    monkeypatch.setattr("sys.argv", ["scorecard", "--configfile", "some.yaml", "--output", "results/scorecard"])
    with pytest.raises(SystemExit):
        scorecard.main()
    assert "error: some.yaml: config key papers: unknown paper 'cncc'; did you mean cnc?" in capsys.readouterr().err
