"""Whether a run of this machine has the test metrics, to the last digit, of the one that ``make reference`` kept.

``results/reference/RUN/PAPER/digits.json.gz`` holds them for every run that a paper shows. On the same processor with
the same versions of packages any difference is an error; else the largest one is told. Runs whose code has other
revisions than then are counted, not compared."""

import gzip
import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.ledger.standing import explain_revisions, find_revisions
from despur.evidence.runs.run_files import METRICS
from despur.orchestration import configuration
from despur.orchestration.experiments import REFERENCE
from despur.specs.paths import Run
from despur.storage.commits import git
from despur.storage.finished_runs import read_metrics, rows_of
from despur.storage.provenance import list_versions, processor
from despur.storage.store import InputError, atomic

DIGITS = "digits.json.gz"
SHOWN = 10  # the most differences that are listed


def find_reference(config: Mapping[str, Any]) -> Path:
    """Where what a configuration's run measured is kept: results/ten_seeds in results/reference/ten_seeds."""
    return REFERENCE / Path(config["outputs"]).name


def describe_machine() -> dict[str, Any]:
    """What decides whether equal code gives equal digits. Virtual machines give different processors one name, so the
    rest that Linux tells of the first one counts, too, as does the number of cores."""
    lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines() if Path("/proc/cpuinfo").exists() else []
    lasting = [line for line in lines if line.startswith(("vendor_id", "cpu family", "model", "cache size", "flags"))]
    features = hashlib.sha256("\n".join(lasting).encode()).hexdigest()[:12]
    return {"processor": f"{processor()} ({features}), {os.cpu_count()} cores", "versions": list_versions()}


def measure_digits(config: Mapping[str, Any], paper: str | None = None) -> dict[str, dict[str, Any]]:
    """Values and revisions above 1 of each finished run of stage 2 that a configuration shows, by its key: of a paper
    (``matrix``: the matrix), or all."""
    measured: dict[str, dict[str, Any]] = {}
    shown = sorted(configuration.list_shown_results(config, paper), key=lambda result: str(result.folder))
    for result in shown:
        if result.stage == "runs" and (file := result.folder / METRICS).exists():
            metrics = read_metrics(file)
            measured |= {run.key: describe_run(run, rows_of(metrics, run)) for run in result.runs()}
    return dict(sorted(measured.items()))


def describe_run(run: Run, rows: pd.DataFrame) -> dict[str, Any]:
    """``values``: the metrics of the best step over all samples of each test split, to the last digit."""
    shown = rows[(rows["selection"] == "best") & (rows["group"] == "") & rows["split"].str.startswith("test")]
    values = {f"{row.split} {row.metric}": float(row.value) for row in shown.itertuples() if math.isfinite(row.value)}
    return {"values": values, "revisions": find_revisions(run.data.name, run.spec.name)}


def keep_digits(config: Mapping[str, Any], paper: str) -> None:
    """Write what the finished runs of a paper measured, in the place of what was kept before."""
    content = {"commit": git("rev-parse", "HEAD"), **describe_machine(), "runs": measure_digits(config, paper)}
    with atomic(find_reference(config) / paper / DIGITS) as temporary:
        temporary.write_bytes(gzip.compress(json.dumps(content, sort_keys=True).encode(), mtime=0))


Difference = tuple[float, str, float, float]  # size, run and metric, value kept, value here


@dataclass(frozen=True)
class Comparison:
    """Of the runs ``here``, how many are ``equal`` to those of the reference ``name``, how many ``different``, and how
    many not compared as it has an ``older`` revision of them. ``differences``: of values, the largest first;
    ``errors``: those on a machine and versions like the reference's."""

    name: str
    here: int
    equal: int
    older: int
    different: int
    differences: list[Difference]
    errors: list[Difference]

    def describe(self) -> str:
        """What it means for the verdicts that are shown, in a sentence or two; nothing where no run is here."""
        runs, said = f"of {self.here} runs here", []
        unknown = self.here - self.equal - self.older - self.different
        if self.equal:
            whole = ": the code of these methods still gives its numbers" if self.equal == self.here else ""
            said.append(f"{self.equal} {runs} equal the reference ({self.name}) to the last digit{whole}.")
        if self.different:
            size, largest, *_ = self.differences[0]
            said.append(
                f"{self.different} {runs} differ from the reference ({self.name}), as they may on another processor or "
                f"with other packages (by at most {size:.3g}, {largest}). Its verdicts are shown."
            )
        if self.older:
            said.append(
                f"{self.older} {runs} cannot be compared with the reference ({self.name}): methods have changed since "
                "it was made. What it says is not of this code, until `make reference` makes it again (hours)."
            )
        if unknown:
            said.append(f"Of {unknown} {runs} no reference is kept.")
        return " ".join(said)

    def refuse_differences(self) -> None:
        """Raises InputError where runs differ from those that were kept on such a machine."""
        if self.errors:
            listed = [f"{name}: recorded {then!r}, here {value!r}" for _, name, then, value in self.errors[:SHOWN]]
            raise InputError("\n".join([f"runs differ on the same machine, in {len(self.errors)} values:", *listed]))


def compare_digits(
    kept: Mapping[str, Mapping[str, Any]], now: Mapping[str, Any], here: Mapping[str, Any]
) -> Comparison:
    """What is kept of runs (:func:`read_kept_runs`) beside the runs of this machine (``here``)."""
    shared = {key: run for key, run in kept.items() if key in now}
    older = {key for key, run in shared.items() if explain_revisions(now[key]["revisions"], run["revisions"])}
    differences = {key: list_differences(key, shared[key], now[key]) for key in shared.keys() - older}
    different = {key: rows for key, rows in differences.items() if rows}
    same_machine = [key for key in different if all(shared[key][name] == here[name] for name in here)]
    return Comparison(
        ", ".join(sorted({run["reference"] for run in shared.values()})),
        len(now),
        len(shared) - len(older) - len(different),
        len(older),
        len(different),
        sorted(chain.from_iterable(different.values()), reverse=True),
        sorted(chain.from_iterable(different[key] for key in same_machine), reverse=True),
    )


def list_differences(key: str, kept: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    """Each value that differs, of those that both have: metrics may have been added since."""
    both = sorted(kept["values"].keys() & now["values"].keys())
    pairs = [(f"{key}, {name}", kept["values"][name], now["values"][name]) for name in both]
    return [(abs(then - value), name, then, value) for name, then, value in pairs if then != value]


def check_digits(config: Mapping[str, Any]) -> Comparison:
    """The finished runs of a configuration beside all that is kept."""
    return compare_digits(read_kept_runs(), measure_digits(config), describe_machine())


def read_kept_runs() -> dict[str, dict[str, Any]]:
    """Each kept run by its key, with the name of its reference, and its machine and versions."""
    kept: dict[str, dict[str, Any]] = {}
    for file in sorted(REFERENCE.glob(f"*/*/{DIGITS}")):
        content = json.loads(gzip.decompress(file.read_bytes()))
        made_by = {"reference": file.parts[-3], **{name: content[name] for name in ("processor", "versions")}}
        kept |= {key: run | made_by for key, run in content["runs"].items()}
    return kept
