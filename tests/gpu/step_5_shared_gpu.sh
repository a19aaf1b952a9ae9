#!/usr/bin/env bash
# Two jobs on one GPU by gpu_slots, killed in the middle and started again: models equal to those of undisturbed runs?
. "$(dirname "$0")/start.sh"
export DESPUR_DETERMINISTIC=1
gpus=1 && [ "$DEVICE" != cpu ] || gpus=0
data=results/data/colored_digits
python -m despur.data "$data"
run() { python -m despur.orchestration.gpu_slots --gpus $gpus --jobs-per-gpu 2 python -m despur.stage2 "$1" --checkpoint-seconds 0; }
names="erm+epochs=${EPOCHS:-40} supcon+epochs=${EPOCHS:-40}"
for name in $names; do run "results/runs/colored_digits/$name/s0" > "$OUT/$name.log" 2>&1; done
mv results/runs "$tools/undisturbed"
for attempt in 1 2 3; do
    groups=()
    for name in $names; do
        setsid bash -c "$(declare -f run); gpus=$gpus; run results/runs/colored_digits/$name/s0" >> "$OUT/$name.log" 2>&1 &
        groups+=("-$!") # setsid in the background does not fork: its process leads the group
    done
    if [ $attempt -lt 3 ]; then sleep "${PAUSE:-8}" && kill -9 -- "${groups[@]}" || true; fi
    wait || true
done
for name in $names; do
    cmp "$tools/undisturbed/colored_digits/$name/s0/models.safetensors" "results/runs/colored_digits/$name/s0/models.safetensors" \
        && echo "$name: bit-identical after two kills"
done
