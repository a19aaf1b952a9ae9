#!/usr/bin/env bash
# The tests that take seconds.
. "$(dirname "$0")/start.sh"
timeout "$LIMIT" python -m pytest -n "$(nproc --all)" -p no:cacheprovider ${TESTS:-} 2>&1 \
    | tee "$OUT/tests.txt" | tail -40 || true
[ -z "${TESTS:-}" ] || echo "only: $TESTS"
