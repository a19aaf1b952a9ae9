"""Snakemake's report and the scorecard of a real run of few artifacts: each in order, to look at and to download."""

import json
import re

import pytest
import yaml
from documents import documented, split
from project import tiny_project

pytestmark = pytest.mark.long


def only_two_artifacts(text):
    known = yaml.safe_load(text)
    return yaml.safe_dump(
        known | {"artifacts": {name: known["artifacts"][name] for name in ("table_1", "figure_5")}}, sort_keys=False
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A tiny run of a paper with one table and one figure, its scorecard and its report."""
    project = tiny_project(tmp_path_factory).copy(tmp_path_factory.mktemp("reported") / "project")
    project.edit("workflow/despur/papers/cnc/experiments.yaml", only_two_artifacts)
    assert set(project.plan()) == {"scorecard", "all"}
    project.snakemake()
    project.snakemake("--report", "results/report.html")
    return project


@pytest.fixture
def reported(finished):
    return finished.root / "results"


@pytest.fixture
def unfinished(finished, tmp_path):
    """The same, and a further paper of which nothing is made."""
    project = finished.copy(tmp_path / "project")
    project.edit(
        "config.yaml",
        lambda text: (
            text.replace("papers: [cnc]", "papers: [cnc, fair_cl]").replace("[erm, cnc]", "[erm, cnc, con]")
            + "  moji: scene_embeddings\n"
        ),
    )
    return project


def entries(folder, name="report.html"):
    """The results that the report embeds: (category, labels) by path."""
    text = (folder / name).read_text()
    results = json.loads(re.search(r"var results = (\{.*?\});?\n", text)[1])
    categories = json.loads(re.search(r"var categories = (\{.*?\});?\n", text)[1])
    return {
        path: (name, results[path]) for name, subs in categories.items() for paths in subs.values() for path in paths
    }


def test_the_report_shows_each_artifact_once_pictures_before_tables(reported):
    found = {path: each for path, each in entries(reported).items() if "/papers/" in path}
    labels = {path.removeprefix("results/papers/cnc/"): result["labels"] for path, (_, result) in found.items()}
    assert labels == {"figure_5.png": {"artifact": "01 · Figure 5"}, "table_1.html": {"artifact": "02 · Table 1"}}
    assert {category.split(":")[0] for category, _ in found.values()} == {"Correct-N-Contrast"}
    assert all(result["caption"] for _, result in found.values())


def test_the_summary_comes_first_and_has_the_scorecard(reported):
    found = {path: category for path, (category, _) in entries(reported).items() if "/papers/" not in path}
    assert found == {"results/scorecard.html": "★ Summary"}


def test_the_scorecard_of_a_partial_run_says_what_is_there_and_what_it_took(reported):
    text = (reported / "scorecard.html").read_text()
    assert "2 of 2 tables and figures made" in text
    assert "badge holds" not in text and "badge agrees" not in text and "run.yaml" not in text
    cost = text.split('id="cost"')[1]
    assert re.search(
        r"build_data \d+ s → train_stage1 .* → infer_groups .* → train_stage2 .* → evaluate .* → cnc_", cost
    )
    assert re.search(r"<td>stage 2</td><td class=\"n\">2</td>", cost)


@pytest.mark.parametrize("command", [line for line in documented() if "--report" in line or "scorecard --" in line])
def test_what_the_documents_type_for_a_report_makes_it(finished, tmp_path, command):
    project = finished.copy(tmp_path / "project")
    _, words = split(command)
    target = project.root / words[words.index("--report" if "--report" in words else "--output") + 1]
    target = target if target.suffix else target.with_suffix(".html")
    target.unlink(missing_ok=True)
    project.python(*(["-m", *words] if words[0] == "snakemake" else words[1:]))
    assert target.stat().st_size > 10_000


def test_the_readme_s_report_of_a_part_has_that_part_though_another_paper_is_missing(unfinished):
    unfinished.snakemake("results/papers/cnc/table_1.html", "--report", "part.html")
    assert [*entries(unfinished.root, "part.html")] == ["results/papers/cnc/table_1.html"]
    assert "not made yet" in (unfinished.root / "part.html").read_text()


def test_the_readme_s_scorecard_of_an_unfinished_run_says_which_paper_is_missing_and_how_to_run_it(unfinished):
    unfinished.python(
        "-m", "despur.reporting.pages.scorecard", "--configfile", "config.yaml", "--output", "results/scorecard"
    )
    text = (unfinished.root / "results/scorecard.html").read_text()
    ours, missing = (re.split(r' id="\w+"', text.split(f' id="{paper}"')[1])[0] for paper in ("cnc", "fair_cl"))
    assert "2 of 2 tables and figures made" in ours
    assert re.search(r"0 of \d+ tables and figures made", missing) and "snakemake fair_cl" in missing


@pytest.mark.parametrize("width", [1300, 400])
def test_the_report_opens_in_a_browser_with_the_verdict_on_its_first_page(reported, browser, width):
    page, said = browser.new_page(viewport={"width": width, "height": 900}), []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((reported / "report.html").as_uri())
    assert page.get_by_text("Does it reproduce?").bounding_box()["y"] < 100
    home = page.locator(".prose").inner_text()
    assert "Primary claim" in home and "5. evaluation" in home and not page.locator("#rulegraph:visible").count()
    page.locator("nav").get_by_text("Correct-N-Contrast").first.click()
    page.get_by_text("Table 1").first.wait_for()
    rows = [row.strip() for row in page.locator("nav tbody tr").all_inner_texts()]
    assert rows == ["01 · Figure 5", "02 · Table 1"]
    button = page.locator("nav tbody tr a").last.bounding_box()
    assert button["x"] + button["width"] <= width and button["y"] < 900
    page.close()
    assert said == []
