"""Which records of the ledger count, and why others do not.

A record counts if the present code knows its specification and the revisions of the code behind it are the present
ones. Of records of one run, that with most metrics as they are measured today counts, of equals the earliest: a metric
with another revision concerns the values of that metric alone (files.py), and a run that is made again for it replaces
the older record whole."""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from despur.evidence.ledger.files import Record
from despur.specs.declarations import list_revised_metrics
from despur.specs.paths import ResultPath
from despur.specs.settings import SettingError
from despur.storage.digest import revisions


class JudgedRecord(NamedTuple):
    """``key``: of its run, as today's code names it; empty where there is none. ``reason``: why the record does not
    count; empty where it does."""

    record: Record
    key: str
    reason: str


def judge_records(records: Iterable[Record]) -> list[JudgedRecord]:
    """Whether each record counts, the earliest first. Of records that despur/evidence/ledger/record_checks.py finds
    right."""
    ordered = sorted(records, key=lambda record: (datetime.fromisoformat(record.content["finished"]), record.path))
    judged = [JudgedRecord(record, *judge_alone(record)) for record in ordered]
    counted: dict[str, JudgedRecord] = {}
    for one in sorted(judged, key=count_outdated):  # of equals the earliest, as the sort is stable
        if not one.reason:
            counted.setdefault(one.key, one)
    return [refuse_repeated(one, counted) for one in judged]


def judge_alone(record: Record) -> tuple[str, str]:
    """The key of a record's run, and why the record does not count; empty where it does, unless another is of the same
    run."""
    try:
        run = record.find_run()
    except SettingError as error:
        return "", f"its specification is unknown to the present code: {error}"
    now = find_revisions(run.data.name, run.spec.name)
    return run.key, explain_revisions(now, record.content["revisions"], apart=list_revised_metrics())


def count_outdated(judged: JudgedRecord) -> int:
    """How many files of metrics are measured otherwise today, so that a record lacks their metrics."""
    then = judged.record.content["revisions"]
    return sum(then.get(name, 1) != revision for name, (_, revision) in list_revised_metrics().items())


def refuse_repeated(judged: JudgedRecord, counted: Mapping[str, JudgedRecord]) -> JudgedRecord:
    """A record that would count, refused where another of the same run is ``counted``."""
    if judged.reason or counted[judged.key] is judged:
        return judged
    other = counted[judged.key]
    why = "and earlier" if count_outdated(other) == count_outdated(judged) else "with more metrics as measured today"
    return judged._replace(reason=f"{other.record.path} is of the same run, {why}")


def explain_revisions(now: Mapping[str, int], then: Mapping[str, int], apart: Container[str] = ()) -> str:
    """Which code is of another revision ``now`` than ``then``, except files that stand ``apart``; empty for none."""
    others = sorted(name for name in {*now, *then} if name not in apart and now.get(name, 1) != then.get(name, 1))
    return "; ".join(
        f"made by revision {then.get(name, 1)} of {name}, which is at {now.get(name, 1)} today" for name in others
    )


@cache
def find_revisions(dataset: str, method: str) -> dict[str, int]:
    """Every revision above 1 in the code behind a run and its evaluation."""
    made, evaluated = (ResultPath(Path("results"), stage, dataset, method, "s0") for stage in ("runs", "evaluate"))
    return {**revisions(made), **revisions(evaluated)}
