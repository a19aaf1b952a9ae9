"""Where each run was measured: in the folder of a run on this machine, or elsewhere, as a record of the ledger says.

A run counts once: the one of this machine, else a record (despur/evidence/ledger/standing.py). Seeds are 0 to n - 1:
what comes after a gap does not count, so nobody can pick seeds. Runs and records of code with other revisions do not
count."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from despur.evidence.ledger import files
from despur.evidence.ledger.record_checks import load_sound
from despur.evidence.ledger.standing import explain_revisions, judge_records
from despur.evidence.runs.changed_settings import name_data
from despur.orchestration.experiments import RESULTS, ArtifactRun
from despur.specs.paths import Run, chunk_seeds, locate_result
from despur.specs.settings import SettingError
from despur.storage.digest import revisions
from despur.storage.finished_runs import means_the_same

NOT_SHOWN = "no table of this configuration shows it"


@dataclass
class Sources:
    """``where``: the folder or the record that measured a run, by the run's key. ``records``: of each record, its key
    and why it does not count (empty: it does). ``faults``: what is wrong with files that are not used. ``gaps``: runs
    that are not used because one with a smaller seed is missing."""

    where: dict[str, str] = field(default_factory=dict)
    records: dict[Path, tuple[str, str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    gaps: dict[str, str] = field(default_factory=dict)

    @property
    def seeds(self) -> int:
        """How many seeds any run has at most."""
        return max((1 + int(key.rpartition("/s")[2]) for key in self.where), default=0)


def find_sources(use_ledger: bool = True, results: Path = RESULTS, folder: Path = files.LEDGER) -> Sources:
    """Every run that was measured and counts."""
    sources = Sources()
    if use_ledger:
        records, sources.faults = load_sound(folder)
        for record, key, reason in judge_records(records):
            sources.records[record.path] = (key, reason)
            if not reason:
                sources.where[key] = str(record.path)
    for file in sorted(results.glob("runs/*/*/*/metrics.csv")):
        sources.where |= {run.key: str(file.parent) for run in list_current_runs(file.parent)}
    return sources


def list_current_runs(folder: Path) -> list[Run]:
    """The runs of a finished folder on this machine that have the meaning and the revisions of today. Their evaluation
    is that of today: Snakemake repeats it when its code changes."""
    try:
        result, about = locate_result(folder), json.loads((folder / "about.json").read_text())
        if not means_the_same(result, about) or explain_revisions(revisions(result), about.get("revisions", {})):
            return []
        return result.runs()
    except (SettingError, OSError, ValueError, KeyError):  # of another version of this program
        return []


def list_runs(artifact_run: ArtifactRun, seeds: int) -> dict[str, list[Run]]:
    """The runs of an artifact at each of its points, with seeds 0 to ``seeds`` - 1, whichever it asks for."""
    result = artifact_run.result
    by_key: dict[str, list[Run]] = {}
    for run in replace(result, seeds=chunk_seeds(seeds, seeds)[0]).runs():
        by_key.setdefault(f"{name_data(artifact_run, run.data.name)}/{run.spec.name}", []).append(run)
    return by_key


def attach_sources(artifact_runs: Iterable[ArtifactRun], sources: Sources) -> Iterator[ArtifactRun]:
    """Of these runs, those that were measured, and where. Results of other stages: those that are on this machine."""
    for artifact_run in artifact_runs:
        if artifact_run.result.stage != "runs":
            here = tuple(folder for folder in artifact_run.folders if (Path(folder) / "about.json").exists())
            if here:
                yield replace(artifact_run, folders=here)
        elif pairs := tuple(list_sources(artifact_run, sources)):
            yield replace(artifact_run, sources=pairs)


def list_sources(artifact_run: ArtifactRun, sources: Sources) -> Iterator[tuple[str, str]]:
    """(key, where it was measured) of the runs of an artifact that count: at each point, seeds without a gap."""
    for point, runs in list_runs(artifact_run, sources.seeds).items() if sources.where else ():
        missing = next((run.seed for run in runs if run.key not in sources.where), None)
        for run in runs:
            if missing is None or run.seed < missing:
                yield run.key, sources.where[run.key]
            elif run.key in sources.where:
                sources.gaps[run.key] = f"seed {missing} of {point} is missing"


def explain_records(sources: Sources, used: Mapping[str, str]) -> Iterator[tuple[Path, str, str]]:
    """(file, run, why it does not count) of each record; ``used``: where each run that tables show was measured."""
    for path, (key, reason) in sorted(sources.records.items()):
        if not reason and sources.where[key] != str(path):
            reason = f"{sources.where[key]} is of the same run, on this machine"
        yield path, key, reason or sources.gaps.get(key, "") or ("" if used.get(key) == str(path) else NOT_SHOWN)
