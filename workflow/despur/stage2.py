"""Stage 2: train a method into results/runs/DATASET/METHOD/SEEDS: models, outputs, history.

python -m despur.stage2 results/runs/colored_digits/cnc+temperature=0.05/s0-2
"""

from despur.compute.machine import OPTIONS
from despur.storage.provenance import run_from_command_line
from despur.training.runs import train_all

if __name__ == "__main__":
    run_from_command_line(__doc__ or "", train_all, *OPTIONS)
