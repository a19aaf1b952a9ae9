#!/usr/bin/env bash
# domain_temperature on digits 3 and 5 at 400 epochs: Table 1 at five seeds; with GRIDS=1 the grids of Tables 3 to 8.
. "$(dirname "$0")/start.sh"
cat > "$tools/config.yaml" <<'END'
papers: [domain_temperature]
seeds: ["0", "1", "2", "3", "4"]
outputs: results/domains
datasets: {cmnist_3v5: cmnist_3v5+draw=seed}
END
target=results/domains/papers/domain_temperature/table_1.csv
[ -z "${GRIDS:-}" ] || target=results/domains/papers/domain_temperature/figure_grids.csv
run_snakemake ${TARGETS:-$target} --until evaluate --configfile "$tools/config.yaml" 2>&1 | tail -n 30
pack_records
