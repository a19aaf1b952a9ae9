"""despur plan --open: what settles most printed numbers per hour comes first; shared runs and jobs count once."""

import json

import pytest

from despur.cli.plan import plan_configuration
from despur.cli.rows import format_json
from despur.evidence.runs import sources

CONFIGURATION = """
papers: [cnc]
seeds: 3
methods: [erm, cnc]
datasets: {cmnist: cmnist+colors=released+draw=seed}
"""


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "find_sources", lambda use_ledger: sources.Sources())  # nothing is measured
    file = tmp_path / "mine.yaml"
    file.write_text(CONFIGURATION)
    return json.loads(format_json(plan_configuration(file, "cpu", only_open=True)))


def test_open_runs_are_sorted_by_numbers_per_hour(tables):
    rates = [row["numbers_per_hour"] for row in tables["open"]]
    assert rates == sorted(rates, reverse=True) and rates[0] > 0
    first = tables["open"][0]
    assert first["numbers_per_hour"] == pytest.approx(first["numbers"] / first["hours"])
    assert first["method"] == "cnc" and {"table_1", "table_a1", "table_a3"} <= {*first["artifacts"]}


def test_what_several_rows_share_counts_once(tables):
    (total,) = tables["open_in_all"]
    for name in ("runs", "hours", "claims"):
        assert 0 < total[name] < sum(row[name] for row in tables["open"])
    assert total["numbers"] == sum(row["numbers"] for row in tables["open"])
