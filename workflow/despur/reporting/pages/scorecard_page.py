"""What the page of verdicts shows: of each paper its numbers, claims, tables and figures; the matrix, cost,
provenance."""

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from despur.evidence import tally
from despur.evidence.numbers.counts import COMPARED, ORDER, count_numbers
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration import artifact_files, configuration, experiments, matrix
from despur.orchestration.configuration_files import list_files, load_merged
from despur.reporting.pages import cost, origin
from despur.reporting.pages.scorecard_counts import count_headline, join_tables, split_claims, sum_numbers
from despur.storage.group_warnings import describe_warnings


class Page:
    """What the template shows. Links are relative to the page."""

    def __init__(self, config: Mapping[str, Any], target: Path) -> None:
        self.config, self.folder = config, target.parent
        self.file = configuration.find_file(config) or Path(os.path.relpath(target.with_suffix(".yaml")))
        self.tables = {
            name: (tally.gather_numbers(config, name), tally.gather_claims(config, name))
            for name in experiments.list_papers()
        }
        self.papers = [self.paper(name) for name in self.tables]
        self.rows = join_tables(self.tables)
        self.headline = count_headline(self.rows)

    def link(self, path: str | Path) -> str:
        """The address of a result, from the page; empty where it is not there."""
        return os.path.relpath(path, self.folder) if Path(path).exists() else ""

    def link_artifact(self, paper: str, artifact: str) -> str:
        """The address of the first file of a table or figure."""
        return self.link(artifact_files.list_outputs(self.config, paper, artifact)[0])

    def paper(self, name: str) -> dict[str, Any]:
        """What was made of a paper and what it says."""
        numbers, claims = self.tables[name]
        runs = self.runs(name)
        numbers = numbers.assign(
            link=[self.link_artifact(name, artifact) for artifact in numbers["artifact"]],
            runs=[runs.get((r.artifact, r.paper_dataset, r.method), []) for r in numbers.itertuples()],
            order=numbers["verdict"].map(ORDER.index),
            size=-numbers["relative"].fillna(0),
        ).sort_values(["order", "size"], kind="stable")
        claims = claims.assign(link=[self.link_artifact(name, artifact) for artifact in claims["artifact"]])
        counts, artifacts = count_numbers(numbers), self.artifacts(name)
        return {
            "name": name,
            "title": experiments.load_experiments(name)["title"],
            "artifacts": artifacts,
            "made": sum(bool(address) for _, address in artifacts),
            "counts": counts,
            "numbers": sum_numbers(counts),
            "compared": numbers[numbers["verdict"].isin(COMPARED)],
            "beside": numbers[~numbers["verdict"].isin([*COMPARED, NumberVerdict.NOT_RUN])],
            "claims": split_claims(claims),
            "command": self.command(name) if name in self.config["papers"] else format_command(name),
        }

    def artifacts(self, paper: str) -> list[tuple[str, str]]:
        """The tables and figures of a paper, with their addresses; an empty address for what is not made. Of a paper of
        this configuration, those that have runs in it."""
        done, found = tally.list_made_artifacts(self.config, paper), []
        every = experiments.load_experiments(paper)["artifacts"]
        for artifact in artifact_files.list_artifacts(self.config, paper) if paper in self.config["papers"] else every:
            files = artifact_files.list_outputs(self.config, paper, artifact)
            if not files[0].endswith(".parquet"):
                first = {Path(file).stem: file for file in reversed(files)}  # the first file of each name
                found += [
                    (artifact_files.format_label(stem), self.link(file) if artifact in done else "")
                    for stem, file in reversed(first.items())
                ]
        return found

    def command(self, target: str) -> str:
        """What to type to make a target, in the folder of the project."""
        option = "" if self.file == Path("config.yaml") else f" --configfile {self.file}"
        return f"snakemake {target}{option}"

    def runs(self, paper: str) -> dict[tuple[str, str, str], list[str]]:
        """Addresses of the run folders behind each artifact, data set and method of a paper."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for artifact in tally.list_made_artifacts(self.config, paper):
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
            "said": collect_notes(table),
            "link": link,
            "seeds": int(table["seeds"].max()),
        }

    def warnings(self) -> list[str]:
        """Inferred groups that leave a method nothing to work with."""
        folders = [folder for each in experiments.list_runs_of_papers(self.config) for folder in each.folders]
        return describe_warnings(dict.fromkeys(folders))

    def cost(self) -> dict[str, Any]:
        """Jobs and seconds by stage and by paper, what papers share, the critical path."""
        return cost.measure_run(self.config)

    def provenance(self) -> dict[str, Any]:
        """What made the page, and how to make it again."""
        shown = self.format_configuration()
        return {**origin.describe_code(), "data": origin.describe_data(self.config), "config": shown}

    def format_configuration(self) -> str:
        """The complete configuration as YAML, without empty keys."""
        asked = {key: value for key, value in self.config.items() if value != {}}
        return yaml.safe_dump(asked, sort_keys=False, allow_unicode=True)


def collect_notes(table: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Of each metric of the matrix: the methods that help, of the paper whose metric it is (``own``) and of
    ``others``; and that hurt."""
    found: dict[str, dict[str, list[str]]] = {name: {"own": [], "others": [], "hurts": []} for name in table["metric"]}
    for row in table.fillna({"papers": "", "paper": ""}).itertuples():
        whose = "own" if row.paper in row.papers.split() else "others"
        if word := {"helps": whose, "hurts": "hurts"}.get(row.versus_erm):
            found[row.metric][word].append(row.method)
    return found


def format_command(paper: str) -> str:
    """What to type to run a paper that this configuration leaves out; empty where no configuration here has it."""
    having = [file for file in list_files() if paper in load_merged(file).get("papers", [])]
    return f"make CONFIG={having[0]}" if having else ""
