"""What a file declares is read without running it: what cannot be read, or would be refused, is an error that names the
file."""

import ast

import pytest

from despur.specs import declarations, resolution
from despur.specs.declaration_checks import list_changed
from despur.specs.declarations import list_measures, read_declarations
from despur.specs.extensions import VARIABLE
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError

IMPORTS = "from despur.specs.declarations import read_declarations\nfrom despur.specs.settings import *\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a component of an extension."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))

    def forget():
        for function in (read_declarations, resolve, list_measures, declarations.revision):
            function.cache_clear()

    def write(kind, name, text):
        (tmp_path / kind).mkdir(exist_ok=True)
        (tmp_path / kind / f"{name}.py").write_text(IMPORTS + text)
        forget()

    yield write
    forget()


def test_a_declaration_may_have_a_type(write):
    write(
        "methods",
        "mine",
        'SETTINGS: dict = {**read_declarations("methods", "erm")["SETTINGS"], "q": float_(0.7, "mine")}\n',
    )
    assert resolve("methods", "mine").points[0].settings["q"] == 0.7
    write("datasets", "data", 'PAPER_HYPERPARAMETERS: dict = {"mine": {"q": 0.3}}\n')
    assert resolve("methods", "mine", "data").points[0].settings["q"] == 0.3


@pytest.mark.parametrize(
    "text",
    [
        'SETTINGS = {}\nSETTINGS["q"] = float_(0.5, "mine")\n',
        'SETTINGS = {}\nSETTINGS |= {"q": float_(0.5, "mine")}\n',
        'SETTINGS = {}\nSETTINGS.update(q=float_(0.5, "mine"))\n',
        "if True:\n    SETTINGS = {}\n",
        "DEFAULTS, SETTINGS = {}, {}\n",
        'SETTINGS = {}\n_ = SETTINGS.setdefault("q", float_(0.5, "mine"))\n',
        "SETTINGS = {}\ndel SETTINGS\n",
    ],
)
def test_a_declaration_that_is_changed_later_is_refused(write, text):
    write("methods", "mine", text)
    with pytest.raises(SettingError, match=r"mine\.py, line \d: SETTINGS is read without running the file"):
        read_declarations("methods", "mine")


@pytest.mark.parametrize(
    "text",
    [
        "def build():\n    return SETTINGS['q']\n",
        "async def build():\n    return SETTINGS['q']\n",
        "for key in SETTINGS:\n    print(key)\n",
        "if __name__ == '__main__':\n    print(SETTINGS)\n",
        "a, b = SETTINGS['q'], 2\n",
        "TABLE['a'] = SETTINGS['q']\n",
        "assert 'q' in SETTINGS\n",
    ],
)
def test_a_file_may_use_its_declarations(text):
    (node,) = ast.parse(text).body
    assert list_changed(node, declarations.DECLARATIONS) == []


@pytest.mark.parametrize("text", ["SETTINGS = [1]\n", "SETTINGS = {3: float_(0.5, 'mine')}\n"])
def test_settings_that_are_no_names_with_values_are_refused(write, text):
    write("methods", "mine", text)
    with pytest.raises(SettingError, match=r"mine\.py: SETTINGS must give values to names"):
        read_declarations("methods", "mine")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('"q": float_(2.0, "mine", at_most=1)', "its default is refused: q=2: must be a number at most 1"),
        ('"q": choice("c", "mine", "a", "b")', "its default is refused: q=c: must be one of a, b"),
        ('"q": int_(1.5, "mine")', "its default is refused: q=1.5: must be a whole number"),
        ('"q": bool_("false", "mine")', "its default 'false' is read as False from a name"),
        ('"q": float_(0.5, "mine", search=(0, 1))', r"search is \(0, 1\), not uniform"),
        ('"Top-K": float_(0.5, "mine")', "a name has lower-case letters"),
        ('"q.r": float_(0.5, "mine")', "a name has lower-case letters"),
        ('"groups": component("inferences", "oracle", "mine")', "unknown name in inferences/: 'oracle'"),
        ('"groups": component("inference", "oracel", "mine")', "did you mean oracle"),
    ],
)
def test_a_setting_that_would_refuse_its_own_default_is_refused(write, setting, message):
    write("methods", "mine", f"SETTINGS = {{{setting}}}\n")
    with pytest.raises(SettingError, match=rf"mine\.py: .* in SETTINGS.*{message}"):
        read_declarations("methods", "mine")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('{"ermm": {"epochs": 3}}', "unknown component 'ermm'; did you mean erm"),
        ('{"erm": 0.3}', "must be settings by component"),
        ("{3: {}}", "must give values to names"),
        ('{"stagee1/erm": {"epochs": 3}}', "unknown stage 'stagee1'; did you mean stage1"),
        ('{"erm": {"epochss": 3}}', "of erm: unknown setting 'epochss'; did you mean epochs"),
        ('{"stage1/erm": {"epochss": 3}}', "of stage1/erm: unknown setting 'epochss'"),
        ('{"erm": {"encoder.hidden": 3}}', "unknown setting 'encoder.hidden'"),
        ('{"*": {"epochss": 3}}', r"of \*: unknown setting 'epochss'; did you mean epochs"),
        ('{"erm": {"stage1.epochss": 3}}', "of erm: unknown setting 'epochss'; did you mean epochs"),
    ],
)
def test_what_a_data_set_states_for_nothing_is_refused(write, table, message):
    write("datasets", "data", f"PAPER_HYPERPARAMETERS = {table}\n")
    with pytest.raises(SettingError, match=rf"data\.py: PAPER_HYPERPARAMETERS.*{message}"):
        resolve("methods", "erm", "data", "stage1")


def test_settings_of_two_components_of_one_name_may_stand_together(write):
    write("datasets", "data", 'PAPER_HYPERPARAMETERS = {"eiil": {"epochs": 3, "steps": 7}}\n')
    point = resolve("methods", "eiil", "data").points[0]
    assert (point.settings["epochs"], point.components["groups"].settings["steps"]) == (3, 7)


@pytest.mark.parametrize("revision", ['"2024"', "0", "1.5", "2 - 1"])
def test_a_revision_that_is_no_whole_number_is_refused_before_anything_is_made(write, revision):
    write("methods", "mine", f"REVISION = {revision}\n")
    with pytest.raises(SettingError, match=r"mine\.py: REVISION must be a whole number"):
        resolution.resolve("methods", "mine")


def test_a_file_of_metrics_that_defines_no_measure_is_refused(write):
    write("metrics", "mine", "def meassure():\n    yield\n")
    with pytest.raises(SettingError, match=r"mine\.py defines no function measure: name it so, or begin"):
        list_measures()
