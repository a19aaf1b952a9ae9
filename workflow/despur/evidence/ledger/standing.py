"""Which records of the ledger count, and why others do not.

A record counts if the present code knows its specification, the revisions of the code behind it are the present ones,
and its raw files and weights are those of the earliest record of its data. Of records of one run the earliest counts. A
metric with another revision concerns the values of that metric alone (files.py): a later record that has the same
predictions and values, and such metrics besides, counts in the place of the earliest."""

import json
from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from despur.evidence.ledger.files import Record
from despur.specs.declarations import list_revised_metrics
from despur.specs.paths import ResultPath
from despur.specs.settings import SettingError
from despur.storage.digest import revisions

ROUNDING = 1e-5  # relative: that of float32, where the order of sums is another one


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
    judged = refuse_other_files(JudgedRecord(record, *judge_alone(record)) for record in ordered)
    counted: dict[str, Record] = {}
    for record, key, reason in judged:
        if not reason and (key not in counted or adds_metrics(record, counted[key])):
            counted[key] = record
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


def refuse_other_files(judged: Iterable[JudgedRecord]) -> list[JudgedRecord]:
    """Records, the earliest first, refused where a raw file or a file of weights is another one than in an earlier
    record that would count: they are not of one data set, or not of one model."""
    first: dict[tuple[str, str], tuple[str | None, Path]] = {}
    checked = []
    for one in judged:
        content = one.record.content
        files = {(content["dataset"], "raw files"): json.dumps(content["checksums"], sort_keys=True)}
        files |= {("weights", file): checksum for file, checksum in content.get("weights", {}).items()}
        known = {key: first.get(key, (checksum, one.record.path)) for key, checksum in files.items()}
        others = [(name, path) for (kind, name), (checksum, path) in known.items() if checksum != files[kind, name]]
        if not one.reason and others:
            one = one._replace(reason=f"its {others[0][0]} are others than those of {others[0][1]}")
        elif not one.reason:
            first |= known
        checked.append(one)
    return checked


def adds_metrics(later: Record, earlier: Record) -> bool:
    """Whether a record has the predictions and, but for rounding, all values of an earlier one, and metrics besides."""
    if later.content["predictions"] != earlier.content["predictions"]:
        return False
    new, old = (
        {(selection, key): value for selection, values in record.metrics().items() for key, value in values.items()}
        for record in (later, earlier)
    )
    has_more, values = old.keys() < new.keys(), [*old.values()]
    return has_more and np.allclose([new[key] for key in old], values, ROUNDING, atol=0, equal_nan=True)


def refuse_repeated(judged: JudgedRecord, counted: Mapping[str, Record]) -> JudgedRecord:
    """A record that would count, refused where another of the same run is ``counted``."""
    if judged.reason or counted[judged.key] is judged.record:
        return judged
    other = counted[judged.key]
    why = "with the same values and further metrics" if adds_metrics(other, judged.record) else "and earlier"
    if other.content["predictions"] != judged.record.content["predictions"]:
        why += " (other predictions, as another processor may give: its values stay)"
    return judged._replace(reason=f"{other.path} is of the same run, {why}")


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
