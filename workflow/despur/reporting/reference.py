"""Keep what a run of a paper measured: its tables, figures, verdicts, times, digits and histories, with provenance,
under results/reference/RUN/PAPER. Then renew the tables in documents. ``matrix`` stands for the table of all methods.

    python -m despur.reporting.reference cnc --configfile config/reference.yaml
"""

import argparse
import gzip
import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence import tally
from despur.evidence.all_evidence import UNDECIDABLE, load_evidence
from despur.evidence.numbers.counts import COMPARED
from despur.evidence.runs.sources import find_sources
from despur.evidence.verdicts import DECIDED, ORDERS, NumberVerdict
from despur.orchestration import artifact_files, configuration, experiments, matrix
from despur.orchestration.experiments import REFERENCE
from despur.reporting.digits import find_reference, keep_digits
from despur.reporting.pages import origin
from despur.reporting.pages.cost import list_times
from despur.reporting.pages.judged_claims import select_open
from despur.reporting.pages.open_choices import CHOICES
from despur.reporting.pages.summary import renew_documents
from despur.reporting.tables import read_caption
from despur.reporting.without_training import write_choices, write_verdicts
from despur.specs.settings import SettingError
from despur.storage.store import InputError, atomic, write_csv, write_json
from despur.storage.texts import write_text

SHOWN = (NumberVerdict.FITTED, *UNDECIDABLE)  # beside what is judged
MATRIX = "matrix"
PAGE = "README.md"  # of a paper's folder
LEDGER_VERDICTS = REFERENCE / "ledger/scorecard.csv"


def list_artifact_folders(config: dict[str, Any], paper: str) -> list[Path]:
    """The finished folders behind all artifacts of a paper; some artifacts show data alone, of which nothing was
    trained."""
    shown = configuration.list_shown_results(config, paper)
    return sorted(result.folder for result in shown if (result.folder / "about.json").exists())


def list_kept_files(folder: Path) -> list[Path]:
    """A paper's tables and figures as people read them, not what figures plot."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in (".md", ".png") or (file.suffix == ".csv" and file.with_suffix(".md").exists())
    )


def keep_paper(config: dict[str, Any], paper: str) -> Path:
    """Copy a paper's tables and figures; those that are made no longer go. Beside them: what made them (of each run
    specification, code digest, seconds, device, memory), verdicts, times, and training histories. Returns the folder.
    Raises InputError where not all of them are made."""
    source, target = Path(config["outputs"]) / "papers" / paper, find_reference(config) / paper
    made_by = {**origin.describe_code(), "config": config}  # before this writes into the tree
    refuse_unfinished(paper, artifact_files.list_paper_outputs(config, paper))
    for file in list_kept_files(target):
        file.unlink()
    copy_files(list_kept_files(source), source, target)
    write_text(target / PAGE, format_page(paper, target))
    runs = list_artifact_folders(config, paper)
    abouts = {str(run): json.loads((run / "about.json").read_text()) for run in runs}
    write_json(target / "provenance.json", {**made_by, "runs": abouts})
    judged = tally.gather_numbers(config, paper), tally.gather_claims(config, paper)
    write_csv(target / "scorecard.csv", tally.join_tables({paper: judged}))
    if len(times := list_times(config | {"papers": [paper], "matrix": None})):
        write_csv(target / "times.csv", times)
    histories = [pd.read_csv(run / "history.csv") for run in runs if (run / "history.csv").exists()]
    write_compact(target / "histories.csv.gz", pd.concat(histories) if histories else pd.DataFrame())
    keep_digits(config, paper)
    return target


def format_page(paper: str, folder: Path) -> str:
    """The page of a kept folder: its figures with their captions, and its tables."""
    title = experiments.load_experiments(paper)["title"]
    parts = [
        f"# {title}",
        "Of substitute data only orders may be looked at; their numbers say nothing about the paper.",
    ]
    for figure in sort_artifacts(paper, folder.glob("*.png")):
        parts += [f"![{figure.stem}]({figure.name})", read_caption(paper, figure.stem).strip()]
    tables = ", ".join(f"[{file.stem}]({file.name})" for file in sort_artifacts(paper, folder.glob("*.md")))
    return "\n\n".join([*parts, f"Tables: {tables}."]) + "\n"


def sort_artifacts(paper: str, files: Iterable[Path]) -> list[Path]:
    """Files of tables and figures, in the order of the paper's experiments.yaml; without the page of the folder."""
    order = list(experiments.load_experiments(paper)["artifacts"])
    known = sorted(file for file in files if file.name != PAGE)
    return sorted(known, key=lambda file: order.index(file.stem) if file.stem in order else len(order))


