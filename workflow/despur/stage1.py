"""Stage 1: train a stage-1 model (ERM, few epochs) into results/stage1/DATASET/MODEL/SEEDS: representations and logits
of every sample.

    python -m despur.stage1 results/stage1/colored_digits/erm/s0-2
"""

import argparse

from despur.compute.machine import OPTIONS
from despur.specs.paths import ResultPath
from despur.storage.provenance import run_from_command_line
from despur.training.runs import train_all


def train(result: ResultPath, arguments: argparse.Namespace) -> None:
    """Two steps are kept: the last, from which groups are inferred (no selection among epochs: App. E.2.2 of Zhang
    et al. 2022), and the best on validation, for methods that are fitted to its representations."""
    train_all(result, arguments, ("best", "last"))


if __name__ == "__main__":
    run_from_command_line(__doc__ or "", train, *OPTIONS)
