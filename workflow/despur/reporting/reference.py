"""Keep what a full run measured: its tables, figures and histories, with provenance, under results/reference/CONFIG.

python -m despur.reporting.reference --configfile config/mnist.yaml
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd

from despur import experiments
from despur.paths import locate
from despur.provenance import versions
from despur.store import write_csv, write_json


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()


def folders(config: dict[str, Any]) -> list[Path]:
    """The run folders behind all artifacts of a configuration; some artifacts show data alone, of which nothing was trained."""
    named = {folder for paper in config["papers"] for artifact in experiments.room(paper)["artifacts"]
             for cell in experiments.cells(config, paper, artifact) for folder in cell.folders}  # fmt: skip
    return sorted(Path(folder) for folder in named if (Path(folder) / "about.json").exists())


def provenance(config: dict[str, Any]) -> dict[str, Any]:
    """What made the numbers: commit, versions, machine, and of each run its specification, code digest, seconds, device, memory."""
    abouts = {str(folder): json.loads((folder / "about.json").read_text()) for folder in folders(config)}
    return {
        "commit": git("rev-parse", "HEAD"),
        "tree_was_clean": not git("status", "--porcelain"),
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "config": config,
        "runs": abouts,
    }


def keep(configfile: Path) -> None:
    """Copy tables and figures as people read them, and write provenance and histories beside them."""
    config = experiments.configuration(configfile)
    target = Path("results/reference") / configfile.stem
    made_by = provenance(config)  # before this writes into the tree
    for file in sorted(Path(config["outputs"], "papers").rglob("*")):
        if file.suffix in (".md", ".png") or (file.suffix == ".csv" and file.with_suffix(".md").exists()):  # not what figures plot
            destination = target / file.relative_to(Path(config["outputs"]) / "papers")
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, destination)
    write_json(target / "provenance.json", made_by)
    write_csv(
        target / "histories.csv",
        pd.concat([pd.read_csv(folder / "history.csv") for folder in folders(config) if locate(folder).stage != "groups"]),
    )
    print(f"kept in {target}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, default=Path("config.yaml"))
    keep(parser.parse_args().configfile)
