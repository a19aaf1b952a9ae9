"""``despur show RUN``: what finished runs measured. For reading only."""

import math
from collections.abc import Iterator, Mapping, Sequence
from glob import has_magic
from pathlib import Path

import pandas as pd

from despur.cli.commands import PATH, SELECTION, Arguments
from despur.cli.metrics import (
    Roles,
    find_criteria,
    find_roles,
    format_seeds,
    format_spread,
    load_points,
    load_shown,
    name_metrics,
)
from despur.cli.rows import Row
from despur.evidence.runs.collapsed import mark_collapsed
from despur.specs.paths import locate_result
from despur.storage.finished_runs import find_runs
from despur.storage.group_warnings import load_warnings

LONG = ["dataset", "point", "seed", "metric", "group", "shown", "value"]  # columns that all methods have
RANKED = "average_accuracy"  # shown of each point of a sweep, beside the metric that selects
COLLAPSED = (
    "it collapsed: it hardly learned its own training data. A model that learned nothing has small gaps and small "
    "leakage, too. Try another learning_rate, or more epochs"
)

ARGUMENTS: Arguments = {
    "paths": PATH | {"nargs": "+", "help": "folders of finished runs, files in them, or patterns; all seeds together"},
    "--groups": {"action": "store_true", "help": "also each group; of a sweep, every metric of each point"},
    "--selection": SELECTION,
    "--oracle": {
        "action": "store_true",
        "help": "also the kept step that is best on the split that tables show: for analysis, never to report",
    },
}


def show_runs(
    paths: Sequence[Path], groups: bool = False, selection: str = "best", oracle: bool = False
) -> Iterator[str]:
    """what finished runs measured, on the split that selects and on the one that tables show: each metric; of a sweep
    each point, the best on validation data first"""
    seeds_of_run: dict[Path, list[Path]] = {}
    for path in paths:
        for found in find_runs([path]) if has_magic(str(path)) else [path]:
            seeds_of_run.setdefault(locate_result(found).folder.parent, []).append(found)
    for run, folders in seeds_of_run.items():
        for line in show_seeds(folders, groups, selection, oracle):
            if isinstance(line, Row):
                line.values["run"] = str(run)
            yield line
    if len(seeds_of_run) > 1 and len({folder.parent for folder in seeds_of_run}) == 1:
        yield from rank_methods(seeds_of_run, selection)


def rank_methods(seeds_of_run: Mapping[Path, Sequence[Path]], selection: str) -> Iterator[str]:
    """A line for each method, or point of one, on the same data, by the metric that selects for the first of them."""
    tables = []
    for folder, paths in seeds_of_run.items():
        table = pd.concat([load_shown(path, selection) for path in paths])[LONG]
        name = table["point"].map(lambda point, method=folder.name: " ".join([method, point]).strip())
        tables.append(table.assign(point=name).drop_duplicates([key for key in LONG if key != "value"]))
    yield from rank_points(pd.concat(tables), find_roles(next(iter(seeds_of_run.values()))[0], selection))


def show_seeds(paths: Sequence[Path], groups: bool, selection: str, oracle: bool) -> Iterator[str]:
    """One method on one data set, from the folders of some seeds."""
    table = pd.concat([load_shown(path, selection, oracle) for path in paths])
    roles = find_roles(paths[0], selection, oracle)
    table = table.drop_duplicates([name for name in table if name != "value"])  # s0 and s0-2 may both be there
    folders, seeds = [str(locate_result(path).folder) for path in paths], format_seeds(table["seed"].unique())
    criteria = [selection] if selection != "best" else sorted(set().union(*map(find_criteria, paths)))
    chosen = "the last" if criteria == ["last"] else f"by {', '.join(criteria)} of the split {roles.selecting}"
    spread = "mean (std) over seeds; " if table["seed"].nunique() > 1 else ""
    text = f"{', '.join(folders)}: {seeds}; {spread}accuracies and gaps from 0 to 1. Best step: {chosen}"
    yield Row(
        text,
        "runs",
        folders=folders,
        splits=roles.splits,
        best_step_by=criteria,
        best_point_by=list_ranking(table, roles)[0],
    )
    for data, seed, warning in dict.fromkeys(found for path in paths for found in list_warnings(path)):
        yield Row(f"warning: {data}, seed {seed}: {warning}", "warnings", dataset=data, seed=seed, warning=warning)
    points = table["point"].unique()
    if len(points) > 1:
        yield from rank_points(table, roles)
    if len(points) == 1 or groups:
        for point in points:
            yield f"\n{point}" if point else ""
            yield from list_metrics(str(point), table[table["point"] == point], roles, groups)
            if oracle:
                yield f"oracle: the kept step with the best {roles.metric} of {roles.headline}; for analysis only"


def list_warnings(path: Path) -> Iterator[tuple[str, int, str]]:
    """(data set, seed, warning) of the groups that the runs of a folder read, and of runs that collapsed."""
    yield from load_warnings(locate_result(path))
    rows = load_points(path).assign(data=lambda rows: rows["dataset"])
    for _, row in rows[mark_collapsed(rows)].drop_duplicates(["data", "method", "seed"]).iterrows():
        yield row["data"], int(row["seed"]), f"{row['method']}: {COLLAPSED}"


