"""The verdict of a run on one page: numbers, claims, the cross-paper matrix, cost, provenance.

    python -m despur.reporting.scorecard --configfile config.yaml --output results/scorecard

scorecard.csv has a row for each printed number and each claim. The page shows what is finished. All else is
marked as not run here."""

import argparse
import base64
import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml

from despur.orchestration import artifact_files, configuration, experiments, matrix
from despur.orchestration.configuration_files import list_files, load_merged
from despur.reporting import claims, cost, origin, tally, verdicts
from despur.specs.declarations import PACKAGE
from despur.specs.settings import SettingError
from despur.storage.group_warnings import describe_warnings
from despur.storage.store import atomic, write_csv

TEMPLATE = PACKAGE.parent / "report"
VERDICTS = ("holds", "fails", "undecided", verdicts.NOT_RUN, claims.NOT_EXECUTED)
COLUMNS = [
    "paper",
    "kind_of_row",
    "place",
    "artifact",
    "paper_dataset",
    "method",
    "setting",
    "metric",
    "unit",
    "reported",
    "reported_std",
    "ours",
    "ours_std",
    "difference",
    "smallest_visible",
    "claim",
    "statement",
    "k",
    "estimate",
    "low",
    "high",
    "margin",
    "printed",
    "seeds",
    "data",
    "substitute",
    "measured",
    "verdict",
    "advice",
]


class Page:
    """What the template shows. Links are relative to the page."""

    def __init__(self, config: Mapping[str, Any], target: Path) -> None:
        self.config, self.folder, self.file = config, target.parent, configuration.find_file(config)
        self.papers = [self.paper(name) for name in experiments.list_papers()]

    def link(self, path: str | Path) -> str:
        """The address of a result, from the page; empty where it is not there."""
        return os.path.relpath(path, self.folder) if Path(path).exists() else ""

    def paper(self, name: str) -> dict[str, Any]:
        """What was made of a paper and what it says."""
        folder, done = experiments.load_experiments(name), tally.made(self.config, name)
        numbers, judged = tally.numbers(self.config, name), tally.claims(self.config, name)
        runs = self.runs(name)
        numbers["link"] = [
            self.link(artifact_files.list_outputs(self.config, name, artifact)[0]) for artifact in numbers["artifact"]
        ]
        numbers["runs"] = [runs.get((r.artifact, r.paper_dataset, r.method), []) for r in numbers.itertuples()]
        judged["link"] = [
            self.link(artifact_files.list_outputs(self.config, name, artifact)[0]) for artifact in judged["artifact"]
        ]
        order = [numbers["kind"].map(verdicts.KINDS.index), -numbers["relative"].fillna(0)]
        shown = [
            a
            for a in folder["artifacts"]
            if not artifact_files.list_outputs(self.config, name, a)[0].endswith(".parquet")
        ]
        return {
            "name": name,
            "title": folder["title"],
            "artifacts": [
                (artifact_files.format_label(Path(file).stem), self.link(file) if a in done else "")
                for a in shown
                for file in first_of_each(artifact_files.list_outputs(self.config, name, a))
            ],
            "numbers": numbers.assign(first=order[0], second=order[1]).sort_values(["first", "second"], kind="stable"),
            "counts": (found := verdicts.counts(numbers)),
            "by_chance": verdicts.differences_by_chance(found),
            "claims": judged.sort_values("verdict", key=lambda v: v.map(VERDICTS.index), kind="stable"),
            "verdicts": Counter(judged["verdict"]),
            "command": self.command(name) if name in self.config["papers"] else command_elsewhere(name),
        }

    def command(self, target: str) -> str:
        """What to type to make a target; run.yaml holds a configuration that is in no file here."""
        option = "" if self.file == Path("config.yaml") else f" --configfile {self.file or 'run.yaml'}"
        return f"snakemake {target}{option}"

    def runs(self, paper: str) -> dict[tuple[str, str, str], list[str]]:
        """Addresses of the run folders behind each artifact, data set and method of a paper."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for artifact in tally.made(self.config, paper):
            for artifact_run in experiments.list_artifact_runs(self.config, paper, artifact):
                links = [link for folder in artifact_run.folders if (link := self.link(folder))]
                found.setdefault((artifact, artifact_run.paper_dataset, artifact_run.paper_method), []).extend(links)
        return found

    def matrix(self) -> dict[str, Any] | None:
        """The table of the cross-paper matrix, its heat map, and who helps on whose metric; None where it is not
        made."""
        files = {Path(file).suffix: Path(file) for file in matrix.list_outputs(self.config)}
        if not files or not files[".csv"].exists():
            return None
        table = pd.read_csv(files[".csv"], keep_default_na=False, na_values=[""])
        image = base64.b64encode(files[".png"].read_bytes()).decode()
        metrics = table.drop_duplicates("metric").to_dict("records")
        entries = {(row["method"], row["metric"]): row for row in table.to_dict("records")}
        methods = table.drop_duplicates("method").to_dict("records")
        link = {row["method"]: self.link(row["folder"]) for row in methods}
        return {
            "metrics": metrics,
            "methods": methods,
            "entries": entries,
            "image": image,
            "said": said(table),
            "link": link,
            "seeds": int(table["seeds"].max()),
        }

    def warnings(self) -> list[str]:
        """Inferred groups that leave a method nothing to work with."""
        folders = [folder for each in experiments.list_runs_of_papers(self.config) for folder in each.folders]
        return describe_warnings(dict.fromkeys(folders))

    def cost(self) -> dict[str, Any]:
        """Jobs and seconds by stage and by paper, what papers share, the critical path."""
        jobs = cost.Jobs()
        behind = {
            paper: jobs.behind(
                file
                for artifact in experiments.load_experiments(paper)["artifacts"]
                for file in artifact_files.list_outputs(self.config, paper, artifact)
            )
            for paper in self.config["papers"]
        }
        behind["matrix"] = jobs.behind(matrix.list_outputs(self.config))
        every = {log: job for each in behind.values() for log, job in each.items()}
        used = Counter(log for each in behind.values() for log in each)
        papers = [
            {"name": name, **cost.total(each.values()), "shared": sum(used[log] > 1 for log in each)}
            for name, each in behind.items()
            if each
        ]
        return {
            "stages": cost.by_stage(every.values()),
            "papers": papers,
            "path": jobs.critical_path(every),
            **cost.total(every.values()),
        }

    def provenance(self) -> dict[str, Any]:
        """What made the page, and how to make it again."""
        asked = {key: value for key, value in self.config.items() if value != {}}
        shown = yaml.safe_dump(asked, sort_keys=False, allow_unicode=True)
        return {**origin.code(), "data": origin.data(self.config), "config": shown}


def said(table: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Of each metric of the matrix: the methods that help, of the paper whose metric it is (``own``) and of
    ``others``; and that hurt."""
    found: dict[str, dict[str, list[str]]] = {name: {"own": [], "others": [], "hurts": []} for name in table["metric"]}
    for row in table.fillna({"papers": "", "paper": ""}).itertuples():
        whose = "own" if row.paper in row.papers.split() else "others"
        if word := {"helps": whose, "hurts": "hurts"}.get(row.versus_erm):
            found[row.metric][word].append(row.method)
    return found


