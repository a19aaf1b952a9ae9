"""Whether a run of this machine is bit-identical to the one that ``make reference`` kept.

    python -m despur.reporting.digits --configfile config.yaml

``results/reference/CONFIG/digits.json`` holds, of every run of a configuration, a digest of all its metrics, and the
values of the test splits. The file that has the most of the runs here is compared with them. On the same processor
with the same versions of packages any difference is an error; else the largest one is told. Runs whose code has other
revisions than then are counted, not compared."""

import argparse
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.ledger.standing import explain_revisions, find_revisions
from despur.evidence.runs.run_files import METRICS
from despur.orchestration import configuration
from despur.orchestration.experiments import REFERENCE
from despur.specs.paths import ResultPath, Run, locate_result
from despur.specs.settings import SettingError
from despur.storage.commits import git
from despur.storage.finished_runs import read_metrics, rows_of
from despur.storage.provenance import list_versions, processor
from despur.storage.store import InputError, write_json

SHOWN = 10  # the most differences that are listed


def find_file(configfile: Path) -> Path:
    """Where the digits of a configuration are kept."""
    return REFERENCE / configfile.stem / "digits.json"


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
    """``digest``: of all rows, whatever their order; ``values``: of the last digit, of the test splits' overall
    metrics."""
    table = rows.loc[:, "split":]  # before it stand the columns that say which run
    lines = sorted("|".join(map(repr, row)) for row in table.itertuples(index=False, name=None))
    shown = table[(table["selection"] == "best") & (table["group"] == "") & table["split"].str.startswith("test")]
    values = {f"{row.split} {row.metric}": row.value for row in shown.itertuples() if math.isfinite(row.value)}
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    return {"digest": digest, "values": values, "revisions": find_revisions(run.data.name, run.spec.name)}


def keep_digits(configfile: Path) -> None:
    """Write what the finished runs of a configuration measured, in the place of what was kept before."""
    runs = measure_digits(configuration.load_configuration(configfile))
    write_json(find_file(configfile), {"commit": git("rev-parse", "HEAD"), **describe_machine(), "runs": runs})


def compare_digits(kept: Mapping[str, Any], now: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    """A line on how many runs were kept and are as then; lines on those that are not. Raises InputError where runs
    differ from those that were kept on such a machine (``here``)."""
    known = {key: own for key, own in kept["runs"].items() if key in now}
    older = {key for key, own in known.items() if explain_revisions(now[key]["revisions"], own["revisions"])}
    other = [key for key, own in known.items() if key not in older and own["digest"] != now[key]["digest"]]
    exact = len(known) - len(older) - len(other)
    yield f"{len(known)} of {len(now)} runs as recorded: {exact} to the digit"
    if older:
        yield f"{len(older)} were recorded with an older revision, and are not compared"
    if not other:
        return
    found = sorted((each for key in other for each in list_differences(key, known[key], now[key])), reverse=True)
    if all(kept[key] == here[key] for key in here):
        listed = [f"{name}: recorded {then!r}, here {value!r}" for _, name, then, value in found[:SHOWN]]
        raise InputError("\n".join([f"{len(other)} runs differ on the same machine, in {len(found)} values:", *listed]))
    largest = f"{found[0][0]:.3g} ({found[0][1]})" if found else "not in a metric of all test samples"
    yield f"{len(other)} differ, as they may on another processor or with other versions; the largest: {largest}"


def list_differences(
    key: str, kept: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[float, str, float | None, float | None]]:
    """(difference, run and metric, value kept, value now) of each value that differs; infinite where one is missing."""
    for name in sorted({*kept["values"], *now["values"]}):
        then, value = (each["values"].get(name) for each in (kept, now))
        if then != value:
            missing = then is None or value is None
            yield math.inf if missing else abs(then - value), f"{key}, {name}", then, value


def check_digits(configfile: Path) -> Iterator[str]:
    """What :func:`compare_digits` says of the finished runs of a configuration."""
    now = measure_digits(configuration.load_configuration(configfile))
    if kept := find_kept(now):
        yield from compare_digits(kept, now, describe_machine())
    else:
        yield f"no digits of {configfile} are recorded: make reference CONFIG={configfile} keeps those that are here"


def find_kept(now: Mapping[str, Any]) -> dict[str, Any] | None:
    """The digits.json that has the most of these runs; None where none has any."""
    files = sorted(REFERENCE.glob("*/digits.json"))
    found = [json.loads(file.read_text()) for file in files]
    counts = [len(kept["runs"].keys() & now.keys()) for kept in found]
    return found[counts.index(max(counts))] if any(counts) else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configfile", type=Path, default=Path("config.yaml"))
    try:
        for line in check_digits(parser.parse_args().configfile):
            print(line)
    except (SettingError, InputError) as error:
        parser.exit(1, f"error: {error}\n")
