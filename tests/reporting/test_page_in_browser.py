"""The page in a real headless Chromium (Debian's chromium, driven by Playwright). Skipped, saying so, where there is
none."""

from pathlib import Path

import pytest
from page import page as make_page
from page import table_1

from despur.reporting.tables import write_table


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        return make_page().as_uri()


@pytest.fixture
def view(browser, address):
    """The open page; it may write nothing to the console."""
    page, said = browser.new_page(viewport={"width": 1200, "height": 900}), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.append(request.url))
    page.goto(address)
    yield page
    page.close()
    assert said == []


def column(view, index):
    return view.eval_on_selector_all("#methods tbody tr", f"rows => rows.map(row => row.cells[{index}].dataset.value)")


def test_a_column_is_sorted_and_turned_round(view):
    head = view.locator("#methods th button", has_text="worst-group accuracy")
    head.click()
    up = [float(value) for value in column(view, 2)]
    assert up == sorted(up) and view.locator("#methods th[aria-sort=ascending]").count() == 1
    head.click()
    assert [float(value) for value in column(view, 2)] == up[::-1]


def test_methods_are_sorted_by_name_and_what_is_not_measured_stays_last(view):
    view.locator("#methods th button", has_text="method").first.click()
    assert column(view, 0) == sorted(column(view, 0))
    for _ in range(2):
        view.locator("#methods th button", has_text="alignment").click()
        assert column(view, 0)[-1] == "leace" and column(view, 8)[-1] == "nan"


def test_claims_are_sorted_by_estimate(view):
    view.locator(".claim").first.locator("th button", has_text="estimate").click()
    rows = "rows => rows.map(row => row.cells[2].dataset.value)"
    assert view.locator(".claim").first.locator("tbody tr").evaluate_all(rows) == ["-0.5", "0.11", "0.5"]


def test_claims_are_filtered_by_verdict_and_words(view):
    shown = view.locator("[data-verdict]:visible")
    view.select_option("#verdict", "holds")
    assert shown.count() == 1
    view.select_option("#verdict", "seen here")
    assert shown.count() == 1
    view.fill("#words", "LOSS alignment")
    view.select_option("#verdict", "")
    texts = shown.all_inner_texts()
    assert texts and all("alignment" in text and "loss" in text for text in map(str.lower, texts))
    view.fill("#words", "of no claim at all")
    assert shown.count() == 0


def test_the_first_screen_leads_to_a_paper(view):
    view.locator("#known a", has_text="icl_msr").click()
    assert view.url.endswith("#icl_msr") and view.locator("#icl_msr").is_visible()


def test_a_link_leads_to_a_figure(view):
    view.locator("#cnc a", has_text="Figure 5").first.click()
    assert view.url.endswith("figure_5.png")
    assert view.evaluate("document.images[0].naturalWidth") > 100


@pytest.mark.parametrize("width", [360, 400, 768, 1300])
def test_no_width_needs_horizontal_scrolling(view, width):
    view.set_viewport_size({"width": width, "height": 800})
    for summary in view.locator("summary").all():
        summary.click()
    assert view.evaluate("document.documentElement.scrollWidth") <= width


def test_the_verdicts_on_the_page_of_a_table_lie_within_a_screen_of_1200_pixels(browser, tmp_path):
    (tmp_path / "cnc").mkdir()
    write_table(tmp_path / "cnc/table_1", table_1())
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto((tmp_path / "cnc/table_1.html").as_uri())
    page.locator("summary").click()
    heads = page.locator("th:visible", has_text="verdict")
    rights = heads.evaluate_all("heads => heads.map(head => head.getBoundingClientRect().right)")
    page.close()
    assert len(rights) == 2 and max(rights) <= 1200


def test_print_has_the_whole_matrix(view):
    view.emulate_media(media="print")
    view.set_viewport_size({"width": 718, "height": 1000})  # A4 without margins, at 96 dots an inch
    assert view.evaluate("document.getElementById('methods').getBoundingClientRect().right") <= 718


def test_within_the_report_there_are_no_dead_links(browser, address):
    page = browser.new_page()
    page.set_content(f'<iframe src="{data_uri(Path(address.removeprefix("file://")))}"></iframe>')
    frame = page.frames[1]
    frame.wait_for_selector("#methods")
    assert frame.eval_on_selector_all(
        "a[href]", "links => links.every(link => link.getAttribute('href').startsWith('#'))"
    )
    page.close()


def data_uri(file):
    import base64

    return f"data:text/html;base64,{base64.b64encode(file.read_bytes()).decode()}"
