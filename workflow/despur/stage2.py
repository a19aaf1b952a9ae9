"""Stage 2: train a method into results/runs/DATASET/METHOD/SEEDS: models, outputs, history.

python -m despur.stage2 results/runs/colored_digits/cnc+temperature=0.05/s0-2
"""

import argparse

from despur.compute.machine import OPTIONS
from despur.specs.paths import ResultPath
from despur.storage.provenance import run_from_command_line
from despur.training.runs import train_all


def train(result: ResultPath, arguments: argparse.Namespace) -> None:
    """Train all runs; the models of two steps are kept: the best on validation data, and the last."""
    train_all(result, arguments, ("best", "last"))


if __name__ == "__main__":
    run_from_command_line(__doc__ or "", train, *OPTIONS)
