"""How a run is shown: a live view on a terminal, else a line when a job starts and ends."""

import sys
import time
from collections.abc import Sequence
from pathlib import PurePath

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from despur.specs.durations import format_seconds
from snakemake_logger_plugin_despur.state import Job, RunState

SHOWN = 8  # running jobs that the live view lists
NARROW = 60  # characters a line, below which there is no room for bars


def has_terminal() -> bool:
    """Whether a view can be drawn where messages go."""
    console = Console(stderr=True)
    return sys.stderr.isatty() and not console.is_dumb_terminal


def format_jobs(count: int) -> str:
    return f"{count} job{'s' * (count != 1)}"


def summarize(state: RunState) -> str:
    """The whole run in a line."""
    left = state.estimate_left() if state.running else None
    running = f", {len(state.running)} running" if state.running else ""
    counted = f"{state.count_done()} of {format_jobs(sum(state.planned.values()))} done{running}"
    interrupted = state.count_interrupted()
    ended = {"interrupted": interrupted, "failed": len(state.failed) - interrupted}
    unfinished = "".join(f", {count} {word}" for word, count in ended.items() if count)
    return f"{counted}{unfinished}" + (f", about {format_seconds(left)} left" if left else "")


class PlainView:
    """Lines, as for a file."""

    def __init__(self, state: RunState) -> None:
        self.state, self.ended = state, False

    def begin(self) -> None:
        """The jobs are known."""
        stages = ", ".join(f"{stage} ({self.state.planned[stage]})" for stage in self.state.list_stages())
        self.show_message(f"{format_jobs(sum(self.state.planned.values()))}: {stages}")

    def show_start(self, job: Job) -> None:
        if job.command:
            self.write(f"start  {job.words}")

    def show_end(self, job: Job) -> None:
        if job.command:
            self.write(f"done   {job.words} ({format_seconds(job.seconds)}); {summarize(self.state)}")

    def show_message(self, text: str, color: str = "") -> None:
        print(text, file=sys.stderr, flush=True)

    def write(self, text: str) -> None:
        self.show_message(f"{time.strftime('%H:%M:%S')}  {text}")

    def end(self) -> None:
        """Say how the run ended and what was made last."""
        state = self.state
        if self.ended or not (state.finished or state.failed or state.running):
            return
        self.ended = True
        whole = format_seconds(state.clock() - state.began)
        done = state.count_done() == sum(state.planned.values()) and not state.failed
        self.show_message(f"{'Finished' if done else 'Stopped'} after {whole}: {summarize(state)}.")
        if state.stopped or state.count_interrupted():
            self.show_message("The same command goes on where this one was interrupted.")
        if state.finished and done:
            self.show_message(describe_made(state.finished, sys.argv[1:]))


class LiveView(PlainView):
    """A view that is drawn again twice a second; messages stand above it."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.console = Console(stderr=True)
        self.live: Live | None = None

    def begin(self) -> None:
        if self.live is None:
            self.live = Live(console=self.console, get_renderable=self.render, refresh_per_second=2, transient=True)
            self.live.start()

    def show_start(self, job: Job) -> None:
        """The view lists it."""

    def show_end(self, job: Job) -> None:
        """The view counts it."""

    def show_message(self, text: str, color: str = "") -> None:
        self.console.print(Text(text, style=color), soft_wrap=True)

    def render(self) -> RenderableType:
        """The view at this moment."""
        return Group(Text(summarize(self.state), style="bold"), self.render_stages(), self.render_jobs())

    def render_stages(self) -> RenderableType:
        """A bar for each stage; on a narrow terminal, how many of its jobs are done."""
        counts = {stage: self.state.count(stage) for stage in self.state.list_stages()}
        if self.console.width < NARROW:
            words = [f"  {stage:<18}  {count[0]} of {sum(count)} done" for stage, count in counts.items()]
            return Text("\n".join(words), no_wrap=True, overflow="ellipsis")
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(max_width=30)  # the only one that may be narrower
        for _ in range(3):
            table.add_column(no_wrap=True)
        for stage, (done, running, left) in counts.items():
            bar = ProgressBar(total=max(1, done + running + left), completed=done)
            table.add_row(f"  {stage}", bar, f"{done} done", f"{running} running" if running else "", f"{left} left")
        return table

    def render_jobs(self) -> RenderableType:
        """What runs now, the longest first, with the newest progress of training."""
        now, lines = self.state.clock(), []
        jobs = sorted(self.state.running.values(), key=lambda job: job.started)
        for job in jobs[:SHOWN]:
            lines.append(Text(f"{format_seconds(now - job.started):>8}  {job.words}"))
            if progress := job.read_progress():
                lines.append(Text(f"{'':>8}  {progress}", style="dim"))
        if len(jobs) > SHOWN:
            lines.append(Text(f"{'':>8}  and {len(jobs) - SHOWN} more"))
        return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)

    def end(self) -> None:
        if self.live is not None:
            self.live.stop()
            self.live = None
        super().end()


def describe_made(finished: Sequence[Job], words: Sequence[str]) -> str:
    """What a run made: of several results that its command line names, how many; else the last one."""
    named_paths = {PurePath(word).with_suffix("") for word in words if "/" in word}
    named = [job for job in finished if job.output and PurePath(job.output).with_suffix("") in named_paths]
    if len(named) > 1:
        return f"Made {len(named)} results, the last of them {named[-1].output}"
    return f"Made {finished[-1].output}" if finished[-1].command else finished[-1].words
