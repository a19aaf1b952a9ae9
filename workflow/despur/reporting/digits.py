"""Whether a run of this machine is bit-identical to the one that ``make reference`` kept.

``results/reference/RUN/digits.json.gz`` holds, of every run of a configuration, a digest of all its metrics, and the
values of the test splits. The file that has the most of the runs here is compared with them. On the same processor
with the same versions of packages any difference is an error; else the largest one is told. Runs whose code has other
revisions than then are counted, not compared."""

import gzip
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.ledger.standing import explain_revisions, find_revisions
from despur.evidence.runs.run_files import METRICS
from despur.orchestration import configuration
from despur.orchestration.experiments import REFERENCE
from despur.specs.paths import ResultPath, Run, locate_result
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
    facts = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines() if Path("/proc/cpuinfo").exists() else []
    lasting = [line for line in facts if line.startswith(("vendor_id", "cpu family", "model", "cache size", "flags"))]
    features = hashlib.sha256("\n".join(lasting).encode()).hexdigest()[:12]
    return {"processor": f"{processor()} ({features}), {os.cpu_count()} cores", "versions": list_versions()}


def list_finished(config: Mapping[str, Any]) -> list[ResultPath]:
    """The finished folders of stage-2 runs that a configuration shows."""
    results = {
        locate_result(folder) for _, _, folders in configuration.list_shown_folders(config) for folder in folders
    }
    runs = [result for result in results if result.stage == "runs" and (result.folder / METRICS).exists()]
    return sorted(runs, key=lambda result: str(result.folder))


def measure_digits(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Digest, values and revisions above 1 of each finished run, by its key."""
    found = {}
    for result in list_finished(config):
        metrics = read_metrics(result.folder / METRICS)
        for run in result.runs():
            found[run.key] = describe_run(run, rows_of(metrics, run))
    return dict(sorted(found.items()))


def describe_run(run: Run, rows: pd.DataFrame) -> dict[str, Any]:
    """``digest``: of all rows, whatever their order, to the last digit; ``values``: of the test splits' overall
    metrics, in six digits, to tell how large a difference is."""
    table = rows.loc[:, "split":]  # before it stand the columns that say which run
    lines = sorted("|".join(map(repr, row)) for row in table.itertuples(index=False, name=None))
    shown = table[(table["selection"] == "best") & (table["group"] == "") & table["split"].str.startswith("test")]
    finite = [row for row in shown.itertuples() if math.isfinite(row.value)]
    values = {f"{row.split} {row.metric}": float(f"{row.value:.6g}") for row in finite}
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    return {"digest": digest, "values": values, "revisions": find_revisions(run.data.name, run.spec.name)}


def keep_digits(config: Mapping[str, Any]) -> None:
    """Write what the finished runs of a configuration measured, in the place of what was kept before."""
    runs = measure_digits(config)
    content = json.dumps({"commit": git("rev-parse", "HEAD"), **describe_machine(), "runs": runs}, sort_keys=True)
    with atomic(find_reference(config) / DIGITS) as temporary:
        temporary.write_bytes(gzip.compress(content.encode(), mtime=0))


@dataclass(frozen=True)
class Comparison:
    """Of the runs ``here``, how many are ``equal`` to the kept run ``name``, how many ``different``, and how
    many not compared as it has an ``older`` revision of them. ``differences``: of values, the largest first."""

    name: str
    here: int
    equal: int
    older: int
    different: int
    differences: list[tuple[float, str, float | None, float | None]]
    same_machine: bool

    def describe(self) -> str:
        """What it means for the verdicts that are shown, in a sentence or two; nothing where no run is here."""
        own, said = f"of {self.here} runs here", []
        unknown = self.here - self.equal - self.older - self.different
        if self.equal:
            whole = ": its verdicts are those of this code" if self.equal == self.here else ""
            said.append(f"{self.equal} {own} equal the reference ({self.name}) to the last digit{whole}.")
        if self.different:
            largest = f"by at most {self.differences[0][0]:.3g}, {self.differences[0][1]}" if self.differences else ""
            said.append(
                f"{self.different} {own} differ from the reference ({self.name}), as they may on another processor or "
                f"with other packages ({largest or 'in no value of all test samples'}). Its verdicts are shown."
            )
        if self.older:
            said.append(
                f"{self.older} {own} cannot be compared with the reference ({self.name}): methods have changed since "
                "it was made. What it says is not of this code, until `make reference` makes it again (hours)."
            )
        if unknown:
            said.append(f"Of {unknown} {own} no reference is kept.")
        return " ".join(said)

    def refuse_differences(self) -> None:
        """Raises InputError where runs differ from those that were kept on such a machine."""
        if self.different and self.same_machine:
            listed = [f"{name}: recorded {then!r}, here {value!r}" for _, name, then, value in self.differences[:SHOWN]]
            count = f"{self.different} runs differ on the same machine, in {len(self.differences)} values:"
            raise InputError("\n".join([count, *listed]))


def compare_digits(name: str, kept: Mapping[str, Any], now: Mapping[str, Any], here: Mapping[str, Any]) -> Comparison:
    """What was kept of a run beside the runs of this machine (``here``)."""
    known = {key: own for key, own in kept["runs"].items() if key in now}
    older = {key for key, own in known.items() if explain_revisions(now[key]["revisions"], own["revisions"])}
    other = [key for key, own in known.items() if key not in older and own["digest"] != now[key]["digest"]]
    differences = sorted((each for key in other for each in list_differences(key, known[key], now[key])), reverse=True)
    same = all(kept[key] == here[key] for key in here)
    equal = len(known) - len(older) - len(other)
    return Comparison(name, len(now), equal, len(older), len(other), differences, same)


def list_differences(
    key: str, kept: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[float, str, float | None, float | None]]:
    """(difference, run and metric, value kept, value now) of each value that differs; infinite where one is missing."""
    for name in sorted({*kept["values"], *now["values"]}):
        then, value = (each["values"].get(name) for each in (kept, now))
        if then != value:
            missing = then is None or value is None
            yield math.inf if missing else abs(then - value), f"{key}, {name}", then, value


def check_digits(config: Mapping[str, Any]) -> Comparison:
    """The finished runs of a configuration beside the kept run that has the most of them."""
    now = measure_digits(config)
    kept = {"": {"runs": {}}} | {file.parent.name: read_digits(file) for file in sorted(REFERENCE.glob(f"*/{DIGITS}"))}
    most = max(kept, key=lambda name: len(kept[name]["runs"].keys() & now.keys()))
    return compare_digits(most, kept[most], now, describe_machine() if most else {})


def read_digits(file: Path) -> dict[str, Any]:
    """What :func:`keep_digits` wrote."""
    content: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return content
