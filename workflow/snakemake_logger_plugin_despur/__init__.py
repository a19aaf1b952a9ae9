"""What Snakemake prints while it runs despur: one live view on a terminal, plain lines elsewhere.

The profiles name it (``logger: despur``). With ``--verbose``, ``--printshellcmds``, ``--quiet``, ``--debug-dag`` or in
a dry run, Snakemake's own output is printed instead.

snakemake-logger-plugin-rich (0.5.1) shows a bar for each rule. It lacks the progress of training, the time that is
left, the command that repeats a failed job, and plain lines where there is no terminal."""

import logging
import sys
import time
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_despur.configuration import explain_error
from snakemake_logger_plugin_despur.state import RunState, describe_failure, list_warnings
from snakemake_logger_plugin_despur.views import LiveView, PlainView, has_terminal

# Messages of Snakemake that say nothing of results. All others without an event are printed.
UNSHOWN = (
    *("Assuming unrestricted shared", "Building DAG", "Complete log", "Conda environments", "Elapsed time", "Execute "),
    *("Group jobs", "host: ", "Provided ", "Rules claiming", "Select jobs", "Singularity containers", "Using shell"),
    *("Shutting down", "Exiting because a job", "Will exit after", "Workflow defines that rule"),
    "WorkflowError:\nAt least one job did not complete",  # the last line of the view says it
)


class LogHandler(LogHandlerBase):
    """Prints the events of a run."""

    writes_to_stream, writes_to_file, needs_rulegraph = True, False, False
    has_filter, has_formatter = True, True  # so that Snakemake adds none of its own

    def __post_init__(self) -> None:
        settings = self.common_settings
        if settings.dryrun or settings.verbose or settings.printshellcmds or settings.debug_dag or settings.quiet:
            self.handler: logging.Handler | None = make_default_handler(settings)
            return
        self.handler, self.state = None, RunState(time.monotonic)
        self.view = LiveView(self.state) if has_terminal() else PlainView(self.state)

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record, or change the state by it."""
        if record.levelno >= logging.ERROR and isinstance(record.msg, str):
            record.msg, record.args = explain_error(record.getMessage(), sys.argv), ()
        if self.handler is not None:
            self.handler.handle(record)
            return
        try:
            self.follow(record)
        except Exception:
            self.handleError(record)

    def follow(self, record: logging.LogRecord) -> None:
        """What a record says of the run."""
        event, told = getattr(record, "event", None), vars(record)
        if event == LogEvent.RUN_INFO:
            self.state.plan(told["stats"])
            self.view.begin()
        elif event == LogEvent.JOB_INFO:
            self.view.show_start(self.state.start(told))
        elif event == LogEvent.JOB_FINISHED:
            if job := self.state.finish(told["job_id"]):
                self.view.show_end(job)
                for warning in list_warnings(job):
                    self.view.show_message(warning, "yellow")
        elif event == LogEvent.JOB_ERROR:
            job = self.state.fail(told)
            if job and not job.was_interrupted():
                self.view.show_message(describe_failure(job), "red")
        elif event in (None, LogEvent.ERROR):
            self.show_other(record)

    def show_other(self, record: logging.LogRecord) -> None:
        """A message that is of no job."""
        text = self.state.name_restarted(record.getMessage()) if record.msg is not None else ""
        if self.state.note_end(text):
            return
        if text and record.levelno >= logging.INFO and not text.strip().startswith(UNSHOWN):
            color = "red" if record.levelno >= logging.ERROR else "yellow" if record.levelno >= logging.WARNING else ""
            self.view.show_message(text, color)

    def close(self) -> None:
        """End the view, and say what was made."""
        if self.handler is None:
            self.view.end()
        super().close()


def make_default_handler(settings: Any) -> logging.Handler:
    """Snakemake's own output."""
    from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter

    handler = ColorizingTextHandler(
        nocolor=settings.nocolor,
        stream=sys.stdout if settings.stdout else sys.stderr,
        formatter=DefaultFormatter(settings.quiet, settings.show_failed_logs),
    )
    options = (settings.debug_dag, settings.verbose, settings.dryrun, settings.printshellcmds)
    handler.addFilter(DefaultFilter(settings.quiet, *options))
    return handler
