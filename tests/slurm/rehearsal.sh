#!/usr/bin/env bash
# The rehearsal (make rehearsal) as jobs of a SLURM of its own: tests/slurm/rehearsal.sh FOLDER [PAPER ...]   (hours on two cores,
# as each job imports what the rehearsal's warm server shares; needs what start.sh needs)
set -euo pipefail
cd "$(dirname "$0")/../.."
slurm=$(mktemp -d)
trap 'tests/slurm/stop.sh "$slurm"; rm -r "$slurm"' EXIT
tests/slurm/start.sh "$slurm"
export SLURM_CONF=$slurm/slurm.conf PATH=$slurm/bin:$PATH
PYTHONPATH=tests python -m rehearsal "$@" --snakemake "--workflow-profile profiles/slurm --jobs 200 --latency-wait 5 \
    --default-resources slurm_partition=test --slurm-no-account --slurm-status-command squeue \
    --set-resources train_stage1:gpu=0 train_stage2:gpu=0 \
    --slurm-init-seconds-before-status-checks 3"