def keep_matrix(config: dict[str, Any]) -> Path:
    """Copy the table of all methods and its figure; beside them the digits of its runs. Returns the folder."""
    source, target = Path(config["outputs"]), find_reference(config) / MATRIX
    outputs = matrix.list_outputs(config)
    refuse_unfinished(MATRIX, outputs)
    copy_files([Path(file) for file in outputs if file.endswith((".csv", ".png"))], source, target)
    keep_digits(config, MATRIX)
    return target


def list_parts(config: dict[str, Any]) -> list[str]:
    """What a configuration makes: its papers, and the matrix where it has one."""
    return [*config["papers"], *([MATRIX] if matrix.list_outputs(config) else [])]


def refuse_unfinished(target: str, outputs: list[str]) -> None:
    """Raises InputError where a file is not made."""
    if missing := [file for file in outputs if not Path(file).exists()]:
        raise InputError(f"{missing[0]} is not there: make it with snakemake {target} and this configuration")


def copy_files(files: list[Path], source: Path, target: Path) -> None:
    """Copy files of a folder to the same places in another."""
    for file in files:
        destination = target / file.relative_to(source)
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, destination)


def write_compact(file: Path, table: pd.DataFrame) -> None:
    """A table with five digits of each number, compressed; equal tables are equal files."""
    with atomic(file) as temporary:
        temporary.write_bytes(gzip.compress(table.to_csv(index=False, float_format="%.5g").encode(), mtime=0))


def keep_ledger_verdicts(configfiles: Sequence[Path]) -> Path:
    """The file in which is kept what the ledger's records say about configurations, without runs of this machine: the
    rows of scorecard.csv that have a verdict, and claims whose data were run in part. Beside it: the choices that
    papers leave open, as the first one has them."""
    LEDGER_VERDICTS.parent.mkdir(parents=True, exist_ok=True)
    configs, parts = [configuration.load_configuration(file) for file in configfiles], []
    with tempfile.TemporaryDirectory() as folder:
        sources = find_sources(results=Path(folder))  # in which no runs are
        for number, config in enumerate(configs):
            output = Path(folder) / str(number)
            for _ in write_verdicts(config, sources, output):
                pass
            parts.append(pd.read_csv(output / "scorecard.csv", dtype=str))
    write_choices(configs[0], sources, CHOICES)
    rows = pd.concat(parts, ignore_index=True).drop_duplicates()
    kept = rows["verdict"].isin([*COMPARED, *DECIDED, *ORDERS, *SHOWN]) | rows.index.isin(select_open(rows).index)
    write_csv(LEDGER_VERDICTS, rows[kept])
    return LEDGER_VERDICTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="papers, or matrix; without, the names of all are printed")
    parser.add_argument("--configfile", type=Path, default=Path("config/reference.yaml"))
    arguments = parser.parse_args()
    try:
        config = configuration.load_configuration(arguments.configfile)
        parts = list_parts(config)
        if unknown := sorted({*arguments.parts} - {*parts}):
            parser.error(f"{unknown[0]} is not of {arguments.configfile}, which has: {', '.join(parts)}")
        for part in arguments.parts:
            print(f"kept in {keep_matrix(config) if part == MATRIX else keep_paper(config, part)}")
    except (SettingError, InputError) as error:
        parser.error(str(error))
    print(*(renew_documents(load_evidence()) if arguments.parts else parts), sep="\n")


if __name__ == "__main__":
    main()
