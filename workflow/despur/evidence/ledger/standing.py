"""Which records of the ledger count, and why others do not.

A record counts if the present code knows its specification, the revisions of the code behind it are the present ones,
and no earlier record is of the same run. A revision of a metric concerns the values of that metric alone (files.py)."""

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
    judged: list[JudgedRecord] = []
    counted: dict[str, Path] = {}
    for record in sorted(records, key=lambda record: (datetime.fromisoformat(record.content["finished"]), record.path)):
        try:
            run = record.find_run()
        except SettingError as error:
            judged.append(JudgedRecord(record, "", f"its specification is unknown to the present code: {error}"))
            continue
        now = find_revisions(run.data.name, run.spec.name)
        reason = explain_revisions(now, record.content["revisions"], apart=list_revised_metrics())
        if not reason and run.key in counted:
            reason = f"{counted[run.key]} is of the same run, and earlier"
        if not reason:
            counted[run.key] = record.path
        judged.append(JudgedRecord(record, run.key, reason))
    return judged


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
