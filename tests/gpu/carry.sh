#!/usr/bin/env bash
# Fill .gpu with what a machine with PyTorch but without a network needs: wheels (the locked versions of the names in
# wheels.txt, for PYTHON), MNIST (from the folder MNIST), the commit, and a checkout of CNC's authors (from AUTHORS).
set -euo pipefail
cd "$(dirname "$0")/../.."
git diff --quiet HEAD || { echo "error: records name the commit: commit your changes first" >&2 && exit 1; }
rm -rf .gpu && mkdir -p .gpu/wheels
wanted=()
for name in $(cat tests/gpu/wheels.txt); do
    wanted+=("$(grep -ohE -m 1 "^$name==[^ ;]+" envs/requirements.lock envs/oracles.lock | head -n 1)")
done
platforms=$(printf -- '--platform manylinux_2_%s_x86_64 ' 39 34 31 28 27 24 17 12 5)
python3 -m pip download -q --no-deps --only-binary=:all: --python-version "${PYTHON:-3.12}" --implementation cp \
    $platforms --platform manylinux2014_x86_64 --platform manylinux1_x86_64 -d .gpu/wheels "${wanted[@]}"
python3 - .gpu/wheels <<'END'
"""What is not needed stays here: pulp's solvers, as Snakemake schedules greedily, and the tests of pandas."""
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

for pattern, left in {"pulp-*": "/solverdir/", "pandas-*": "pandas/tests/"}.items():
    (wheel,) = Path(sys.argv[1]).glob(f"{pattern}.whl")
    with ZipFile(wheel) as source:
        kept = {name: source.read(name) for name in source.namelist() if left not in name}
    with ZipFile(wheel, "w", ZIP_DEFLATED, compresslevel=9) as target:
        for name, content in kept.items():
            target.writestr(name, content)
END
git cat-file commit HEAD > .gpu/commit && git ls-tree -r HEAD > .gpu/index
[ -z "${MNIST:-}" ] || cp -r "$MNIST" .gpu/mnist
[ -z "${AUTHORS:-}" ] || git -C "$AUTHORS" archive --prefix=authors/ HEAD '*.py' | tar x -C .gpu
du -sh .gpu
