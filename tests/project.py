"""Copies of the project, with tiny settings, that the tests of the workflow run Snakemake in. No torch here."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import forked
import pytest

SOURCE = Path(__file__).parent.parent
PARTS = ("README.md", "Snakefile", "config.yaml", "config", "workflow", "profiles", "envs", "docs")
CONFIGS = ["config.yaml", *sorted(str(path.relative_to(SOURCE)) for path in (SOURCE / "config").glob("*.yaml"))]
TABLE, FIGURE = "results/papers/cnc/table_1.csv", "results/papers/cnc/figure_5.png"
WITHOUT_MESSAGES = "\nfor each in workflow.rules:\n    each.message = None\n"  # details instead
JOB = re.compile(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", re.MULTILINE)

# Few samples, one or two epochs, small contrastive batches, no UMAP: what is left takes seconds.
TINY = {
    "workflow/despur/datasets/colored_digits.py": {
        r"PAPER_HYPERPARAMETERS = \{.*?\n\}\n": 'PAPER_HYPERPARAMETERS = {"*": {"epochs": 1, "learning_rate": 0.01},'
        ' "cnc": {"epochs": 2, "groups": "predictions", "accumulation": 8, "anchor_fraction": 0.25,'
        ' "num_positives": 2, "num_negatives": 2}}\n',
        r'"val_fraction": float_\(0.15': '"val_fraction": float_(0.05',
        r'"test_fraction": float_\(0.25': '"test_fraction": float_(0.05',
    },
    "workflow/despur/warm/preparation.py": {r" umap captum\.attr\n": "\n"},
    "config.yaml": {r".+": 'papers: [cnc]\nmethods: [erm, cnc]\nseeds: ["0-1"]\ndatasets:\n  cmnist: colored_digits\n'},
}


class Project:
    """A copy of the project; Snakemake and its jobs use the package of the copy."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("SNAKEMAKE_")},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(root / "workflow"),
        }

    @classmethod
    def fresh(cls, root: Path) -> "Project":
        """The project as it is, without results."""
        root.mkdir(parents=True, exist_ok=True)
        skipped = shutil.ignore_patterns("*.pyc.*")  # which are being written
        for part in PARTS:
            if (SOURCE / part).is_dir():
                shutil.copytree(SOURCE / part, root / part, ignore=skipped, dirs_exist_ok=True)
            else:
                shutil.copy2(SOURCE / part, root / part)
        return cls(root)

    def copy(self, root: Path) -> "Project":
        """The project as it is, with results and what Snakemake knows about them; times and the environment stay."""
        copied = Project(shutil.copytree(self.root, root))
        copied.environment = self.environment | {"PYTHONPATH": copied.environment["PYTHONPATH"]}
        return copied

    def start(self, *command: str, **changed: Any) -> subprocess.Popen[str]:
        """Start ``python COMMAND`` with this package, in a session of its own. ``changed``: options of subprocess."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
        return subprocess.Popen([sys.executable, *command], cwd=self.root, env=self.environment, **(options | changed))

    def python(self, *command: str) -> str:
        """What ``python COMMAND`` prints; it must succeed."""
        code, text = finish(self.start(*command))
        assert code == 0, text
        return text

    def call_snakemake(self, *arguments: str, seconds: float = 600) -> tuple[int, str]:
        """Exit status of Snakemake and what it prints. It is forked, which spares its imports."""
        return forked.run(["-m", "snakemake", *arguments], self.root, self.environment, seconds)

    def snakemake(self, *arguments: str) -> str:
        """What Snakemake prints; it must succeed."""
        code, text = self.call_snakemake("-c1", *arguments)
        assert code == 0, text
        return text

    def plan(self, *arguments: str) -> dict[str, str]:
        """The jobs of a dry-run, ``rule wildcards``, and what Snakemake says about each."""
        found = {}
        (self.root / "Snakefile.details").write_text((self.root / "Snakefile").read_text() + WITHOUT_MESSAGES)
        for rule, details in JOB.findall(self.snakemake("-n", "-s", "Snakefile.details", *arguments)):
            wildcards = re.search(r"^ +wildcards: (.*)$", details, re.MULTILINE)
            pairs = [pair.partition("=") for pair in wildcards[1].split(", ")] if wildcards else []
            values = [f"s{value}" if key == "seeds" else value for key, _, value in pairs]
            found[f"{rule} {'/'.join(values)}".strip()] = details
        return found

    def edit(self, file: str, change: Callable[[str], str]) -> None:
        """Change the text of a file."""
        before = (self.root / file).read_text()
        after = change(before)
        assert after != before, f"{file} is not changed"
        (self.root / file).write_text(after)

    def results(self) -> dict[str, bytes]:
        """Every file below results/."""
        return {
            str(p.relative_to(self.root)): p.read_bytes() for p in sorted(self.root.glob("results/**/*")) if p.is_file()
        }


def save_every_step(project: Project) -> None:
    """Every step of a training is a checkpoint (by default every 30 seconds), so that a job is stopped in the middle of
    it."""
    project.environment["DESPUR_CHECKPOINT_SECONDS"] = "0"


def pretend(folder: Path, name: str, *lines: str) -> str:
    """A made-up program in ``folder`` that prints these lines, whatever it is asked; PATH with it."""
    (folder / name).write_text("\n".join(["#!/bin/sh", "cat << END", *lines, "END", ""]))
    (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def finish(process: subprocess.Popen[str], seconds: float = 600) -> tuple[int, str]:
    """Exit status and output of a process, which is killed with all that it started if it takes much too long."""
    try:
        text, _ = process.communicate(timeout=seconds)
    except BaseException:
        kill(process)
        raise
    return process.returncode, text


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process and all that it started, so that none of them can clean up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def tiny_project(factory: pytest.TempPathFactory) -> Project:
    """A finished tiny run, to be copied: made once in a test session, also when several processes (pytest -n) share
    it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tiny"
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = Path(f"{folder}.done")
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make_tiny(folder)
            done.touch()
    return Project(folder)


def make_tiny(root: Path) -> None:
    """Run ERM and CNC for two seeds, to a table and a figure."""
    shrink(Project.fresh(root)).snakemake(TABLE, FIGURE)


def shrink(project: Project) -> Project:
    """The same with tiny settings."""
    for file, changes in TINY.items():
        for old, new in changes.items():
            project.edit(file, partial(re.sub, old, new, count=1, flags=re.DOTALL))
    return project
