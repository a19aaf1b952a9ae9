"""YAML that can be understood in more than one way, and that all of ours cannot."""

import pytest
import yaml
from project import SOURCE

from despur.specs.settings import SettingError
from despur.specs.yaml_files import load_file


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load(text):
        (tmp_path / "own.yaml").write_text(text)
        return load_file((tmp_path / "own.yaml").relative_to(tmp_path))

    return load


OURS = [*SOURCE.glob("config*.yaml"), *SOURCE.glob("config/*.yaml"), *SOURCE.glob("workflow/**/*.yaml")]


@pytest.mark.parametrize("file", OURS, ids=lambda file: str(file.relative_to(SOURCE)))
def test_each_file_of_ours_means_what_snakemake_s_reader_takes_it_for(file):
    assert load_file(file) == yaml.safe_load(file.read_text())


@pytest.mark.parametrize(
    ("text", "key", "lines"),
    [
        ("papers: [cnc]\nseeds: 1\npapers: [fair_cl]\n", "papers", (1, 3)),
        ("artifacts:\n  cnc:\n    table_1: {seeds: 1}\n    'table_1': {seeds: 2}\n", "table_1", (3, 4)),
        ("datasets: {cmnist: cmnist, cmnist: colored_digits}\n", "cmnist", (1, 1)),
        ("claims:\n- name: a\n- margin: 1\n  name: b\n  margin: 2\n", "margin", (3, 5)),
        ('{"seeds": 1,\n "seeds": 2}', "seeds", (1, 2)),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_both_lines(load, text, key, lines):
    with pytest.raises(SettingError) as error:
        load(text)
    where = f"in line {lines[0]} and again in line {lines[1]}"
    assert str(error.value) == f"own.yaml: the key '{key}' stands {where}: keep one of them"


def test_a_key_may_replace_what_it_merges_and_stand_in_other_mappings(load):
    found = load("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: [{x: 1}, {x: 2}]\nd: *a\n")
    assert found == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}, "c": [{"x": 1}, {"x": 2}], "d": {"x": 1, "y": 2}}


def test_a_text_that_is_read_again_has_values_of_its_own(load):
    text = "a: &a {x: [1]}\nb: {<<: *a, y: 2}\n"
    load(text)["b"]["x"].append(3)
    assert load(text) == {"a": {"x": [1]}, "b": {"x": [1], "y": 2}}


AMBIGUOUS = ["1:30", "0o17", "017", "0b11", "1e3", "1.5e3", "-.5", "-0x1F", "yes", "No", "on", "OFF", "2026-01-02", "="]


@pytest.mark.parametrize("text", AMBIGUOUS)
@pytest.mark.parametrize("form", ["seeds: {}", "methods: [cnc, {}]", "{}: 1"])
def test_what_yaml_1_1_and_1_2_understand_differently_is_refused(load, text, form):
    with pytest.raises(SettingError, match=rf"^own\.yaml: '{text}' in line 2 means one thing in YAML 1\.1"):
        load(f"# first\n{form.format(text)}\n")
    assert text in str(load(form.format(f"'{text}'")))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(
            ("90", 90),
            ("-7", -7),
            ("50_000", 50_000),
            ("0x1F", 31),
            ("1.5", 1.5),
            ("1.0e+3", 1000.0),
            ("1.0e-3", 0.001),
        ),
        *((".inf", float("inf")), ("true", True), ("False", False), ("~", None), ("", None), ("null", None)),
        *(("0-2", "0-2"), ("p_corr=0.5~0.9", "p_corr=0.5~0.9"), ("!!str 1:30", "1:30"), ("y", "y"), ("1.2.3", "1.2.3")),
    ],
)
def test_what_all_readers_understand_alike_keeps_its_meaning(load, text, value):
    found = load(f"key: {text}")["key"]
    assert found == value and type(found) is type(value)
