"""What is known of a run of Snakemake: jobs by stage, what runs now, the time that is left. Nothing is printed here."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from despur.orchestration.paper_folders import list_papers
from despur.specs.stages import OTHER_RULES, RULE_TITLES

# seconds, until measured
TYPICAL = {"data": 3.0, "groups": 5.0, "evaluation": 10.0, "saliency maps": 10.0, OTHER_RULES: 3.0}
LINES = 15  # of a failed job's log
STOPPED = "Terminating processes on user request", "Cancelling snakemake on user request"  # Snakemake on Ctrl-C
END = re.compile(r"returned non-zero (exit status \d+)|died with <Signals\.(\w+)")  # Snakemake on a job's command
FURTHER = "For further error details see the cluster"  # how Snakemake ends what a cluster says of a job
LONGEST = 300  # characters of a command to type


@dataclass
class Job:
    """A job that was started."""

    stage: str
    words: str
    started: float
    log: str = ""
    output: str = ""
    command: str = ""
    seconds: float = 0.0
    end: str = ""  # of a job that did not finish: exit status 1, SIGKILL
    reason: str = ""  # what a cluster says of its end
    cluster_logs: Sequence[str] = ()
    date: float = field(default_factory=time.time)  # of its start: an older log is of an earlier attempt

    def read_progress(self) -> str:
        """The newest progress in the log of a training job: time left, epoch and speed; not losses, which are long."""
        lines = [line for line in read_lines(self.log) if " min left" in line]
        done, _, left = (lines or [""])[-1].rpartition(": ")[2].rpartition(", ")
        return ", ".join(filter(None, [left, re.sub(r" step \d+ .* (?=\S+ images/s)", ", ", done)]))

    def was_interrupted(self) -> bool:
        """Whether Ctrl-C ended it: it died of that, or its log ends with what a stage of despur says then."""
        return self.end == "SIGINT" or "".join(self.read_log()[-1:]).startswith("stopped")

    def has_old_log(self) -> bool:
        """Whether its log is of an earlier attempt; a minute is left for clocks that differ."""
        return bool(self.log) and Path(self.log).is_file() and Path(self.log).stat().st_mtime < self.date - 60

    def read_log(self) -> list[str]:
        """The lines of its log; none of an earlier attempt."""
        return [] if self.has_old_log() else read_lines(self.log)


def list_warnings(job: Job) -> list[str]:
    """What the log of a finished job warns of, and the job."""
    lines = [line for line in read_lines(job.log) if line.startswith("warning: ")]
    return [f"{job.words}: {line}" for line in lines]


class RunState:
    """Jobs of a run, by stage. ``clock`` tells seconds; ``stopped``: a person has stopped the run."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock, self.began, self.stopped = clock, clock(), False
        self.planned: Counter[str] = Counter()
        self.running: dict[int, Job] = {}
        self.finished: list[Job] = []
        self.failed: dict[int, Job] = {}

    def plan(self, counts: Mapping[str, int]) -> None:
        """How many jobs each rule has. The rules ``all`` and those of papers only name what others make."""
        self.planned.clear()
        named = {"all", "total", *list_papers()}
        for rule, count in counts.items():
            if rule not in named:
                self.planned[RULE_TITLES.get(rule, OTHER_RULES)] += count

    def start(self, told: Mapping[str, Any]) -> Job:
        """A job has started, perhaps again."""
        job = Job(
            RULE_TITLES.get(told["rule_name"], OTHER_RULES),
            told["rule_msg"] or told["rule_name"],
            self.clock(),
            log=first(told["log"]),
            output=first(told["output"]),
            command=told["shellcmd"] or "",
        )
        self.running[told["jobid"]] = job
        self.failed.pop(told["jobid"], None)
        return job

    def finish(self, number: int) -> Job | None:
        """A job has finished. None for one that is not known."""
        if job := self.running.pop(number, None):
            job.seconds = self.clock() - job.started
            self.finished.append(job)
        return job

    def fail(self, told: Mapping[str, Any]) -> Job | None:
        """A job has failed. None where this was said before."""
        if job := self.running.pop(told["jobid"], None):
            job.reason = (told.get("rule_msg") or "").partition(FURTHER)[0].strip()
            job.cluster_logs = [str(log) for log in told["log"] if str(log) != job.log] if job.reason else []
            self.failed[told["jobid"]] = job
        return job

    def note_end(self, text: str) -> bool:
        """Whether a message of Snakemake says how the command of a job that runs has ended; then the job keeps it.
        Notes, too, where it says that a person has stopped the run."""
        self.stopped |= any(sign in text for sign in STOPPED)
        ended = [job for job in list(self.running.values()) if job.command and job.command in text]
        if match := END.search(text):
            for job in ended:
                job.end = match[1] or match[2]
        return bool(match and ended)

    def name_restarted(self, text: str) -> str:
        """Snakemake's message that a job starts again, with the job's words in the place of its number; any other
        message as it is."""
        match = re.fullmatch(r"Trying to restart job (\d+)\.", text)
        job = {**self.running, **self.failed}.get(int(match[1])) if match else None
        return f"again  {job.words}" if job else text

    def count(self, stage: str) -> tuple[int, int, int]:
        """Of a stage: jobs that are done, running, and left to start."""
        done = sum(job.stage == stage and bool(job.command) for job in self.finished)
        running = sum(job.stage == stage and bool(job.command) for job in self.running.values())
        return done, running, max(0, self.planned[stage] - done - running)

    def list_stages(self) -> list[str]:
        """The stages that have jobs, in the order of data."""
        return [stage for stage in dict.fromkeys([*RULE_TITLES.values(), OTHER_RULES]) if self.planned[stage]]

    def count_interrupted(self) -> int:
        """How many jobs have ended by an interrupt."""
        return sum(job.was_interrupted() for job in self.failed.values())

    def count_done(self) -> int:
        return sum(self.count(stage)[0] for stage in self.list_stages())

    def estimate_seconds(self, stage: str) -> float | None:
        """How long a job of a stage takes: the mean so far."""
        seconds = [job.seconds for job in self.finished if job.stage == stage and job.command]
        return sum(seconds) / len(seconds) if seconds else TYPICAL.get(stage)

    def estimate_left(self) -> float | None:
        """Seconds until all jobs are done, if as many run at once as so far. None before the first training job of
        each stage has finished."""
        now, work = self.clock(), 0.0
        for stage in self.list_stages():
            _, _, left = self.count(stage)
            elapsed = [now - job.started for job in list(self.running.values()) if job.stage == stage]
            mean = self.estimate_seconds(stage)
            if mean is None and (left or elapsed):
                return None
            work += left * (mean or 0) + sum(max(0.0, (mean or 0) - seconds) for seconds in elapsed)
        busy = sum(job.seconds for job in self.finished) + sum(now - job.started for job in list(self.running.values()))
        return work / max(1.0, busy / max(now - self.began, 1e-9))


