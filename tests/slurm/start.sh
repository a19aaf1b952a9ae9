#!/usr/bin/env bash
# A real SLURM on this machine, on the loopback address: tests/slurm/start.sh FOLDER   (stop it: tests/slurm/stop.sh FOLDER)
# From Debian's packages (apt-get install slurm-wlm munge), as root. Everything of it, the key too, lies in FOLDER; afterwards
# SLURM_CONF=FOLDER/slurm.conf makes sinfo and sbatch use it. Snakemake's jobs forget that variable: they need FOLDER/bin in PATH, too.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
cores=$(nproc)
name=$(hostname -s)
for program in munged slurmctld slurmd; do
    command -v "$program" > /dev/null || { echo "error: $program is not installed: apt-get install slurm-wlm munge" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "error: slurmd and munged need root" >&2; exit 1; }

mkdir -p "$folder"/{state,spool,munge,bin}
printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$folder/slurm.conf" "$(command -v srun)" > "$folder/bin/srun"
chmod +x "$folder/bin/srun"
chmod 700 "$folder/munge"
[ -e "$folder/munge/key" ] || head -c 1024 /dev/urandom > "$folder/munge/key"
chmod 400 "$folder/munge/key"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > "$folder/slurm.conf" << END
ClusterName=test
SlurmctldHost=$name(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port < 65000 ? port + 1 : port - 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=10
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MinJobAge=300
ReturnToService=2
MpiDefault=none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$name NodeAddr=127.0.0.1 CPUs=$cores RealMemory=100000000 State=UNKNOWN
PartitionName=test Nodes=$name Default=YES MaxTime=UNLIMITED State=UP
END

export SLURM_CONF=$folder/slurm.conf
munged --force --key-file "$folder/munge/key" --socket "$folder/munge/socket" --pid-file "$folder/munge/pid" \
    --log-file "$folder/munge/log" --seed-file "$folder/munge/seed"
slurmctld
slurmd
for _ in $(seq 100); do
    if [ "$(sinfo --noheader --format=%T 2> /dev/null)" = idle ]; then
        echo "SLURM is up: export SLURM_CONF=$SLURM_CONF PATH=$folder/bin:\$PATH"
        exit 0
    fi
    sleep 0.3
done
sinfo >&2 || true
tail -n 20 "$folder"/*.log >&2
echo "error: SLURM did not come up" >&2
exit 1
