"""The site that `make docs` built, in a real headless Chromium. Skipped where there is no site or no browser."""

import pytest
from project import SOURCE

SITE = SOURCE / "build/docs"
pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built (make docs)")
PAGES = ["index", "tutorial", "metrics", "methods/cnc", "datasets/waterbirds", "claims/cnc", "gallery/ten_seeds_cnc"]


@pytest.fixture
def view(browser):
    """A page that may ask for nothing outside of the site."""
    page, asked = browser.new_page(viewport={"width": 1300, "height": 900}), []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    page.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_pages_fit_a_screen_and_a_phone(view):
    for name in PAGES:
        view.goto((SITE / f"{name}.html").as_uri())
        for width in (1300, 400):
            view.set_viewport_size({"width": width, "height": 900})
            assert view.evaluate("document.documentElement.scrollWidth") <= width, name
        assert view.locator("article h1").count() == 1
        assert view.evaluate("[...document.images].every(image => image.naturalWidth > 0)"), name


def test_formulas_are_typeset(view):
    view.goto((SITE / "metrics.html").as_uri())
    assert view.locator("math mfrac").count() and view.locator("math mover").count()
    assert "\\frac" not in view.locator("article").inner_text()


def test_search_finds_a_method(view):
    view.goto(f"{(SITE / 'search.html').as_uri()}?q=correct-n-contrast")
    view.wait_for_selector("#search-results li a")
    assert any("cnc" in link.get_attribute("href") for link in view.locator("#search-results li a").all())
