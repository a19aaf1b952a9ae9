"""despur.load_metrics: the metrics of many runs as one table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import despur
from despur.specs.settings import SettingError

COLUMNS = "seed,split,selection,metric,group,value\n"


@pytest.fixture
def folder(tmp_path):
    """Two finished runs, of which one is a sweep, and one that is not finished."""
    root = tmp_path / "results/runs/colored_digits"
    made = {
        "erm/s0": f"dataset,method,{COLUMNS}colored_digits,erm,0,test,best,gap,,0.25\n",
        "cnc+lambda=0.2~0.4/s0-1": f"dataset,method,lambda,{COLUMNS}"
        'colored_digits,cnc+lambda=0.2,0.2,0,test,best,accuracy,"3, red",0.5\n'
        "colored_digits,cnc+lambda=0.4,0.4,1,test,last,gap,,nan\n",
    }
    for name, text in made.items():
        (root / name).mkdir(parents=True)
        (root / name / "metrics.csv").write_text(text)
    (root / "jtt/s0").mkdir(parents=True)
    return root


def test_runs_are_one_table_with_a_column_for_each_setting_that_varies(folder):
    table = despur.load_metrics(f"{folder}/*/s*", folder / "erm/s0")  # a folder that is named twice counts once
    assert list(table) == [
        *("dataset", "method", "lambda", "seed", "split", "selection", "metric", "group", "value", "folder")
    ]
    assert table["value"].tolist()[:2] == [0.5, pytest.approx(np.nan, nan_ok=True)] and len(table) == 3
    assert table["group"].tolist() == ["3, red", "", ""]
    assert table["lambda"].tolist()[:2] == [0.2, 0.4] and pd.isna(table["lambda"][2])
    assert set(table["folder"].map(lambda each: Path(each).parent.name)) == {"erm", "cnc+lambda=0.2~0.4"}


def test_a_pattern_that_matches_no_finished_run_is_refused(folder):
    for pattern in (f"{folder}/jtt/*", f"{folder}/gdro/s0"):
        with pytest.raises(SettingError, match="no finished run"):
            despur.load_metrics(f"{folder}/erm/s0", pattern)
    with pytest.raises(SettingError, match="lacks a name"):
        despur.load_metrics(folder)
    with pytest.raises(SettingError, match="name folders"):
        despur.load_metrics()


def test_values_are_those_that_were_written(folder):
    value = 0.25891675029296335  # pandas' own parser is one unit of the last place off
    (folder / "jtt/s0/metrics.csv").write_text(f"dataset,method,{COLUMNS}colored_digits,jtt,0,test,best,gap,,{value}\n")
    assert despur.load_metrics(folder / "jtt/s0")["value"].tolist() == [value]
