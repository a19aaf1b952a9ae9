"""What the page shows: what is known of each paper; its measurements, claims, tables and figures; orders on substitute
data; the papers' slips; the matrix, cost, provenance."""

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from despur.evidence import tally
from despur.evidence.all_evidence import Evidence
from despur.evidence.measurements import Measurement
from despur.evidence.numbers.counts import COMPARED, ORDER
from despur.evidence.verdicts import DECIDED, ORDERS, ClaimVerdict, NumberVerdict, PrintedVerdict, Tier
from despur.orchestration import artifact_files, configuration, experiments, matrix
from despur.orchestration.configuration_files import list_files, load_merged
from despur.orchestration.experiments import RESULTS
from despur.reporting.pages import origin
from despur.reporting.pages.number_lists import select_verdicts
from despur.reporting.pages.summary import PaperSummary, summarize_papers
from despur.specs.resolution import resolve
from despur.storage.group_warnings import describe_warnings
from despur.storage.raw_files import is_bundled

BESIDE = (NumberVerdict.FITTED, NumberVerdict.OTHER_SETTINGS, NumberVerdict.NOT_COMPARED)


class Page:
    """What the template shows of ``evidence``, and of a configuration's run. ``claims``: of each paper, executed on its
    printed numbers. Links are relative to the page."""

    def __init__(
        self, config: Mapping[str, Any], target: Path, evidence: Evidence, claims: Mapping[str, pd.DataFrame]
    ) -> None:
        self.config, self.folder, self.evidence = config, target.parent, evidence
        self.file = configuration.find_file(config) or Path(os.path.relpath(target.with_suffix(".yaml")))
        self.papers = [self.describe_paper(summary) for summary in summarize_papers(evidence)]
        self.slips = [
            {"paper": paper, **row}
            for paper, paper_claims in claims.items()
            for row in paper_claims[
                paper_claims["printed"].eq(PrintedVerdict.CONTRADICTED) & paper_claims["kind_of_row"].eq(tally.CLAIM)
            ]
            .drop_duplicates(["claim", "dataset"])
            .to_dict("records")
        ]

    def describe_paper(self, summary: PaperSummary) -> dict[str, Any]:
        """What is known of a paper, and what this configuration made of it."""
        name, artifacts = summary.paper, self.list_artifacts(summary.paper)
        measurements = sorted(
            (measurement for measurement in self.evidence.measurements if measurement.paper == name),
            key=rank_measurement,
        )
        return {
            "summary": summary,
            "name": name,
            "artifacts": artifacts,
            "made": sum(bool(address) for _, address in artifacts),
            "compared": list(map(self.link_runs, select_verdicts(measurements, COMPARED))),
            "beside": list(map(self.link_runs, select_verdicts(measurements, BESIDE))),
            "claims": split_claims(self.evidence.claims[self.evidence.claims["paper"] == name]),
            "command": self.command(name) if name in self.config["papers"] else format_command(name),
        }

    def link(self, path: str | Path) -> str:
        """The address of a result, from the page; empty where it is not there."""
        return os.path.relpath(path, self.folder) if Path(path).exists() else ""

    def link_runs(self, measurement: Measurement) -> dict[str, Any]:
        """A measurement, its notes, and the addresses of the folders of its runs that are on this machine."""
        named = [run for run in measurement.runs.split("; ") if run]
        folders = [folder for run in named for folder in sorted((RESULTS / "runs" / run).glob("s*"))]
        notes = list_notes(measurement)
        return {**vars(measurement), "notes": notes, "folders": [self.link(folder) for folder in folders]}

    def list_artifacts(self, paper: str) -> list[tuple[str, str]]:
        """The tables and figures of a paper, with their addresses; an empty address for what is not made. Of a paper of
        this configuration, those that have runs in it."""
        done, addresses = tally.list_made_artifacts(self.config, paper), []
        every = experiments.load_experiments(paper)["artifacts"]
        for artifact in artifact_files.list_artifacts(self.config, paper) if paper in self.config["papers"] else every:
            files = artifact_files.list_outputs(self.config, paper, artifact)
            if not files[0].endswith(".parquet"):
                first = {Path(file).stem: file for file in reversed(files)}  # the first file of each name
                addresses += [
                    (artifact_files.format_label(stem), self.link(file) if artifact in done else "")
                    for stem, file in reversed(first.items())
                ]
        return addresses

    def command(self, target: str) -> str:
        """What to type to make a target, in the folder of the project."""
        option = "" if self.file == Path("config.yaml") else f" --configfile {self.file}"
        return f"snakemake {target}{option}"

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
            "substitute": is_bundled(resolve("datasets", methods[0]["data"]).points),
            "methods": methods,
            "entries": entries,
            "image": image,
            "said": collect_notes(table),
            "link": link,
            "seeds": int(table["seeds"].max()),
        }

    def warnings(self) -> list[str]:
        """Inferred groups that leave a method nothing to work with."""
        folders = [
            folder for artifact_run in experiments.list_runs_of_papers(self.config) for folder in artifact_run.folders
        ]
        return describe_warnings(dict.fromkeys(folders))

    def provenance(self) -> dict[str, Any]:
        """What made the page, and how to make it again."""
        shown = self.format_configuration()
        return {**origin.describe_code(), "data": origin.describe_data(self.config), "config": shown}

    def format_configuration(self) -> str:
        """The complete configuration as YAML, without empty keys."""
        settings = {key: value for key, value in self.config.items() if value != {}}
        return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)


