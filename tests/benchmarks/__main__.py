"""Speed, measured: writes a CSV of (name, value, unit, goal, note). Not a test: machines are noisy; compare ratios
within one run.

PYTHONPATH=tests python -m benchmarks results/benchmarks.csv            all; or only those that are named: ... cnc gpu
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
from benchmarks import (
    adapters,
    anchors,
    authors,
    cmnist,
    cnc,
    crowd,
    domain_temperature,
    fair_cl,
    gpu,
    icl_msr,
    pipeline,
    reading,
    steps,
)
from benchmarks.common import Row

from despur.storage import commits
from despur.storage.store import write_csv

MEASURES = {
    measure.__name__: measure
    for measure in (
        cnc.cnc,
        cmnist.cmnist,
        authors.authors,
        anchors.anchors,
        steps.chunks,
        steps.steps,
        fair_cl.fair_cl,
        adapters.adapters,
        domain_temperature.domain_temperature,
        icl_msr.icl_msr,
        gpu.gpu,
        gpu.gpu_compiled,
        crowd.crowd,
        reading.reading,
        reading.photographs,
        reading.own_data,
        pipeline.imports,
        pipeline.bundled_run,
    )
}


def measured(name: str) -> list[Row]:
    """The rows of one measure."""
    return MEASURES[name]()


def keep(table: pd.DataFrame, history: Path) -> None:
    """Add rows to all earlier ones, with the commit and the time."""
    earlier = [pd.read_csv(history)] if history.exists() else []
    own = table.assign(commit=commits.state()["commit"], measured=pd.Timestamp.now("UTC").isoformat(timespec="minutes"))
    write_csv(history, pd.concat([*earlier, own]))


def main() -> None:
    """Measure; each row is written as it comes, and added to ``*_history.csv`` at the end. What was not measured has no
    value, and says why."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(MEASURES)}; without names, all")
    asked, rows = parser.parse_args(), list[Row]()
    if unknown := [name for name in asked.names if name not in MEASURES]:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    for name in asked.names or MEASURES:
        with ProcessPoolExecutor(1, get_context("fork")) as own:  # a process of its own: peak memory is a process's
            rows += own.submit(measured, name).result()
        table = pd.DataFrame(rows, columns=["name", "value", "unit", "goal", "note"]).round({"value": 2})
        write_csv(asked.target, table)
    keep(table, asked.target.with_name(f"{asked.target.stem}_history.csv"))
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
