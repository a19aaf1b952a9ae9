"""``despur explore``: finished runs on one page, to choose data, metric and methods from. It works without network."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from despur.cli.commands import PATH, Arguments
from despur.cli.metrics import read_roles
from despur.specs.paths import locate_result
from despur.storage.disk import refuse_special
from despur.storage.finished_runs import find_runs, read_history, read_metrics
from despur.storage.texts import write_text

RUN_FOLDERS = "results/runs/*/*/*"
WHICH = ["dataset", "method", "metric", "selection"]
LEVEL = 0.95  # of an interval
MOST_POINTS = 50  # of a learning curve
SHARES = "accuracy|leakage"  # in the names of metrics that are shares: no interval of theirs goes beyond 0 and 1
LEFT_OUT = ("samples", "class_")  # beginnings of metrics by group that would double the page
CHOSEN = "indexof(methods, datum.method) >= 0"
INTERVALS = f"datum.dataset == data && datum.metric == metric && datum.selection == selection && {CHOSEN}"
CURVES = f"datum.dataset == data && datum.name == curve && {CHOSEN}"

ARGUMENTS: Arguments = {
    "paths": {"nargs": "*", "help": "folders of finished runs, or patterns; default: all below results/runs"},
    "--output": PATH | {"default": Path("results/explorer.html"), "help": "default: results/explorer.html"},
}


def explore(paths: Sequence[str], output: Path) -> Iterator[str]:
    """a page of finished runs: choose data, metric and methods; points by seed, intervals, learning curves"""
    from despur.reporting.templates import render_template

    refuse_special(output)
    folders = find_runs(paths or [RUN_FOLDERS])
    points = pd.concat([load_points(folder) for folder in folders], ignore_index=True)
    points = points.drop_duplicates([*WHICH, "seed"])  # s0 and s0-2 may both be there
    curves = load_curves(folders)
    text = render_template(
        "explorer.html.jinja",
        library=read_library(),
        charts={"points": draw_points(points), "curves": draw_curves(curves)},
        choices={"points": list_choices(points, "metric"), "curves": list_choices(curves, "name")},
        runs=count_runs(points),
        headlines=list_headlines(folders),
        scorecard=output.with_name("scorecard.html").exists(),
    )
    write_text(output, text)
    yield f"{output}: runs: {count_runs(points)}; data sets: {points['dataset'].nunique()}"


def load_points(folder: Path) -> pd.DataFrame:
    """A row for each metric of the headline split, for each seed and selection: of all samples; of groups, which then
    stand in the metric's name, where a metric has no value of all."""
    table = read_metrics(folder / "metrics.csv")
    shown = (table["split"] == read_roles(folder).headline) & table["selection"].isin(["best", "last"])
    table = table[shown & table["value"].notna() & ~table["metric"].str.startswith(LEFT_OUT)]
    of_all = table["group"] == ""
    rows = table[of_all | ~table["metric"].isin(table.loc[of_all, "metric"])]
    names = rows["metric"].where(rows["group"] == "", rows["metric"] + ", " + rows["group"].astype(str))
    return rows.assign(metric=names)[[*WHICH, "seed", "value"]]


def list_headlines(folders: Sequence[Path]) -> dict[str, str]:
    """The split whose metrics are shown, and its data sets; of the commonest split, ``all others``."""
    shown: dict[str, list[str]] = {}
    for folder in folders:
        names = shown.setdefault(read_roles(folder).headline, [])
        names += {locate_result(folder).dataset} - {*names}
    common = max(shown, key=lambda split: len(shown[split]))
    return {
        split: "all data" if len(shown) == 1 else "all others" if split == common else ", ".join(names)
        for split, names in sorted(shown.items(), key=lambda item: item[0] == common)
    }


