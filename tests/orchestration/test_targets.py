"""Targets that no rule makes."""

import re
from pathlib import Path

import pytest

from despur.orchestration.targets import check_target, check_targets
from despur.specs.settings import SettingError

NAMES = ["all", "cnc", "scorecard"]
OUTPUTS = ["results/scorecard.html", "results/runs/{method}/s{seeds}/metrics.csv", "results/runs/{method}/s{seeds}/log"]


def is_made(path):
    return any(re.fullmatch(re.sub(r"{\w+}", "[^/]+", output), path) for output in OUTPUTS)


@pytest.mark.parametrize(
    ("target", "near"),
    [
        ("cnx", "cnc"),
        ("results/scorecrd.html", "results/scorecard.html"),
        ("results/runs/erm/s0/metrisc.csv", "results/runs/erm/s0/metrics.csv"),
        ("reslts/runs/erm/s0/log", "results/runs/erm/s0/log"),
        ("results/run/erm/s0/log", "results/runs/erm/s0/log"),
        (str(Path("results/runs/erm/s0/log").absolute()), "results/runs/erm/s0/log"),
    ],
)
def test_what_no_rule_makes_gets_the_nearest_name(target, near):
    with pytest.raises(SettingError, match=re.escape(f"no rule makes {target}; did you mean {near}?")):
        check_targets([target], NAMES, OUTPUTS, is_made)


def test_where_nothing_is_near_the_message_says_where_names_are():
    with pytest.raises(SettingError, match=r"no rule makes 7777\. .*docs/result_paths.md"):
        check_targets(["7777"], NAMES, OUTPUTS, is_made)


def test_what_a_rule_makes_is_not_refused():
    check_targets(["cnc", "results/scorecard.html", "results/runs/erm/s0/metrics.csv"], NAMES, OUTPUTS, is_made)


def test_a_table_without_runs_in_a_configuration_says_so():
    config = {"papers": ["cnc"], "datasets": {}, "outputs": "results", "seeds": 1}
    with pytest.raises(SettingError, match="table_1 of cnc has no runs in this configuration: see its datasets"):
        check_target(config, Path("results/papers/cnc/table_1.md"))
