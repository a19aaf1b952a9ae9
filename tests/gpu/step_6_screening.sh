#!/usr/bin/env bash
# The screening of domain_temperature (config/mnist_screening.yaml), each weight as a job of its own; then, of each method
# whose grid is whole, the point that is best on validation data, in full, three seeds.
. "$(dirname "$0")/start.sh"
: "${DATA:=cmnist_3v5+draw=seed}" "${SHORT:=+epochs=50}" "${FULL:=}" "${SEEDS:=0 1 2}"
: "${TEMPERATURES:=0.05~0.075~0.1~0.125~0.15~0.175~0.2~0.25~0.5~1}" "${WEIGHTS:=0.01 0.1 1 5}"
export DATA SHORT FULL SEEDS TEMPERATURES WEIGHTS
cat > "$tools/targets.py" <<'END'
"""``screened``: the runs of the screening. ``finalists``: of each method of which they are all here, the best point on
validation data, as runs of all seeds."""
import os
import re
import sys
from pathlib import Path

import pandas as pd

from despur.specs.names import parse
from despur.specs.resolution import resolve

NAMES = "DATA", "SHORT", "FULL", "SEEDS", "TEMPERATURES", "WEIGHTS"
METHODS = "simclr", "same_domain_negatives", "simclr+augment.color_jitter=2.5", "cl_mmd", "cl_dann"
data, short, full, seeds, temperatures, weights = map(os.environ.get, NAMES)


def name_file(method: str, seed: str) -> str:
    return f"results/runs/{data}/{resolve('methods', method, parse(data)[0]).name}/s{seed}/metrics.csv"


def list_screened(method: str) -> list[str]:
    each_weight = [f"+weight={weight}" for weight in weights.split()] if method in METHODS[3:] else [""]
    return [name_file(f"{method}{short}+temperature={temperatures}{weight}", "0") for weight in each_weight]


def find_best(files: list[str]) -> str:
    table = pd.concat(map(pd.read_csv, files), ignore_index=True)
    table = table[(table["selection"] == "best") & (table["split"] == "val") & (table["metric"] == "probe_accuracy")]
    best = table.loc[table.loc[table["group"] == table["group"].iloc[0], "value"].idxmax()]
    print(best["method"], best["value"], file=sys.stderr)
    return re.sub(r"\+epochs=[^+]+", "", best["method"])


for method in METHODS:
    files = list_screened(method)
    if sys.argv[1] == "screened":
        print(*files, sep="\n")
    elif all(Path(file).exists() for file in files):
        point = find_best(files) + full
        print(*(name_file(point, seed) for seed in seeds.split()), sep="\n")
    else:
        print(f"{method}: the screening is not finished", file=sys.stderr)
END
end=$((SECONDS + LIMIT))
python "$tools/targets.py" screened > "$OUT/screened.txt"
run_snakemake $(cat "$OUT/screened.txt") 2>&1 | grep -v " start " | tail -n 30
python "$tools/targets.py" finalists > "$OUT/finalists.txt"
LIMIT=$((end - SECONDS))
run_snakemake $(cat "$OUT/finalists.txt") 2>&1 | grep -v " start " | tail -n 40
pack_records
