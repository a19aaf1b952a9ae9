"""Ctrl-C while a command (``despur``, ``python -m despur...``) still imports: one line, and nothing else happens.

An exception in the midst of imports would leave a traceback, and some libraries catch it."""

import os
import signal
import sys


def stop_at_once(*_: object) -> None:
    os.write(2, b"stopped\n")
    os._exit(130)


def interrupt_work() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, unless the shell has said that it is ignored."""
    if signal.getsignal(signal.SIGINT) is stop_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


is_command = sys.argv[0].rpartition("/")[2] in ("-m", "despur")  # -m: Python is about to look for the module to run
if is_command and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, stop_at_once)
