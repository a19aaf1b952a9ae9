"""despur run: the result paths that it spells, what it hands to Snakemake, what it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from despur import __main__ as main
from despur.cli import run
from despur.cli.run import spell_folders
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError
from despur.storage.finished_runs import find_runs


@pytest.mark.parametrize(
    ("method", "data", "settings", "seeds", "folders"),
    [
        ("cnc", "colored_digits", ["temperature=0.05"], "3", ["colored_digits/cnc+temperature=0.05/s0-2"]),
        ("cnc", "colored_digits", ["temperature=0.10", "two_sided=true"], "1", ["colored_digits/cnc/s0"]),
        ("cnc", "cmnist+p_corr=0.90", ["lambda=0.4~0.2"], "1", ["cmnist+p_corr=0.9/cnc+lambda=0.2~0.4/s0"]),
        ("erm", "colored_digits", [], "7", ["colored_digits/erm/s0-4", "colored_digits/erm/s5-6"]),
        ("erm", "colored_digits", [], "0-1,5", ["colored_digits/erm/s0-1", "colored_digits/erm/s5"]),
    ],
)
def test_a_path_is_spelled_canonically_with_defaults_dropped_and_seeds_in_chunks(
    method, data, settings, seeds, folders
):
    found = spell_folders(method, data, settings, seeds)
    assert list(found) == [f"results/runs/{folder}" for folder in folders]
    assert all(locate_result(folder).runs() for folder in found)  # which refuses every other spelling


@pytest.mark.parametrize(
    ("method", "data", "settings", "seeds", "message"),
    [
        ("cncc", "colored_digits", [], "1", "unknown method 'cncc'; did you mean cnc"),
        ("cnc", "colored_digit", [], "1", "unknown data set 'colored_digit'; did you mean colored_digits"),
        ("cnc", "", [], "1", "unknown data set ''"),
        ("cnc", "colored_digits", ["temprature=1"], "1", "'temprature'; did you mean temperature"),
        ("cnc", "colored_digits", ["temperature=-1"], "1", "temperature=-1: must be a number above 0"),
        ("cnc", "colored_digits", ["temperature"], "1", "--set temperature: must be key=value"),
        ("cnc+lambda=1", "colored_digits", ["lambda=2"], "1", "lambda is set twice"),
        ("cnc", "colored_digits", [], "0", "--seeds 0: must be how many"),
        ("cnc", "colored_digits", [], 5000 * "9", r"--seeds 9{200}\.\.\.: at most 1,000"),
        ("cnc", "colored_digits", [], "2-1", "the last seed must come after the first"),
        ("cnc", "colored_digits", [], "0-2,1", "a seed is named twice"),
    ],
)
def test_what_cannot_be_run_is_refused(method, data, settings, seeds, message):
    with pytest.raises(SettingError, match=message):
        spell_folders(method, data, settings, seeds)


def test_snakemake_gets_the_targets_and_its_options(tmp_path, monkeypatch):
    calls = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        run.subprocess, "run", lambda call: calls.append(call) or subprocess.CompletedProcess(call, len(calls) - 1)
    )
    words = ["run", "erm", "--data", "colored_digits", "--dry-run", "--", "--cores", "2"]
    arguments = main.parse_arguments(main.build_parser(), words)
    del arguments["command"], arguments["json"]
    with pytest.raises(SettingError, match="no Snakefile: run despur in a checkout"):
        list(run.run_method(**arguments))
    Path("Snakefile").touch()
    assert list(run.run_method(**arguments)) == []
    target = "results/runs/colored_digits/erm/s0/metrics.csv"
    assert calls == [[sys.executable, "-m", "snakemake", target, "--cores", "2", "--dry-run"]]
    with pytest.raises(SystemExit) as ended:  # as Snakemake ended
        list(run.run_method(**arguments))
    assert ended.value.code == 1


@pytest.mark.parametrize("option", ["-n", "--dry-run", "--dryrun"])
@pytest.mark.parametrize("command", [["run", "erm", "--data", "colored_digits"], ["search", "erm", "colored_digits"]])
def test_a_dry_run_of_snakemake_is_one_of_the_command(command, option):
    arguments = main.parse_arguments(main.build_parser(), [*command, "--", "--cores", "2", option])
    assert arguments["dry_run"] and arguments["options"] == ["--cores", "2"]
    arguments = main.parse_arguments(main.build_parser(), [*command, "--", "--cores", "2"])
    assert not arguments["dry_run"] and arguments["options"] == ["--cores", "2"]


def finish(*folders):
    """Runs of erm that are there."""
    for name in folders:
        folder = Path("results/runs/colored_digits/erm") / name
        folder.mkdir(parents=True)
        (folder / "metrics.csv").touch()


@pytest.mark.parametrize(
    ("finished", "asked", "used"),
    [
        ([], "s0-1", ["s0-1"]),
        (["s0"], "s0-1", ["s0", "s1"]),
        (["s1", "s3"], "s0-4", ["s0", "s1", "s2", "s3", "s4"]),
        (["s0", "s0-1"], "s0-4", ["s0-1", "s2-4"]),
        (["s0", "s0-4"], "s0-4", ["s0-4"]),
        (["s0-4"], "s0-1", ["s0-1"]),  # more than is asked for
    ],
)
def test_a_seed_that_is_there_is_not_trained_again(tmp_path, monkeypatch, finished, asked, used):
    monkeypatch.chdir(tmp_path)
    finish(*finished)
    folders = run.use_finished(f"results/runs/colored_digits/erm/{asked}")
    assert [Path(folder).name for folder in folders] == used


def test_a_copy_of_a_run_stops_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seeds in ("s0", "s0_old"):
        finish(seeds)
    folder = "results/runs/colored_digits/erm"
    assert run.use_finished(f"{folder}/s0-1") == [f"{folder}/s0", f"{folder}/s1"]
    for pattern in (f"{folder}/*", f"{folder}/*/metrics.csv"):
        assert find_runs([pattern]) == [Path(folder, "s0")]
    with pytest.raises(SettingError, match="s0_old"):
        find_runs([f"{folder}/s0_old"])


def test_what_is_left_out_of_the_path_and_what_is_there_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("Snakefile").touch()
    finish("s0")
    monkeypatch.setattr(run.subprocess, "run", lambda call: subprocess.CompletedProcess(call, 0))
    given = ["learning_rate=0.01", "epochs=3"]
    assert list(run.run_method("erm", "colored_digits", given[:1], "2", True, [])) == []
    said = capsys.readouterr().err
    assert "learning_rate=0.01 is the default of erm on colored_digits: the path leaves it out\n" in said
    assert "not trained again: results/runs/colored_digits/erm/s0\n" in said and "erm/s1/metrics.csv" in said
    list(run.run_method("erm", "colored_digits", given, "2", True, []))
    assert "epochs=3 is" not in capsys.readouterr().err


def despur(*words):
    return subprocess.run([sys.executable, "-m", "despur", *words], capture_output=True, text=True)


def test_tables_are_json_where_it_is_asked_for():
    found = json.loads(despur("list", "methods", "--json").stdout)["methods"]
    assert {"name", "summary"} == set(found[0]) and "cnc" in {row["name"] for row in found}
    words = ("explain", "results/runs/colored_digits/cnc+temperature=0.2~0.3/s0", "--json")
    settings = {row["setting"]: row for row in json.loads(despur(*words).stdout)["settings"]}
    expected = {"setting": "temperature", "kind": "methods", "values": ["0.2", "0.3"], "source": "the path"}
    assert settings["temperature"] == expected


def test_tables_are_json_where_a_command_ends_with_an_error_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/ledger/cmnist").mkdir(parents=True)
    (tmp_path / "results/ledger/cmnist/strange.txt").touch()
    ended = despur("ledger", "check", "--json")
    (fault,) = json.loads(ended.stdout)["faults"]
    assert "strange.txt" in fault["fault"] and ended.returncode == 1 and "1 fault. Record" in ended.stderr


def test_the_shell_is_offered_commands_and_names_that_exist(monkeypatch):
    pytest.importorskip("argcomplete")
    from argcomplete.finders import CompletionFinder

    def offers(typed):
        words = typed.split(" ")
        finder = CompletionFinder(main.build_parser(), always_complete_options=False)
        return set(finder._get_completions(words[:-1], words[-1], "", None))

    assert {"run ", "show "} <= {f"{word.strip()} " for word in offers("despur ")}
    assert {word.strip() for word in offers("despur run cn")} == {"cnc"}
    assert {word.strip() for word in offers("despur run cnc --data colored")} == {"colored_digits"}


def test_an_empty_path_is_refused_by_the_name_of_its_option(capsys):
    with pytest.raises(SystemExit):
        main.build_parser().parse_args(["explore", "--output", ""])
    assert "argument --output: '' names no file or folder" in capsys.readouterr().err
