"""The bundled run, starting processes."""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.common import ROOT, Row, seconds_of


def bundled_run() -> list[Row]:
    """The bundled run in a fresh copy of the project: wall time, processes, and how much of their time is the stages'
    own work."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "despur"
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "results", ".snakemake", "*.egg-info")
        )
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = os.environ | {"PYTHONPATH": str(copy / "workflow"), "PATH": path}
        snakemake = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
        dry = seconds_of([*snakemake, "--dry-run"], copy, environment)
        wall = seconds_of(snakemake, copy, environment)
        card = [
            sys.executable,
            "-m",
            "despur.reporting.pages.scorecard",
            "--configfile",
            "config.yaml",
            "--output",
            "results/again",
        ]
        page = seconds_of(card, copy, environment)
        abouts = [json.loads(path.read_text()) for path in copy.glob("results/*/*/*/*/about.json")]
        jobs = len(list(copy.glob("results/logs/**/*.log")))
        own = sum(about["seconds"] for about in abouts)
    return [
        ("bundled run", wall, "s", "<= 480", "2 cores, after installation"),
        (
            "bundled run: own work of stages 1, groups, 2",
            own,
            "s of core time",
            "",
            "the rest is imports, evaluation, artifacts, orchestration",
        ),
        ("bundled run: processes", jobs + 1, "processes", "<= 250", "jobs and Snakemake itself"),
        ("bundled run: scorecard", page, "s", "< 10", "the page alone"),
        ("dry-run of the default DAG", dry, "s", "<= 5", ""),
    ]


def imports() -> list[Row]:
    """What starting a process of each kind costs."""
    kinds = {
        "spec": "despur.specs.paths",
        "stage 2": "despur.training.runs",
        "groups": "despur.groups",
        "evaluate": "despur.evaluate",
        "tables": "despur.evidence.numbers.tables",
    }
    return [
        (
            f"import {name}",
            seconds_of([sys.executable, "-c", f"import {module}"], ROOT, dict(os.environ)),
            "s",
            "",
            module,
        )
        for name, module in kinds.items()
    ]
