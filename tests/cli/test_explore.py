"""despur explore: the page of finished runs, from folders with known numbers, and in a browser where there is one."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from making import write_run
from scipy import stats

from despur.cli import explore
from despur.storage.store import InputError, write_json

VALUES = {"erm": [0.2, 0.4, 0.6], "cnc": [0.9, 0.9, 0.9]}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three seeds of two methods; erm was trained for 120 steps, cnc has no curve."""
    pytest.importorskip("vl_convert", reason="not installed: make environment")
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "results/data/colored_digits"
    data.mkdir(parents=True)
    (data / "about.json").write_text(json.dumps({"colored_digits": {"headline": "test"}}))
    for method, values in VALUES.items():
        head = {"dataset": "colored_digits", "method": method, "metric": "worst_group_accuracy"}
        rows = [
            head | {"seed": seed, "split": split, "group": group, "value": value}
            for seed, value in enumerate(values)
            for split, group in (("test", ""), ("val", ""), ("test", "red </script>"))
        ]
        write_run(tmp_path / "results/runs/colored_digits" / method / "s0-2", rows)
    steps = pd.DataFrame({"epoch": 1, "step": range(1, 121), "name": "loss", "value": 0.5})
    steps.assign(dataset="colored_digits", method="erm", seed=0).to_csv(
        tmp_path / "results/runs/colored_digits/erm/s0-2/history.csv", index=False
    )
    (line,) = explore.explore([], tmp_path / "page.html")
    assert line.endswith("page.html: runs: 6; data sets: 1")
    return tmp_path


def test_an_interval_is_that_of_student(runs):
    points = pd.concat(explore.load_points(folder) for folder in sorted((runs / "results/runs").glob("*/*/*")))
    points = points.assign(metric="alignment_loss")  # which has no bounds
    found = explore.find_intervals(points).set_index("method")
    low, high = stats.t.interval(0.95, 2, np.mean(VALUES["erm"]), stats.sem(VALUES["erm"]))
    assert found.loc["erm", ["mean", "low", "high"]].tolist() == pytest.approx([0.4, low, high])
    assert found.loc["cnc", ["low", "high"]].tolist() == pytest.approx([0.9, 0.9])
    alone = explore.find_intervals(points[points["seed"] == 0]).set_index("method")
    assert alone.loc["erm", ["low", "high"]].tolist() == [0.2, 0.2]


def test_no_interval_of_a_share_goes_beyond_0_and_1(runs):
    rows = {"dataset": "colored_digits", "method": "erm", "selection": "best"}
    rows |= {"seed": [0, 1, 2], "value": [0.2, 0.5, 0.9]}
    tables = [pd.DataFrame(rows | {"metric": name}) for name in ("worst_group_accuracy", "alignment_loss")]
    found = explore.find_intervals(pd.concat(tables)).set_index("metric")[["low", "high"]].round(2)
    assert found.loc["worst_group_accuracy"].tolist() == [0, 1]
    assert found.loc["alignment_loss"].tolist() == [-0.34, 1.41]


def test_the_page_names_split_and_step(runs):
    assert "of the split\n<code>test</code> (all data)" in (runs / "page.html").read_text()
    folders = [Path(f"results/runs/{name}/erm/s0") for name in ("colored_digits", "scene_digits", "domain_digits")]
    about = runs / "results/data/domain_digits/about.json"
    write_json(about, {"domain_digits": {"headline": "test_ood"}})
    assert explore.list_headlines(folders) == {"test_ood": "domain_digits", "test": "all others"}


def test_a_history_without_rows_is_no_warning(runs, recwarn):
    folder = runs / "results/runs/colored_digits/erm/s0-2"
    empty = runs / "results/runs/colored_digits/cnc/s0-2"
    (empty / "history.csv").write_text((folder / "history.csv").read_text().splitlines()[0] + "\n")
    assert len(explore.load_curves([empty, folder])) == 40 and not [w for w in recwarn if w.category is FutureWarning]


def test_a_metric_without_a_value_of_all_samples_is_shown_by_group(runs):
    folder = runs / "results/runs/colored_digits/erm/s0-2"
    rows = {"dataset": "colored_digits", "method": "erm", "seed": 0, "split": "test", "selection": "best"}
    probes = pd.DataFrame([rows | {"metric": "probe_accuracy", "group": name, "value": 0.5} for name in ("1%", "10%")])
    table = pd.concat([pd.read_csv(folder / "metrics.csv", keep_default_na=False), probes])
    table.to_csv(folder / "metrics.csv", index=False)
    found = explore.load_points(folder)
    assert set(found["metric"]) == {"worst_group_accuracy", "probe_accuracy, 1%", "probe_accuracy, 10%"}


def test_a_curve_is_thinned_and_keeps_its_last_step(runs):
    curve = explore.load_curves([runs / "results/runs/colored_digits/erm/s0-2"])
    assert len(curve) == 40 and curve["step"].iloc[-1] == 120
    assert explore.load_curves([runs / "results/runs/colored_digits/cnc/s0-2"]).empty


@pytest.mark.parametrize("name", ["metrics.csv", "history.csv"])
@pytest.mark.parametrize("size", [0, 10, -5])
def test_a_broken_file_is_named(runs, name, size):
    file = runs / "results/runs/colored_digits/erm/s0-2" / name
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(InputError, match=rf"erm/s0-2/{name} is broken \(.*\): delete .*, then: snakemake results.*"):
        list(explore.explore([], runs / "page.html"))


def test_the_page_needs_no_network(runs):
    text = (runs / "page.html").read_text()
    assert not re.search(r"<(script|link)[^>]+(src|href)=\"http", text) and len(text) > 500_000


def test_choices_change_the_charts_in_a_browser(runs):
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = shutil.which("chromium") or pytest.skip("no Chromium here: the explorer is not tested in a browser")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page, said = browser.new_page(viewport={"width": 400, "height": 900}), []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
        page.goto((runs / "page.html").as_uri())
        page.locator("#points svg.marks").wait_for()
        page.locator("#curves svg.marks").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        page.get_by_text("methods", exact=True).click()
        page.get_by_role("checkbox", name="erm").uncheck()
        page.get_by_text("None of the chosen methods has this curve").wait_for()
        page.get_by_role("button", name="none").click()
        page.get_by_text("None of the chosen methods has this metric").wait_for()
        browser.close()
    assert said == []


@pytest.mark.parametrize("name", [".", "/", "results"])
def test_a_folder_is_refused_by_the_name_that_was_typed(runs, name):
    with pytest.raises(InputError, match=f"^{re.escape(name)} is a folder"):
        list(explore.explore([], Path(name)))
