"""What the papers' tables and claims say, gathered: every printed number once, every claim once, whether it was run
here or not."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from scipy import stats

from despur.orchestration import experiments
from despur.reporting.verdicts import NOT_RUN, kind

KEY = ["artifact", "paper_dataset", "method", "setting", "metric"]
OURS = ["ours", "ours_std", "difference", "seeds", "data", "verdict"]


def printed(paper: str) -> pd.DataFrame:
    """Every number that a paper prints (reported/*.csv; not its hyper-parameters, nor what is lost in print): a row
    each, with its unit, its place in the paper and the artifact that shows it."""
    room, tables = experiments.load_experiments(paper)["artifacts"], []
    shown_by = {
        Path(file).stem: name
        for name, here in room.items()
        for file in here.get("reads", [])
        if file.startswith("reported/")
    }
    for file in sorted((experiments.PAPERS / paper / "reported").glob("*.csv")):
        table = pd.read_csv(file, dtype={"setting": str})
        if "metric" in table:
            place = "text" if file.stem == "prose" else experiments.format_label(file.stem)
            tables.append(
                table.assign(
                    artifact=file.stem if file.stem in room else shown_by.get(file.stem, file.stem), place=place
                )
            )
    names = {"dataset": "paper_dataset", "mean": "reported", "std": "reported_std"}
    table = (
        pd.concat(tables, ignore_index=True).rename(columns=names)
        if tables
        else pd.DataFrame(columns=[*KEY, "reported", "unit", "place"])
    )
    return table[~table["metric"].str.startswith("hyperparameter") & table["reported"].notna()].reset_index(drop=True)


def measured(config: Mapping[str, Any], paper: str) -> pd.DataFrame:
    """The rows of a paper's finished tables that stand beside a printed number."""
    tables = [pd.DataFrame(columns=[*KEY, "shown", *OURS])]
    for artifact in made(config, paper):
        files = [file for file in experiments.list_outputs(config, paper, artifact) if file.endswith(".csv")]
        for file in map(Path, files if experiments.find_script(artifact) == experiments.TABLE else []):
            if {"paper_dataset", "reported", "verdict"} <= columns(file):
                table = pd.read_csv(file, dtype={"setting": str}).rename(columns={"reported": "shown"})
                tables.append(
                    table[table["shown"].notna()].assign(artifact=artifact).reindex(columns=[*KEY, "shown", *OURS])
                )
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def columns(file: Path) -> set[str]:
    """The names in the first line of a table, which may be empty."""
    with file.open() as lines:
        return set(next(lines, "").strip().split(","))


def made(config: Mapping[str, Any], paper: str) -> list[str]:
    """The artifacts of a paper that are finished; none if the configuration leaves the paper out."""
    if paper not in config["papers"]:
        return []
    return [
        name
        for name in experiments.load_experiments(paper)["artifacts"]
        if all(Path(f).exists() for f in experiments.list_outputs(config, paper, name))
    ]


def numbers(config: Mapping[str, Any], paper: str) -> pd.DataFrame:
    """A row for each printed number and each data set that plays a part in it, in the unit of the table; ``number``
    counts the printed."""
    table = printed(paper).assign(number=lambda t: range(len(t))).merge(measured(config, paper), on=KEY, how="left")
    table = table.astype(
        dict.fromkeys(("reported", "reported_std", "shown", "ours", "ours_std", "difference", "seeds"), float)
    )
    percent = (table["unit"] == "fraction") & ((table["shown"] / table["reported"] - 100).abs() < 1e-6)
    table.loc[percent, ["reported", "reported_std"]] *= 100
    table.loc[percent, "unit"] = "percent"
    table["verdict"] = table["verdict"].fillna(NOT_RUN)
    larger = table[["reported", "ours"]].abs().max(axis=1)
    return table.assign(
        paper=paper,
        kind=table["verdict"].map(kind),
        seeds=table["seeds"].fillna(0).astype(int),
        relative=table["difference"].abs() / larger.where(larger > 0, 1),
    ).drop(columns="shown")


def claims(config: Mapping[str, Any], paper: str) -> pd.DataFrame:
    """A row for each claim, data set of the paper and player; a claim that no finished table judges is not run here."""
    asked = yaml.safe_load((experiments.PAPERS / paper / "claims.yaml").read_text())
    keys = ("statement", "place", "margin", "because", "artifact")
    rows = [
        {"claim": c["name"], "dataset": role, **{key: c[key] for key in keys}} for c in asked for role in c["datasets"]
    ]
    table, file = pd.DataFrame(rows), Path(experiments.list_outputs(config, paper, "claims")[0]).with_suffix(".csv")
    judged = pd.read_csv(file) if "claims" in made(config, paper) else pd.DataFrame(columns=[*table, "verdict"])
    evidence = ["data", "verdict", "effect", "low", "high", "seeds", "p_seeds", "p_holm", "reason"]
    table = table.merge(judged.reindex(columns=["claim", "dataset", *evidence]), on=["claim", "dataset"], how="left")
    table = table.astype(dict.fromkeys(("effect", "low", "high", "seeds", "p_seeds", "p_holm"), float))
    table["verdict"] = table["verdict"].fillna(NOT_RUN)
    return table.assign(
        paper=paper, seeds=table["seeds"].fillna(0).astype(int), settle=[settle(row) for row in table.itertuples()]
    )


def settle(row: Any) -> str:
    """What would settle an undecided claim, if its effect stayed: how many seeds in all.

    The variance of an effect is that over seeds, which falls with their number, plus that over test originals, which
    does not. The first follows from the p value of seeds alone (t test), the second is what the interval has beyond
    it."""
    if row.verdict != "undecided":
        return ""
    if not math.isfinite(row.effect):
        return "runs in which it means something: see the reason"
    n, gap = int(row.seeds), abs(row.effect - row.margin)
    if n < 2:
        return "a second seed, at least"
    if not math.isfinite(row.p_seeds):
        return "seeds that differ: these give the same effect"
    if "seeds only" in str(row.reason):
        return "an interval over test originals: this measure has none"
    half = (row.effect - row.low if row.effect > row.margin else row.high - row.effect) / stats.norm.ppf(0.975)
    t = abs(stats.t.isf(row.p_seeds, n - 1))
    of_seeds = (gap / t) ** 2 * n if t > 0 else math.inf  # variance of one seed
    of_originals = max(
        half**2 - of_seeds * (n - 1) / n**2, 0.0
    )  # seeds drawn with replacement spread by (n - 1) / n less
    room = (gap / stats.norm.ppf(0.975)) ** 2 - of_originals
    if room <= 0 or not math.isfinite(of_seeds):
        return "no number of seeds: more test originals"
    return f"about {max(math.ceil(of_seeds / room), n + 1):,} seeds"
