"""What a person sees of a run of Snakemake with the plugin, of a tiny workflow."""

import logging
import os
import pty
import subprocess
import sys
import time

import forked
import pytest
from project import SOURCE
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_despur import LogHandler
from snakemake_logger_plugin_despur.state import RunState
from snakemake_logger_plugin_despur.views import PlainView

SNAKEFILE = """
rule all:
    input: "b"
    message: "All is made"

rule build_data:
    output: "a"
    message: "Building a"
    shell: "touch {output}"

rule train_stage2:
    input: "a"
    output: "b"
    log: "b.log"
    message: "Training b"
    shell: "(echo first words; echo last words; COMMAND) > {log} 2>&1"
"""
# training that goes on until the view has shown it, for a minute at most
UNTIL_SEEN = "for i in $(seq 600); do [ -e seen ] && break; sleep 0.1; done; touch {output}"


@pytest.fixture
def call(tmp_path):
    """Runs Snakemake on the workflow; its exit status and what it prints."""

    def run(command, *options, terminal=False):
        (tmp_path / "Snakefile").write_text(SNAKEFILE.replace("COMMAND", command))
        paths = os.pathsep.join([str(SOURCE / "workflow"), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": paths, "TERM": "xterm", "COLUMNS": "100"}
        words = ["-m", "snakemake", "--logger", "despur", "-c1", *options]
        if not terminal:
            return forked.run(words, tmp_path, environment, seconds=100)
        main, other = pty.openpty()
        process = subprocess.Popen([sys.executable, *words], cwd=tmp_path, env=environment, stdout=other, stderr=other)
        os.close(other)
        return read_all(main, tmp_path / "seen"), process.wait(timeout=100)

    return run


def read_all(terminal, seen):
    """What is written to a terminal until nobody writes any more. ``seen`` is made once the view shows training."""
    found = b""
    while True:
        try:
            found += os.read(terminal, 4096)
        except OSError:
            return found.decode()
        if b"Training b" in found:
            seen.touch()


def test_without_a_terminal_each_job_is_a_line_at_its_start_and_at_its_end(call):
    code, text = call("touch {output}")
    lines = [line for line in text.splitlines() if line]
    start = lines.index("2 jobs: data (1), stage 2 (1)")
    shown = [line.partition("  ")[2].split(" (")[0] for line in lines[start + 1 : start + 5]]
    assert shown == ["start  Building a", "done   Building a", "start  Training b", "done   Training b"]
    assert code == 0 and lines[-2].startswith("Finished after") and lines[-1] == "All is made"
    assert "Nothing to be done" in call("touch {output}")[1]


def test_a_failed_job_shows_its_log_and_how_to_run_it_again(call):
    code, text = call("false")
    log = "  the end of its log, b.log:\n    first words\n    last words"
    assert code == 1 and f"FAILED  Training b (exit status 1)\n{log}" in text
    assert "by hand: snakemake b --verbose" in text and text.count("FAILED") == 1
    assert "Stopped after" in text and "1 of 2 jobs done, 1 failed" in text
    assert "Exception" not in text and "WorkflowError" not in text


@pytest.fixture
def handler():
    """The plugin in a run of two jobs, both of which have started."""
    made = LogHandler.__new__(LogHandler)
    made.handler, made.state = None, RunState(time.monotonic)
    made.view = PlainView(made.state)
    made.state.plan({"build_data": 2})
    for number, word in enumerate("ab"):
        told = {"rule_name": "build_data", "rule_msg": f"Building {word}", "log": [f"{word}.log"], "output": [word]}
        made.state.start({"jobid": number, "shellcmd": f"build {word}", **told})
    return made


def tell_end(handler, number, end):
    """What Snakemake says of a job that ends badly."""
    text = f"RuleException:\nCommand 'set -euo pipefail;  build {'ab'[number]}' {end}."
    handler.follow(logging.makeLogRecord({"event": LogEvent.ERROR, "msg": text, "levelno": logging.ERROR}))
    handler.follow(logging.makeLogRecord({"event": LogEvent.JOB_ERROR, "jobid": number}))


def test_an_interrupt_is_no_failure(handler, capsys, tmp_path, monkeypatch):
    """Some jobs die of it; a stage of despur says that it was stopped."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.log").write_text("step 1 of 9\nstopped; the same command goes on where it was\n")
    stop = "Terminating processes on user request, this might take some time."
    handler.follow(logging.makeLogRecord({"msg": stop, "levelno": logging.INFO}))
    tell_end(handler, 0, "died with <Signals.SIGINT: 2>")
    tell_end(handler, 1, "returned non-zero exit status 1")
    handler.view.end()
    said, stopped, goes_on = capsys.readouterr().err.splitlines()
    assert said == stop and "0 of 2 jobs done, 2 interrupted" in stopped
    assert goes_on == "The same command goes on where this one was interrupted."


def test_an_interrupt_of_one_job_hides_no_failure_of_another(handler, capsys):
    tell_end(handler, 0, "died with <Signals.SIGINT: 2>")
    tell_end(handler, 1, "returned non-zero exit status 1")
    handler.follow(logging.makeLogRecord({"msg": "OSError: no space", "levelno": logging.ERROR}))
    handler.view.end()
    text = capsys.readouterr().err
    assert "FAILED  Building b (exit status 1)" in text and "OSError: no space" in text
    assert "Building a" not in text and "RuleException" not in text
    assert "0 of 2 jobs done, 1 interrupted, 1 failed" in text


def test_snakemake_speaks_itself_where_it_is_asked_to(call):
    for option in ("--verbose", "--printshellcmds", "-n"):
        text = call("touch {output}", option, "--forceall")[1]
        assert "Job stats:" in text and "start  " not in text, option
    assert "2 jobs" not in call("touch {output}", "--quiet", "all", "--forceall")[1]


def test_an_error_before_any_job_is_said(call):
    code, text = call("touch {output}", "nothing_of_that_name")
    assert code == 1 and "nothing_of_that_name" in text and "Traceback" not in text


def test_on_a_terminal_there_is_one_view_that_ends_with_what_was_made(call):
    text, code = call(UNTIL_SEEN, terminal=True)
    assert code == 0 and "1 done" in text and "Training b" in text and "All is made" in text
    assert "start  " not in text