def rank_points(table: pd.DataFrame, roles: Roles, shown_of: Sequence[str] = ("validation", "best")) -> Iterator[str]:
    """A line for each point of a sweep, by the metric that selects: the largest mean on validation data first; of
    equal ones, that with the better average accuracy. Test metrics (``best``) stand beside it and select nothing. The
    number of seeds is shown where it differs."""
    named = table.assign(name=name_metrics(table))
    names = list_ranking(table, roles)
    shown = named[named["name"].isin(names) & named["shown"].isin(["validation", "best"])]
    values = shown.groupby(["point", "name", "shown"], sort=False)["value"]
    averages, spreads = values.mean(), values.agg(format_spread)
    means = {
        point: [averages.get((point, name, "validation"), math.nan) for name in names]
        for point in named["point"].unique()
    }
    columns = [(name, column) for name in names for column in shown_of]
    heads = [f"{roles.splits[column]} {name}" for name, column in columns]
    width, widths = max(map(len, ["setting", *means])), [max(len(head), 16) + 2 for head in heads]
    seeds = table.groupby("point", sort=False)["seed"].nunique().to_dict()
    differ = len({*seeds.values()}) > 1
    yield ""
    yield f"  {'setting':<{width}}" + "".join(map(str.rjust, heads, widths)) + "  seeds" * differ
    ranked = sorted(means, key=lambda point: [math.inf if math.isnan(mean) else -mean for mean in means[point]])
    for rank, point in enumerate(ranked, start=1):
        cells = [spreads.get((point, *column), "–") for column in columns]
        text = "".join(map(str.rjust, cells, widths)) + f"{seeds[point]:>7}" * differ
        numbers = {"seeds": seeds[point]} | {
            f"{name} {column}": averages.get((point, name, column), math.nan) for name, column in columns
        }
        mark = "*" if means[point] == means[ranked[0]] and not math.isnan(means[point][0]) else " "
        yield Row(f"{mark} {point:<{width}}{text}", "points", point=point, rank=rank, **numbers)
    words = ", then ".join(list_deciding(names, [means[point] for point in ranked]))
    yield f"* best by {words} of {roles.selecting}, the split that selects; {roles.headline} selects nothing"


def list_deciding(names: Sequence[str], ranked: Sequence[Sequence[float]]) -> Sequence[str]:
    """Of metrics the first, and those after it that part the best two of the ranked points."""
    if len(ranked) < 2:
        return names[:1]
    parts = (i for i, pair in enumerate(zip(*ranked[:2], strict=True)) if len({*pair}) > 1)
    return names[: next(parts, len(names) - 1) + 1]


def list_ranking(table: pd.DataFrame, roles: Roles) -> list[str]:
    """The metrics that rank points: the one that selects, then the average accuracy; of methods without a classifier
    the accuracies of probes; where there are none of these, the first metric."""
    by_metric: dict[str, list[str]] = {}
    for name in name_metrics(table).unique():
        by_metric.setdefault(name.split()[0], []).append(name)
    ranking = [name for key in dict.fromkeys((roles.metric, RANKED)) for name in by_metric.get(key, [])]
    first = min(by_metric.items(), key=lambda item: item[0] == "samples")[1]
    return ranking or by_metric.get("probe_accuracy") or first


def list_metrics(point: str, table: pd.DataFrame, roles: Roles, groups: bool) -> Iterator[str]:
    """A row for each metric of one point; with ``groups``, then for each metric of a group."""
    width = max(18, *map(len, roles.heads.values())) + 2
    yield f"{'metric':<50}" + "".join(f"{head:>{width}}" for head in roles.heads.values())
    samples = table[(table["metric"] == "samples") & (table["shown"] == "best")].groupby("group")["value"].first()
    of_all = table["group"] == ""
    parts = [table[of_all | (table["metric"] == "probe_accuracy")]]
    parts += [table[~of_all & (table["metric"] == "accuracy")]] if groups else []
    for (metric, group), rows in (
        group_rows for part in parts for group_rows in part.groupby(["metric", "group"], sort=False)
    ):
        shown = {column: rows[rows["shown"] == column]["value"].dropna() for column in roles.heads}
        if not len(shown["best"]):
            continue
        of_group = f'{metric} of "{group}" ({samples.get(group, 0):,.0f} samples)'
        words = of_group if metric == "accuracy" else f"{metric} {group}".strip()
        cells = "".join(f"{format_spread(values):>{width}}" for values in shown.values())
        numbers = {column: values.mean() for column, values in shown.items()}
        spreads = {f"{column}_std": values.std() for column, values in shown.items()}
        named = {"point": point, "metric": metric, "group": group, "seeds": len(shown["best"])}
        yield Row(f"{words:<50}{cells}", "metrics", **named, **numbers, **spreads)
