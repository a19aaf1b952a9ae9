"""Errors about configuration files."""

import pytest

from snakemake_logger_plugin_despur.configuration import explain_error

UNREADABLE = "WorkflowError:\nConfig file is not valid JSON or YAML."
RECURSION = "Traceback\n  update_config(self.configfiles, ...)\nRecursionError: maximum recursion depth exceeded"
TRACEBACK = "Traceback\n  config = load_configfile(configpath)\nFileNotFoundError: 'nope.yaml'"


@pytest.mark.parametrize(
    "option", [["--configfile", "FILE"], ["--configfile=FILE"], ["--configfile", "good.yaml", "FILE"]]
)
def test_a_broken_file_is_named_with_its_line(tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.yaml").write_text("seeds: 3\n")
    (tmp_path / "broken.yaml").write_text("papers: [cnc\nseeds: 3\n")
    words = ["snakemake", "-n", *(word.replace("FILE", "broken.yaml") for word in option), "--cores", "1"]
    text = explain_error(UNREADABLE, words)
    assert text.startswith("Error: broken.yaml cannot be read") and "line 2" in text


def test_a_missing_file_is_named_without_a_traceback():
    text = explain_error(TRACEBACK, ["snakemake", "--configfile", "nope.yaml"])
    assert text.startswith("Error: nope.yaml cannot be read") and "\n" not in text


def test_a_broken_config_yaml_which_no_word_names_is_named_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("papers: [cnc\nseeds: 3\n")
    text = explain_error(UNREADABLE, ["snakemake", "-n", "cnc"])
    assert text.startswith("Error: config.yaml cannot be read") and "line 2" in text


def test_a_file_that_holds_itself_is_named_without_a_traceback(tmp_path):
    (file := tmp_path / "own.yaml").write_text("papers: [cnc]\ndatasets: &a {cmnist: *a}\n")
    text = explain_error(RECURSION, ["snakemake", "--configfile", str(file)])
    assert text.startswith(f"Error: {file}: the configuration has more than") and "\n" not in text


def test_other_errors_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("seeds: 1\n")
    (tmp_path / "good.yaml").write_text("seeds: 3\n")
    words = ["snakemake", "--configfile", str(tmp_path / "good.yaml")]
    assert explain_error(UNREADABLE, words) == UNREADABLE
    assert explain_error("no rule", ["snakemake", "--configfile", "nope.yaml"]) == "no rule"
