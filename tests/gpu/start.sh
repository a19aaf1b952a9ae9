# Sourced by each step: the carried packages and data; a clone of the commit; which torch is here; how runs are made and recorded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${OUT:=build/gpu}" "${DEVICE:=cuda}" "${LIMIT:=500}"
mkdir -p "$OUT" && OUT=$(realpath "$OUT")
tools=$(mktemp -d) && trap 'rm -rf "$tools"' EXIT
if ls .gpu/wheels/*.whl > /dev/null 2>&1 && [ ! -e .gpu/site ]; then # once, however many steps there are
    python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --target .gpu/site .gpu/wheels/*.whl
fi
site=$PWD/.gpu/site
[ ! -d .gpu ] || export DESPUR_DATA_ROOT=$PWD/.gpu
[ ! -d .gpu/authors ] || export DESPUR_CNC_AUTHORS=$PWD/.gpu/authors
restore_commit() { # where only files have travelled: a repository with the commit that they are of, for records name it
    export GIT_DIR=$1 GIT_WORK_TREE=$PWD
    git init -q && git add -A && git read-tree --empty && git update-index --index-info < .gpu/index
    git write-tree > /dev/null || { echo "error: files are not as in the carried commit: run carry.sh again" >&2 && exit 1; }
    git hash-object -t commit -w .gpu/commit | tee "$1/shallow" | xargs git update-ref HEAD
    unset GIT_DIR GIT_WORK_TREE
}
git_folder=.git && [ ! -e .gpu/commit ] || { git_folder=$tools/repository && restore_commit "$git_folder"; }
git clone -q "$git_folder" "$tools/checkout" && cd "$tools/checkout" # whatever results the checkout has, they stay
command -v python > /dev/null || { ln -s "$(command -v python3)" "$tools/python" && export PATH="$tools:$PATH"; }
export PYTHONPATH="$PWD/workflow:$site${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 DEVICE
python - <<'END'
import os, sys, torch
print(f"Python {sys.version.split()[0]}, torch {torch.__version__}, CUDA {torch.version.cuda}", flush=True)
if torch.cuda.is_available():
    print(torch.cuda.get_device_name(), f"{torch.cuda.get_device_properties(0).total_memory / 2**30:.0f} GiB", flush=True)
elif os.environ["DEVICE"] != "cpu":
    sys.exit("error: no GPU is here; DEVICE=cpu tries this step without one")
END
if [ "$DEVICE" = cpu ]; then profile=profiles/default; else profile=profiles/gpu; fi
SLOTS=${SLOTS:-4} # training jobs on one GPU: the networks are small
if [ -n "${MPS:-}" ]; then # kernels of several jobs run at once; the GPU's own settings stay
    export CUDA_MPS_PIPE_DIRECTORY=$tools/mps CUDA_MPS_LOG_DIRECTORY=$tools/mps
    mkdir -p "$tools/mps" && nvidia-cuda-mps-control -d
    trap 'echo quit | nvidia-cuda-mps-control || true; rm -rf "$tools"' EXIT
fi

run_snakemake() { # targets first, then options; at most LIMIT seconds, after which jobs are stopped and may go on later
    [ "$LIMIT" -gt 0 ] && [ $# -gt 0 ] || { echo "nothing to run, or no time is left" && return; }
    timeout --signal=INT --kill-after=30 "$LIMIT" python -m snakemake --workflow-profile "$profile" --keep-going \
        "$@" --set-resources "train_stage1:jobs_per_gpu=$SLOTS" "train_stage2:jobs_per_gpu=$SLOTS" \
        || echo "Snakemake ended with status $?: what is finished is kept"
}

pack_records() { # record what is finished; new records and cards in one archive
    find results/runs -name metrics.csv -printf '%h\n' \
        | xargs -r -P "$(nproc --all)" -n 8 python -m despur record | grep -v ^refused || true
    git ls-files --others results/ledger | tar czf "$OUT/records.tgz" -T -
    tar tzf "$OUT/records.tgz" | wc -l | sed 's/$/ files of records/'
}
