#!/usr/bin/env bash
# Ratios with their anchors on the same device: CNC and its authors' code, views and lightly, ResNet-50 and plain PyTorch.
. "$(dirname "$0")/start.sh"
timeout "$LIMIT" env PYTHONPATH="tests:$PYTHONPATH" python -m benchmarks "$OUT/benchmarks.csv" ${MEASURES:-anchors authors gpu} \
    || echo "ended with status $?: the table holds what was measured"
