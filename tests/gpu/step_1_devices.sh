#!/usr/bin/env bash
# The bundled run twice on the device and once on the CPU: equal digits of the two, and how far the CPU is.
: "${SLOTS:=16}"
. "$(dirname "$0")/start.sh"
export DESPUR_DETERMINISTIC=1
for name in first second cpu; do
    git clone -q "$tools/checkout" "$tools/$name"
    (
        cd "$tools/$name"
        if [ "$name" = cpu ]; then profile=profiles/default && export CUDA_VISIBLE_DEVICES=; fi
        run_snakemake ${TARGETS:-} --until evaluate > "$OUT/$name.log" 2>&1
    ) &
done
wait
tail -qn 2 "$OUT"/{first,second,cpu}.log
python tests/compare_metrics.py "$tools/first/results" "$tools/second/results" > "$OUT/two_runs.txt" || true
tail -n 1 "$OUT/two_runs.txt"
python tests/gpu/compare_devices.py "$tools/cpu/results" "$tools/first/results" "$OUT/devices.csv"
