"""What the view of a run counts and says, from the events that Snakemake sends."""

import os
from io import StringIO

import pytest
from rich.console import Console

from snakemake_logger_plugin_despur.state import Job, RunState, describe_failure, spell_command
from snakemake_logger_plugin_despur.views import LiveView, PlainView, describe_made, summarize

COMMAND = "python -m despur.orchestration.gpu_slots --gpus 0 --jobs-per-gpu 0 python -m despur.warm"
STAGE2 = f"{COMMAND} -m despur.stage2 results/runs/d/erm/s0/models.safetensors --threads 1 > results/logs/erm.log 2>&1"


class Clock:
    """Seconds, set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def job(number, rule, command="python -m despur.warm -m despur.data x > log 2>&1", log="", words="words"):
    return {
        "jobid": number,
        "rule_name": rule,
        "rule_msg": words,
        "log": [log] if log else [],
        "output": [f"{rule}.out"],
        "shellcmd": command,
    }


def test_jobs_are_counted_by_stage_and_targets_without_a_command_are_not(clock):
    state = RunState(clock)
    state.plan({"build_data": 1, "train_stage2": 2, "cnc_table_1": 1, "cnc": 1, "all": 1, "total": 6})
    assert state.list_stages() == ["data", "stage 2", "tables and figures"] and sum(state.planned.values()) == 4
    state.start(job(1, "build_data"))
    state.start(job(2, "train_stage2"))
    state.finish(1)
    state.start(job(3, "all", command=""))
    state.finish(3)
    assert [state.count(stage) for stage in state.list_stages()] == [(1, 0, 0), (0, 1, 1), (0, 0, 1)]
    assert state.finish(99) is None and state.count_done() == 1


def test_the_time_that_is_left_follows_from_the_jobs_so_far(clock):
    state = RunState(clock)
    state.plan({"train_stage2": 5})
    assert state.estimate_left() is None  # nothing is known of training yet
    for number in (1, 2):
        state.start(job(number, "train_stage2"))
    clock.now = 60
    for number in (1, 2):  # two at once, 60 seconds each
        state.finish(number)
    assert state.estimate_left() == pytest.approx(3 * 60 / 2)
    state.start(job(3, "train_stage2"))
    clock.now = 90  # one alone for 30 seconds: 30 + 120 seconds of work, 150 seconds of work done in 90
    assert state.estimate_left() == pytest.approx(150 / (150 / 90))
    assert summarize(state) == "2 of 5 jobs done, 1 running, about 2 min left"


@pytest.mark.parametrize("width", [40, 80, 100])
def test_the_view_fits_the_terminal_and_names_each_stage_in_a_line(clock, width):
    state = RunState(clock)
    state.plan({"train_stage1": 7, "cnc_table_1": 1000})
    view = LiveView(state)
    view.console = Console(width=width, file=StringIO())
    state.start(job(1, "cnc_table_1", words="Making Table A.7 A.11 of cnc+temperature=0.05 " * 3))
    view.console.print(view.render())
    first, models, tables, running = view.console.file.getvalue().rstrip().splitlines()
    assert max(map(len, (first, models, tables, running))) <= width
    assert "stage 1" in models and ("7 left" in models if width >= 60 else "0 of 7 done" in models)
    assert "tables and figures" in tables and ("999 left" in tables if width >= 60 else "0 of 1000 done" in tables)
    assert "     0 s  Making Table A.7" in running


def test_a_failure_says_where_the_log_is_how_it_ends_and_how_to_run_the_job_by_hand(clock, tmp_path):
    log = tmp_path / "erm.log"
    log.write_text("\n".join(f"line {i}." for i in range(40)))
    state, told = RunState(clock), job(7, "train_stage2", STAGE2, str(log), "Training erm on d, seeds 0")
    state.start(told)
    failed = state.fail(told | {"rule_msg": None})
    text = describe_failure(failed)
    assert text.splitlines()[:2] == ["FAILED  Training erm on d, seeds 0", f"  the end of its log, {log}:"]
    assert "line 39." in text and "line 25." in text and "line 24." not in text
    assert text.endswith("  by hand: python -m despur.stage2 results/runs/d/erm/s0/models.safetensors --threads 1")
    assert state.fail(told) is None  # Snakemake says it again at its end
    log.unlink()
    assert f"its log, {log}, is empty" in describe_failure(failed)


def test_a_failure_on_a_cluster_says_what_the_cluster_says_and_shows_no_log_of_an_earlier_attempt(clock, tmp_path):
    log = tmp_path / "erm.log"
    log.write_text("stopped by hand")
    os.utime(log, (0, 0))
    state, told = RunState(clock), job(7, "train_stage2", STAGE2, str(log), "Training erm on d, seeds 0")
    state.start(told)
    reason = "SLURM status is: 'OUT_OF_MEMORY'. For further error details see the cluster/cloud log and more."
    failed = state.fail(told | {"rule_msg": reason, "log": [str(log), "slurm/1001.log"]})
    assert not failed.was_interrupted()
    assert describe_failure(failed).splitlines()[1:4] == [
        "  SLURM status is: 'OUT_OF_MEMORY'.",
        "  log of the cluster: slurm/1001.log",
        f"  its log, {log}, is of an earlier attempt",
    ]


def test_a_long_command_is_typed_as_its_output(clock):
    state = RunState(clock)
    long = state.start(job(1, "cnc_table_1", f"python -m despur.warm tables.py --cells '{'x' * 500}' > log 2>&1"))
    assert spell_command(long) == "snakemake cnc_table_1.out --verbose"
    assert spell_command(state.start(job(2, "other", "echo hello"))) == "snakemake other.out --verbose"


def test_the_newest_progress_of_training_is_read_from_its_log(clock, tmp_path):
    log = tmp_path / "log"
    losses = "step 54 loss 0.3017 val_average_accuracy 0.454"
    lines = [f"d/erm/0: epoch {epoch}.0/9 {losses} 1,278 images/s, at most {3 / epoch} min left" for epoch in (1, 2)]
    log.write_text("\n".join([*lines, "end\n"]))
    state = RunState(clock)
    shown = state.start(job(1, "train_stage2", log=str(log))).read_progress()
    assert shown == "at most 1.5 min left, epoch 2.0/9, 1,278 images/s"
    log.write_text("embedded 10 of 90, 5 samples/s, about 0.3 min left\n")
    shown = state.start(job(3, "train_stage1", log=str(log))).read_progress()
    assert shown == "about 0.3 min left, embedded 10 of 90, 5 samples/s"
    assert state.start(job(2, "train_stage2", log=str(tmp_path / "none"))).read_progress() == ""


def test_a_retried_job_is_not_counted_as_failed(clock):
    state = RunState(clock)
    state.plan({"train_stage2": 1})
    state.start(job(1, "train_stage2"))
    state.fail(job(1, "train_stage2", words=None))
    assert "1 failed" in summarize(state)
    assert state.name_restarted("Trying to restart job 1.") == "again  words"
    assert state.name_restarted("Trying to restart job 2.") == "Trying to restart job 2."
    state.start(job(1, "train_stage2"))
    state.finish(1)
    assert not state.failed and state.count_done() == 1


def test_the_end_is_said_once(clock, capsys):
    state = RunState(clock)
    state.plan({"build_data": 1, "all": 1})
    view = PlainView(state)
    view.end()
    assert capsys.readouterr().err == ""  # nothing ran
    for number, rule, command in ((1, "build_data", "c"), (2, "all", "")):
        view.show_start(state.start(job(number, rule, command, words=f"words of {rule}")))
        view.show_end(state.finish(number))
    clock.now = 200
    view.end()
    view.end()
    *_, last, made = capsys.readouterr().err.splitlines()
    assert last == "Finished after 3 min: 1 of 1 job done." and made == "words of all"


def test_of_several_results_that_were_asked_for_it_is_said_how_many():
    jobs = [Job("evaluation", "words", 0.0, output=f"results/runs/a/erm/s{i}/metrics.csv", command="c") for i in (0, 1)]
    words = ["snakemake", "results/runs/a/erm/s0/metrics.csv", "results/runs/a/erm/s1/metrics.csv", "--cores", "2"]
    assert describe_made(jobs, words) == "Made 2 results, the last of them results/runs/a/erm/s1/metrics.csv"
    assert describe_made(jobs, words[:2]) == "Made results/runs/a/erm/s1/metrics.csv"
