#!/usr/bin/env bash
# Ratios with their anchors on the same device: CNC and its authors' code, views and lightly, ResNet-50 and plain PyTorch.
. "$(dirname "$0")/start.sh"
end=$((SECONDS + LIMIT))
for measure in ${MEASURES:-authors gpu anchors}; do
    PYTHONPATH="tests:$PYTHONPATH" timeout $((end - SECONDS)) python -m benchmarks "$OUT/$measure.csv" "$measure" \
        || echo "$measure ended with status $?"
done
