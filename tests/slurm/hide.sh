#!/usr/bin/env bash
# PATH as on a machine without SLURM: PATH=$(tests/slurm/hide.sh FOLDER) make test
# Each folder of PATH that has commands of SLURM is replaced by one in FOLDER, an absolute path, with links to everything else in it.
set -euo pipefail
slurm='s(acct|acctmgr|alloc|attach|batch|bcast|cancel|control|crontab|diag|info|prio|queue|report|run|share|stat|trigger|view)|slurm.*'
list() { find "$1/" -mindepth 1 -maxdepth 1 -regextype posix-extended "${@:2}" 2> /dev/null || true; }

IFS=:
read -ra folders <<< "$PATH"
for i in "${!folders[@]}"; do
    folder=${folders[i]}
    if [ -n "$(list "$folder" -regex ".*/($slurm)")" ]; then
        folders[i]=$1/$i
        mkdir -p "$1/$i"
        list "$folder" ! -regex ".*/($slurm)" -exec ln -s -t "$1/$i" {} +
    fi
done
echo "${folders[*]}"
