"""Keep what a full run measured: its tables, figures and histories, with provenance, under
results/reference/RUN/PAPER; beside them its scorecard and the digits of its runs. Then the tables in documents.

    python -m despur.reporting.reference --configfile config/reference.yaml
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.numbers.counts import COMPARED
from despur.evidence.verdicts import DECIDED, ORDERS, ClaimVerdict, NumberVerdict
from despur.orchestration import configuration, experiments
from despur.orchestration.experiments import REFERENCE
from despur.reporting.digits import find_reference, keep_digits
from despur.reporting.pages import origin
from despur.reporting.pages.cost import list_times
from despur.reporting.pages.summary import renew_documents
from despur.reporting.without_training import give_verdicts
from despur.specs.settings import SettingError
from despur.storage.store import atomic, write_csv, write_json

SHOWN = (NumberVerdict.FITTED, NumberVerdict.OTHER_SETTINGS, ClaimVerdict.NOT_TUNED)  # beside what is judged
LEDGER_VERDICTS = REFERENCE / "ledger/scorecard.csv"


def list_artifact_folders(config: dict[str, Any], paper: str) -> list[Path]:
    """The finished folders behind all artifacts of a paper; some artifacts show data alone, of which nothing was
    trained."""
    artifacts = experiments.load_experiments(paper)["artifacts"]
    artifact_runs = [
        artifact_run
        for artifact in artifacts
        for artifact_run in experiments.list_artifact_runs(config, paper, artifact)
    ]
    named = {folder for artifact_run in artifact_runs for folder in artifact_run.folders}
    return sorted(Path(folder) for folder in named if (Path(folder) / "about.json").exists())


def list_kept_files(folder: Path) -> list[Path]:
    """A paper's tables and figures as people read them, not what figures plot."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in (".md", ".png") or (file.suffix == ".csv" and file.with_suffix(".md").exists())
    )


def keep_reference(config: dict[str, Any]) -> None:
    """Copy each paper's tables and figures that were made; those that are made no longer go. Beside them: what made
    them (of each run specification, code digest, seconds, device, memory), and training histories."""
    made_by = {**origin.describe_code(), "config": config}  # before this writes into the tree
    outputs, kept = Path(config["outputs"]), find_reference(config)
    keep_scorecard(outputs, kept)
    if len(times := list_times(config)):
        write_csv(kept / "times.csv", times)
    for paper in config["papers"]:
        source, target = outputs / "papers" / paper, kept / paper
        if files := list_kept_files(source):
            for file in list_kept_files(target):
                file.unlink()
        for file in files:
            destination = target / file.relative_to(source)
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, destination)
        if files:
            runs = list_artifact_folders(config, paper)
            abouts = {str(run): json.loads((run / "about.json").read_text()) for run in runs}
            write_json(target / "provenance.json", {**made_by, "runs": abouts})
            histories = [pd.read_csv(run / "history.csv") for run in runs if (run / "history.csv").exists()]
            write_compact(target / "histories.csv.gz", pd.concat(histories) if histories else pd.DataFrame())
            print(f"kept in {target}")


def write_compact(file: Path, table: pd.DataFrame) -> None:
    """A table with five digits of each number, compressed; equal tables are equal files."""
    with atomic(file) as temporary:
        table.to_csv(temporary, index=False, float_format="%.5g", compression={"method": "gzip", "mtime": 0})


def keep_scorecard(outputs: Path, target: Path) -> None:
    """Copy the verdicts of a run, from which the README's table is made; nothing where they are not there."""
    if (scorecard := outputs / "scorecard.csv").exists():
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(scorecard, target)


def keep_ledger_verdicts(configfile: Path) -> Path:
    """The file in which is kept what the ledger's records say about a configuration, without runs of this machine:
    the rows of scorecard.csv that have a verdict. Beside it: the choices that papers leave open."""
    LEDGER_VERDICTS.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for _ in give_verdicts(configfile, Path(folder), use_ledger=True, results=Path(folder) / "no runs"):
            pass
        rows = pd.read_csv(Path(folder) / "scorecard.csv", dtype=str)
        shutil.copy(Path(folder) / "choices.csv", LEDGER_VERDICTS.with_name("choices.csv"))
    write_csv(LEDGER_VERDICTS, rows[rows["verdict"].isin([*COMPARED, *DECIDED, *ORDERS, *SHOWN])])
    return LEDGER_VERDICTS


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, default=Path("config/reference.yaml"))
    try:
        config = configuration.load_configuration(parser.parse_args().configfile)
    except SettingError as error:
        parser.error(str(error))
    keep_reference(config)
    keep_digits(config)
    print(*renew_documents(), sep="\n")