def load_curves(folders: Sequence[Path]) -> pd.DataFrame:
    """What training jobs wrote by step, at most about MOST_POINTS for a curve; nothing of methods that are fitted."""
    which = ["dataset", "method", "name", "seed"]
    files = [file for folder in folders if (file := folder / "history.csv").exists()]
    tables = [table for table in map(read_history, files) if len(table)]  # one without rows has no kinds of columns
    table = pd.concat(tables) if tables else pd.DataFrame(columns=[*which, "step", "value"])
    table = table.dropna(subset="value").drop_duplicates([*which, "step"])
    curves = table.groupby(which)
    every = -(-curves["value"].transform("size") // MOST_POINTS)
    return table[(curves.cumcount(ascending=False) % every) == 0]


def find_intervals(points: pd.DataFrame) -> pd.DataFrame:
    """Mean over seeds and its interval by Student's t; the mean alone, where there is one seed."""
    from scipy import stats

    intervals = points.groupby(WHICH)["value"].agg(["mean", "std", "count"]).reset_index()
    half = (
        intervals["std"]
        / intervals["count"] ** 0.5
        * stats.t.isf((1 - LEVEL) / 2, (intervals["count"] - 1).clip(lower=1))
    )
    low, high = intervals["mean"] - half.fillna(0), intervals["mean"] + half.fillna(0)
    share = intervals["metric"].str.contains(SHARES)
    return intervals.assign(low=low.where(~share, low.clip(0, 1)), high=high.where(~share, high.clip(0, 1))).drop(
        columns="std"
    )


def draw_points(points: pd.DataFrame) -> dict[str, Any]:
    """A row for each chosen method: a point for each seed, the mean and its interval."""
    import altair as alt

    chosen = [alt.param(name, value=value) for name, value in (("data", ""), ("metric", ""), ("selection", "best"))]
    rows = alt.Y("method:N", title=None)
    means = alt.Chart(alt.InlineData(find_intervals(points).to_dict("records"))).transform_filter(INTERVALS)
    numbers = [alt.Tooltip(f"{name}:Q", format=".4g") for name in ("mean", "low", "high")]
    interval = means.mark_rule(strokeWidth=2).encode(alt.X("low:Q").title(None), rows, alt.X2("high:Q"))
    mean = means.mark_tick(thickness=3, color="#1c2430").encode(
        alt.X("mean:Q"), rows, tooltip=["method:N", *numbers, alt.Tooltip("count:Q", title="seeds")]
    )
    seeds = (
        alt.Chart(alt.InlineData(points.to_dict("records")))
        .transform_filter(INTERVALS)
        .mark_circle(size=45, opacity=0.6, color="#1f5fae")
    )
    dots = seeds.encode(
        alt.X("value:Q").scale(zero=False), rows, tooltip=["method:N", "seed:O", alt.Tooltip("value:Q", format=".4g")]
    )
    layers = alt.layer(interval, dots, mean).properties(
        width="container", height=alt.Step(22), autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
    )
    return layers.add_params(*chosen, alt.param("methods", value=[])).to_dict()


def draw_curves(curves: pd.DataFrame) -> dict[str, Any]:
    """A line for each chosen method and seed, by step of training."""
    import altair as alt

    lines = alt.Chart(alt.InlineData(curves.to_dict("records"))).transform_filter(CURVES).mark_line(strokeWidth=1.5)
    chart = lines.encode(
        alt.X("step:Q"),
        alt.Y("value:Q", title=None).scale(zero=False),
        alt.Color("method:N").scale(scheme="category10").legend(orient="bottom", columns=1, labelLimit=320, title=None),
        detail="seed:O",
        tooltip=["method:N", "seed:O", "step:Q", alt.Tooltip("value:Q", format=".4g")],
    ).properties(width="container", height=300)
    params = [alt.param("data", value=""), alt.param("curve", value=""), alt.param("methods", value=[])]
    return chart.add_params(*params).to_dict()


def list_choices(table: pd.DataFrame, column: str) -> dict[str, dict[str, list[str]]]:
    """By data set and metric (or curve): the methods that have it."""
    choices: dict[str, dict[str, list[str]]] = {}
    for (dataset, name), rows in table.groupby(["dataset", column]):
        choices.setdefault(str(dataset), {})[str(name)] = sorted(rows["method"].unique())
    return choices


def count_runs(points: pd.DataFrame) -> int:
    return len(points[["dataset", "method", "seed"]].drop_duplicates())


def read_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, so that the page needs no network."""
    import altair

    convert = import_module("vl_convert")  # its type hints ask for a snippet, which is optional
    version = altair.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]  # 6.1 of v6.1.0
    return convert.javascript_bundle(vl_version=version).replace("</script", "<\\/script")
