"""The tables of every paper, where nothing was run."""

from importlib import import_module

import pytest
from making import list_tables, make_table

from despur.orchestration import paper_folders

TABLES = [(paper, name) for paper in paper_folders.list_papers() for name in list_tables(paper)]


@pytest.mark.parametrize(("paper", "name"), TABLES)
def test_without_runs_every_table_says_so(paper, name, tmp_path):
    table, text = make_table(import_module(f"despur.papers.{paper}.tables"), name, [], tmp_path)
    if name == "table_a7_a11":  # what CNC's authors tried and selected stands there without runs
        assert table["data"].isna().all() and len(table) == 37 and table["selected"].notna().sum() == 31
    else:
        assert set(table["verdict"]) - {"not executed", "not compared"} == {"not run here"}
        assert text.count("not run here") >= 1
