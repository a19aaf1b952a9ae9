"""Run config/published.yaml in miniature, from raw files to tables, figures, scorecard and report, in a copy of the
project: ``PYTHONPATH=tests python -m rehearsal FOLDER [PAPER ...]``. A rehearsal that was stopped goes on where it was.

Raw files are small and made up (raw_files.py), weights tiny and random (weights.py), training has one epoch and one
seed. Numbers mean nothing: what is tested is that every job of the published configuration ends, and that results that
are deleted are made again (again.py)."""

import argparse
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from project import Project

from rehearsal import again, raw_files, weights

CONFIG = "config/miniature.yaml"
OUTPUTS = "results/published"
# Settings of data sets that make them smaller.
SMALLER = {
    **dict.fromkeys(("waterbirds", "celeba", "fmow", "stl10", "coco30", "imagenet", "imagenet100"), "size=32"),
    **dict.fromkeys(("metashift", "nicopp", "imagenet_bg", "spawrious", "urbancars"), "size=32"),
    **{"multinli": "tokens=16"},
    **dict.fromkeys(("living17", "nonliving26", "entity13", "entity30"), "size=32"),
    **dict.fromkeys(("cifar10_001", "cifar10_02"), "per_class=4"),
    **{"civilcomments": "tokens=16", "amazon": "tokens=16", "moji": "held_out=40+train=200"},
    "imsitu": "source.size=32",
}
# What takes the place of the settings that papers state for training.
SHORTER = {
    **{"epochs": 1, "evaluate_every": 0, "patience": 0, "warmup": 0, "steps": 5, "head_epochs": 1},
    **{"batch_size": 32, "accumulation": 4, "anchor_fraction": 0.1, "num_positives": 4, "num_negatives": 4},
    **{"num_neighbors": 8, "queue": 64, "prototypes": 16, "slice": 16, "width": 4},
    **{"projector_width": 16, "projector_dim": 8},
    **{"layers": 1, "hidden": 64, "weights": "random", "stage1.epochs": 1, "stage1.batch_size": 32},
    **{"scales": 1, "window": 7, "learning_rate": 0.01},
}
ENCODERS = {"resnet50": "convnet", "resnet18": "convnet"}
DECLARATIONS = f'''

_published_hyperparameters = paper_hyperparameters


def paper_hyperparameters(dataset: str, base: str, role: str) -> dict[str, Any]:
    """Those of the paper, shortened for the rehearsal."""
    found = _published_hyperparameters(dataset, base, role) | {SHORTER!r}
    if base == "cnc":  # one epoch for the encoder, one for the classifier
        found["epochs"] = 2
    encoder = found.get("encoder", "")
    return found | ({{"encoder": {ENCODERS!r}.get(encoder, encoder)}} if encoder else {{}})
'''


def derive_configuration(published: Mapping[str, Any], papers: Sequence[str]) -> dict[str, Any]:
    """The published configuration with one seed, smaller data, few samples in figure_5 and few epochs in table_time."""
    artifacts = {
        paper: {name: {**changes, "seeds": 1} for name, changes in own.items()}
        for paper, own in published["artifacts"].items()
    }
    artifacts["adapters"] = {"figure_5": {"data": "samples=0~100"}}  # of 120 training samples
    artifacts["icl_msr"] = {
        "table_time": {
            "methods": {
                "simclr": "linear_classifier+stage1=simclr+stage1.epochs=1~2",
                "simclr_msr": "linear_classifier+stage1=simclr_msr+stage1.second_order=false~true",
            }
        }
    }
    return {
        **published,
        "papers": list(papers or published["papers"]),
        "seeds": 1,
        "datasets": {name: reduce_dataset(data) for name, data in published["datasets"].items()},
        "artifacts": artifacts,
        "matrix": {"data": reduce_dataset(published["matrix"]["data"])},
    }


def reduce_dataset(data: str | dict[str, Any]) -> Any:
    """A data set with its settings sorted, as a canonical name has them; with the methods that run on it, if named."""
    if isinstance(data, dict):
        return {**data, "data": reduce_dataset(data["data"])}
    base, *settings = data.split("+")
    return "+".join([base, *sorted([*settings, *filter(None, SMALLER.get(base, "").split("+"))])])


def prepare(folder: Path, papers: Sequence[str]) -> Project:
    """A copy of the project with small raw files, tiny weights and short training."""
    project = Project.fresh(folder)
    appended = {f"datasets/{name}": text for name, text in raw_files.write_all(folder / "data").items()}
    weights.write_all(folder / "weights")
    appended["specs/declarations"] = DECLARATIONS
    appended["encoders/clip"] = f"open_clip.add_model_config(Path({str(folder / 'weights/open_clip')!r}))\n"
    for name, text in appended.items():
        project.edit(f"workflow/despur/{name}.py", lambda before, text=text: before + text)
    published = yaml.safe_load((folder / "config/published.yaml").read_text())
    (folder / CONFIG).write_text(yaml.safe_dump(derive_configuration(published, papers)))
    project.environment |= {"DESPUR_DATA_ROOT": str(folder / "data"), "DESPUR_WEIGHTS_ROOT": str(folder / "weights")}
    return project


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m rehearsal", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("papers", nargs="*", help="only these papers")
    parser.add_argument("--cores", default="2")
    parser.add_argument("--dry-run", action="store_true", help="only list the jobs")
    parser.add_argument("--snakemake", default="", help='further arguments: "--workflow-profile profiles/slurm ..."')
    options = parser.parse_args()
    project = prepare(options.folder.resolve(), options.papers)
    command = ["snakemake", "--configfile", CONFIG, "--cores", options.cores, "--keep-going"]
    run = [*command, *shlex.split(options.snakemake), *(["--dry-run"] if options.dry_run else [])]
    report = [*command, "--report", f"{OUTPUTS}/report.html"]
    for arguments in [run] if options.dry_run else [run, report]:
        subprocess.run(arguments, cwd=project.root, env=project.environment, check=True)
    if not options.dry_run:
        again.check(project, "--configfile", CONFIG)


if __name__ == "__main__":
    main()