def first_of_each(files: list[str]) -> list[str]:
    """The first file of each name."""
    return list({Path(file).stem: file for file in reversed(files)}.values())[::-1]


def command_elsewhere(paper: str) -> str:
    """What to type to run a paper that this configuration leaves out; empty where no configuration here has it."""
    having = [file for file in list_files() if paper in load_merged(file).get("papers", [])]
    return f"make CONFIG={having[0]}" if having else ""


def table(page: Page) -> pd.DataFrame:
    """A row for each printed number and for each claim, all papers."""
    numbers = [paper["numbers"].assign(kind_of_row="number") for paper in page.papers]
    judged = [
        paper["claims"].rename(columns={"dataset": "paper_dataset"}).assign(kind_of_row="claim")
        for paper in page.papers
    ]
    return pd.concat(
        [part.reindex(columns=COLUMNS).astype(object) for pair in zip(numbers, judged, strict=True) for part in pair]
    )


def number(value: Any, digits: int = 3) -> str:
    """A number of any size in a few digits; a dash for none."""
    if value is None or pd.isna(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def breakable(name: Any) -> str:
    """A name that may go on in the next line after each ``+``; a dash for none."""
    return "–" if pd.isna(name) else str(name).replace("+", "+\u200b")


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3.4 h``."""
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )


def render(page: Page) -> str:
    """The page as HTML that needs no other file."""
    loader = jinja2.FileSystemLoader(TEMPLATE)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"number": number, "duration": duration, "breakable": breakable}
    template = environment.get_template("scorecard.html.jinja")
    return template.render(
        page=page,
        kinds=verdicts.KINDS,
        verdicts=VERDICTS,
        matrix=page.matrix(),
        cost=page.cost(),
        warnings=page.warnings(),
        made=page.provenance(),
    )


def write(config: Mapping[str, Any], prefix: Path) -> Page:
    """``prefix``.html and .csv, each atomically; what they show."""
    page = Page(config, prefix)
    write_csv(prefix.with_suffix(".csv"), table(page))
    with atomic(prefix.with_suffix(".html")) as temporary:
        temporary.write_text(render(page), encoding="utf-8")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--configfile", type=Path, help="the configuration of the run")
    source.add_argument("--config", help="the same, as JSON")
    parser.add_argument("--output", type=Path, required=True, help="where to write it, without suffix")
    arguments = parser.parse_args()
    try:
        config = (
            configuration.load_configuration(arguments.configfile)
            if arguments.configfile
            else json.loads(arguments.config)
        )
    except SettingError as error:
        parser.error(str(error))
    write(config, arguments.output)


if __name__ == "__main__":
    main()