def first(files: Iterable[str] | None) -> str:
    """The first of these files; nothing where there is none."""
    return str(next(iter(files or ()), ""))


def read_lines(log: str) -> list[str]:
    """The lines of a log; none where there is no such file."""
    file = Path(log)
    return file.read_text(errors="replace").splitlines() if log and file.is_file() else []


def describe_failure(job: Job) -> str:
    """What a person needs of a job that failed: what a cluster says of it, the end of its log, where the logs are, and
    how to run the job by hand."""
    lines = job.read_log()[-LINES:]
    log = [f"  the end of its log, {job.log}:", *(f"    {line}" for line in lines)] if lines else []
    state = "of an earlier attempt" if job.has_old_log() else "empty"
    missing = [f"  its log, {job.log}, is {state}"] if job.log and not lines else []
    cluster = [f"  {job.reason}"] * bool(job.reason) + [f"  log of the cluster: {log}" for log in job.cluster_logs]
    end = f" ({job.end})" if job.end else ""
    return "\n".join([f"FAILED  {job.words}{end}", *cluster, *log, *missing, f"  by hand: {spell_command(job)}"])


def spell_command(job: Job) -> str:
    """What a person types to run a job again, with its output on the screen."""
    match = re.search(r"python -m despur\.warm (.*?)(?: > \S+ 2>&1)?$", " ".join(job.command.split()))
    if match and len(match[1]) < LONGEST:
        return f"python {match[1]}"
    return f"snakemake {job.output} --verbose"
