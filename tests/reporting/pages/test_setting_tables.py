"""The pages of settings in the papers' folders: they say what the declarations say."""

import pytest

from despur.orchestration.paper_folders import PAPERS
from despur.reporting.pages import setting_tables
from despur.reporting.pages.setting_tables import list_rows, list_table_lines


@pytest.mark.parametrize("paper", sorted(readme.parent.name for readme in PAPERS.glob("*/README.md")))
def test_the_page_of_a_paper_is_what_its_declarations_give(paper):
    file = PAPERS / paper / setting_tables.FILE
    assert file.is_file(), "write it: python -m despur.reporting.pages.setting_tables"
    page = file.read_text()
    assert page == setting_tables.render(paper), "write it anew: python -m despur.reporting.pages.setting_tables"


def test_a_row_has_default_statements_of_data_sets_and_source(package):
    package.write(
        "methods/toy.py",
        "from despur.specs.settings import component, int_\n"
        'SETTINGS = {"epochs": int_(7, "App. A | B", at_least=1), "stage1": component("methods", "erm", "Sec. 4"),\n'
        '  "depth": int_(2, "ours")}\n',
    )
    package.write(
        "datasets/one.py",
        'PAPER_HYPERPARAMETERS = {"*": {"epochs": 9, "encoder": "mlp"}, "toy": {"stage1.epochs": 3},\n'
        '  "stage1/toy": {"epochs": 5}}\n',
    )
    package.write("datasets/two.py", 'PAPER_HYPERPARAMETERS = {"toy": {"epochs": 1}}\n')
    assert list_rows("methods", "toy", ["one", "two"]) == [
        ("`epochs`", "`7`", "one `9`, one `5` to infer groups, two `1`", "App. A \\| B"),
        ("`stage1`", "`erm`", "–", "Sec. 4"),
        ("`depth`", "`2`", "–", "ours"),
        ("`stage1.epochs`", "–", "one `3`", "–"),
    ]


def test_a_component_without_settings_has_no_table():
    assert list(list_table_lines("Encoder `lenet`", [])) == []
    assert list(list_table_lines("Encoder", [("a", "b", "c", "d")]))[-1].endswith("\n| a | b | c | d |")
