#!/usr/bin/env bash
# Ratios with their anchors on the same device: CNC and its authors' code, views and lightly, ResNet-50 and PyTorch.
. "$(dirname "$0")/start.sh"
end=$((SECONDS + LIMIT))
for measure in ${MEASURES:-authors gpu anchors}; do
    left=$((end - SECONDS)) && [ $left -gt 0 ] || { echo "$measure: no time is left" && continue; }
    PYTHONPATH="tests:$PYTHONPATH" timeout $left python -m benchmarks "$OUT/$measure.csv" "$measure" \
        || echo "$measure ended with status $?"
done
