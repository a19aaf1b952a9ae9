"""The bundled run, starting processes, the scorecard."""

import json
import os
import resource
import shutil
import sys
import tempfile
from base64 import urlsafe_b64encode
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


def scorecard(seeds: int = 220) -> list[Row]:
    """The scorecard of some 5,000 run folders with Snakemake's records of them, one process."""
    import yaml

    from despur.evidence import tally
    from despur.orchestration import artifact_files, experiments

    config = {
        "papers": ["cnc"],
        "seeds": [str(seed) for seed in range(seeds)],
        "outputs": "results",
        "datasets": {"cmnist": "colored_digits"},
    }
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        (root / "many.yaml").write_text(yaml.safe_dump(config))
        found = {
            artifact: experiments.list_artifact_runs(config, "cnc", artifact)
            for artifact in artifact_files.list_artifacts(config, "cnc")
        }
        folders = {
            folder
            for artifact_runs in found.values()
            for artifact_run in artifact_runs
            for folder in artifact_run.folders
        }
        for folder in folders:
            _run_folder(root, folder)
        for artifact in found:
            files = artifact_files.list_outputs(config, "cnc", artifact)
            for file in files:
                _record(root, file, f"cnc_{artifact}", artifact_files.list_inputs(config, "cnc", artifact))
            table = tally.list_printed("cnc").query(f"artifact == '{artifact}'").drop(columns="artifact")
            if artifact_files.find_module(artifact) == artifact_files.TABLE:
                table.assign(
                    claim="none", dataset="none", ours=1.0, difference=1.0, seeds=2, data="cmnist", verdict="beyond 5"
                ).to_csv(root / files[1], index=False)
        command = [
            sys.executable,
            "-m",
            "despur.reporting.pages.scorecard",
            "--configfile",
            "many.yaml",
            "--output",
            "results/scorecard",
        ]
        seconds = seconds_of(command, root, dict(os.environ))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    shape = f"{len(folders):,} run folders"
    return [("scorecard", seconds, "s", "< 60", shape), ("scorecard: peak memory", memory, "MB", "< 1000", shape)]


def _run_folder(root: Path, folder: str) -> None:
    """A finished folder as far as the scorecard looks at it: about.json and the records of its two jobs."""
    about = {
        "seconds": 20.0,
        "peak_memory_mb": 900.0,
        "device": "cpu",
        "runs": {},
        "specification": {"points": [{"key": "x" * 40}] * 20},
    }
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / folder / "about.json").write_text(json.dumps(about))
    data = [f"results/data/colored_digits/{name}" for name in ("inputs.npy", "table.parquet")]
    for name, rule, inputs in (
        ("models.safetensors", "train_stage2", data),
        ("metrics.csv", "evaluate", [f"{folder}/models.safetensors"]),
    ):
        _record(root, f"{folder}/{name}", rule, inputs)


def _record(root: Path, file: str, rule: str, inputs: list[str]) -> None:
    """A file, and Snakemake's record of the job that made it."""
    name = urlsafe_b64encode(file.encode()).decode()
    *parts, last = [name[i : i + 254] for i in range(0, len(name), 254)]
    path = root.joinpath(".snakemake/metadata", *(f"@{part}" for part in parts), last)
    record = {
        "rule": rule,
        "input": inputs,
        "log": [f"{file}.log"],
        "starttime": 1.0,
        "endtime": 21.0,
        "params": ["x" * 3000],
    }
    for target, text in ((path, json.dumps(record)), (root / file, "")):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
