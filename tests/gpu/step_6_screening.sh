#!/usr/bin/env bash
# The screening of domain_temperature (config/mnist_screening.yaml), each weight as a job of its own; then, of each method,
# the point that is best on validation data, in full, three seeds.
. "$(dirname "$0")/start.sh"
: "${DATA:=cmnist_3v5+draw=seed}" "${SHORT:=+epochs=50}" "${FULL:=}" "${SEEDS:=0 1 2}"
: "${TEMPERATURES:=0.05~0.075~0.1~0.125~0.15~0.175~0.2~0.25~0.5~1}" "${WEIGHTS:=0.01 0.1 1 5}"
export DATA SHORT FULL SEEDS TEMPERATURES WEIGHTS
cat > "$tools/targets.py" <<'END'
"""The runs of the screening; with these as arguments, of each method the best point on validation data, as runs of all
seeds."""
import os
import re
import sys

import pandas as pd

from despur.specs.names import parse
from despur.specs.resolution import resolve

METHODS = "simclr", "same_domain_negatives", "simclr+augment.color_jitter=2.5", "cl_mmd", "cl_dann"
data, short, full, seeds, temperatures, weights = map(os.environ.get, "DATA SHORT FULL SEEDS TEMPERATURES WEIGHTS".split())


def path(method: str, seed: str) -> str:
    return f"results/runs/{data}/{resolve('methods', method, parse(data)[0]).name}/s{seed}/metrics.csv"


def screened() -> list[str]:
    return [
        path(f"{method}{short}+temperature={temperatures}{weight}", "0")
        for method in METHODS
        for weight in ([f"+weight={weight}" for weight in weights.split()] if method in METHODS[3:] else [""])
    ]


def finalists(files: list[str]) -> list[str]:
    table = pd.concat(map(pd.read_csv, files), ignore_index=True)
    table = table[(table["selection"] == "best") & (table["split"] == "val") & (table["metric"] == "probe_accuracy")]
    table = table[table["group"] == table["group"].iloc[0]]
    plain = table["method"].str.replace(r"\+(epochs|temperature|weight)=[^+]+", "", regex=True)
    best = table.loc[table["value"].groupby(plain.to_numpy()).idxmax()]
    print(best[["method", "value"]].to_string(index=False), file=sys.stderr)
    points = {re.sub(r"\+epochs=[^+]+", "", method) for method in best["method"]}
    return [path(point + full, seed) for seed in seeds.split() for point in sorted(points)]


print(*(finalists(sys.argv[1:]) if sys.argv[1:] else screened()), sep="\n")
END
end=$((SECONDS + LIMIT))
python "$tools/targets.py" > "$OUT/screened.txt"
run_snakemake $(cat "$OUT/screened.txt") 2>&1 | grep -v " start " | tail -n 30
python "$tools/targets.py" $(ls $(cat "$OUT/screened.txt") 2> /dev/null) > "$OUT/finalists.txt"
LIMIT=$((end - SECONDS))
run_snakemake $(cat "$OUT/finalists.txt") 2>&1 | grep -v " start " | tail -n 40
pack_records
