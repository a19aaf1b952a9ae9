#!/usr/bin/env bash
# Table 1 of cnc on CMNIST*: eleven methods, three seeds; what is finished within LIMIT seconds is recorded.
. "$(dirname "$0")/start.sh"
run_snakemake ${TARGETS:-results/mnist/papers/cnc/table_1.csv} --until evaluate --configfile config/mnist.yaml 2>&1 | tail -n 30
pack_records
python -m despur plan --open --configfile config/mnist.yaml --device gpu > "$OUT/open.txt"
