#!/usr/bin/env bash
# The screening of domain_temperature (config/mnist_screening.yaml), each weight as a job of its own; then, of each method,
# its default and the point that is best on validation data, in full, three seeds.
. "$(dirname "$0")/start.sh"
: "${DATA:=cmnist_3v5+draw=seed}" "${SHORT:=+epochs=50}" "${FULL:=}" "${SEEDS:=0 1 2}"
: "${TEMPERATURES:=0.05~0.075~0.1~0.125~0.15~0.175~0.2~0.25~0.5~1}" "${WEIGHTS:=0.01 0.1 1 5}"
end=$((SECONDS + LIMIT))
screened=()
for method in simclr same_domain_negatives simclr+augment.color_jitter=2.5; do
    screened+=("results/runs/$DATA/$method$SHORT+temperature=$TEMPERATURES/s0/metrics.csv")
done
for weight in $WEIGHTS; do
    for method in cl_dann cl_mmd; do
        screened+=("results/runs/$DATA/$method$SHORT+temperature=$TEMPERATURES+weight=$weight/s0/metrics.csv")
    done
done
run_snakemake "${screened[@]}" 2>&1 | grep -v " start " | tail -n 30
cat > "$tools/best.py" <<'END'
"""The best point of each method on validation data, and its default, as targets of all seeds."""
import os
import re
import sys

import pandas as pd

table = pd.concat(map(pd.read_csv, sys.argv[1:]))
table = table[(table["selection"] == "best") & (table["split"] == "val") & (table["metric"] == "probe_accuracy")]
table = table[table["group"] == table["group"].iloc[0]]
for family, rows in table.groupby(table["method"].str.replace(r"\+(epochs|temperature|weight)=[^+]+", "", regex=True)):
    best = rows.loc[rows["value"].idxmax(), "method"]
    print(best, rows["value"].max(), file=sys.stderr)
    default = family + ("+weight=0.1" if family == "cl_dann" else "")
    for method in {re.sub(r"\+epochs=[^+]+", "", best) + os.environ["FULL"], default + os.environ["FULL"]}:
        for seed in os.environ["SEEDS"].split():
            print(f"results/runs/{os.environ['DATA']}/{method}/s{seed}/metrics.csv")
END
export DATA FULL SEEDS
python "$tools/best.py" $(ls "${screened[@]}" 2> /dev/null) > "$OUT/finalists.txt"
LIMIT=$((end - SECONDS))
run_snakemake $(cat "$OUT/finalists.txt") 2>&1 | grep -v " start " | tail -n 40
pack_records
