#!/usr/bin/env bash
# Stop the SLURM that tests/slurm/start.sh FOLDER has started, and its jobs.
set -uo pipefail
folder=$(cd "$1" && pwd)
export SLURM_CONF=$folder/slurm.conf
timeout 10 scancel --user="$(id -un)" 2> /dev/null
for file in "$folder/slurmd.pid" "$folder/slurmctld.pid" "$folder/munge/pid"; do
    [ -e "$file" ] || continue
    pid=$(cat "$file")
    kill "$pid" 2> /dev/null
    for _ in $(seq 50); do
        kill -0 "$pid" 2> /dev/null || continue 2
        sleep 0.1
    done
    kill -9 "$pid" 2> /dev/null
done
true