def rank_measurement(measurement: Measurement) -> tuple[int, float]:
    """Beyond 5 points first, the largest differences first."""
    size = abs(measurement.difference) / max(abs(measurement.reported), abs(measurement.ours), 1e-12)
    return ORDER.index(measurement.verdict), -size if size == size else 0.0


def list_notes(measurement: Measurement) -> list[str]:
    """What stands below a verdict: its reason, what would decide it, how many seeds collapsed; and the verdict under
    other assumptions, where it would change."""
    others = {
        "if seeds are normal (90 % interval)": measurement.if_normal,
        "if the paper's seeds vary three times as much as ours": measurement.threefold,
    }
    changed = [f"{verdict} {words}" for words, verdict in others.items() if verdict not in ("", measurement.verdict)]
    notes = (measurement.reason, measurement.would_decide, measurement.collapsed, *changed)
    return [note for note in notes if note]


def split_claims(claims: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The claims of a paper by tier and by what is said of them, orders that are seen first."""
    ordered = claims.sort_values("verdict", key=lambda verdicts: verdicts.map([*ClaimVerdict].index), kind="stable")

    def select(tier: Tier, *verdicts: ClaimVerdict) -> pd.DataFrame:
        return ordered[ordered["tier"].eq(tier) & ordered["verdict"].isin(verdicts)]

    return {
        "own": select(Tier.PAPER, *DECIDED),
        "other_encoder": select(Tier.OTHER_ENCODER, *ORDERS),
        "substitute": select(Tier.SUBSTITUTE, *ORDERS),
        "not_tuned": select(Tier.PAPER, ClaimVerdict.NOT_TUNED),
        "not_run": select(Tier.PAPER, ClaimVerdict.NOT_RUN),
        "not_executed": select(Tier.PAPER, ClaimVerdict.NOT_EXECUTED),
    }


def collect_notes(table: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Of each metric of the matrix: the methods that help, of the paper whose metric it is (``own``) and of
    ``others``; and that hurt."""
    notes: dict[str, dict[str, list[str]]] = {name: {"own": [], "others": [], "hurts": []} for name in table["metric"]}
    for row in table.fillna({"papers": "", "paper": ""}).itertuples():
        whose = "own" if row.paper in row.papers.split() else "others"
        if word := {"helps": whose, "hurts": "hurts"}.get(row.versus_erm):
            notes[row.metric][word].append(row.method)
    return notes


def format_command(paper: str) -> str:
    """What to type to run a paper that this configuration leaves out; empty where no configuration here has it."""
    having = [file for file in list_files() if paper in load_merged(file).get("papers", [])]
    return f"make CONFIG={having[0]}" if having else ""
