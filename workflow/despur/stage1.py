"""Stage 1: train a stage-1 model (ERM, few epochs) into results/stage1/DATASET/MODEL/SEEDS: representations and logits
of every sample.

Groups are inferred from the last step (no selection among epochs: App. E.2.2 of Zhang et al. 2022); methods that are
fitted to its representations mostly read the best on validation data.

    python -m despur.stage1 results/stage1/colored_digits/erm/s0-2
"""

from despur.compute.machine import OPTIONS
from despur.storage.provenance import run_from_command_line
from despur.training.runs import train_all

if __name__ == "__main__":
    run_from_command_line(__doc__ or "", train_all, *OPTIONS)
