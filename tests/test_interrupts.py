"""Ctrl-C, a real signal, or too little memory while a command imports (while it works: training/test_resume.py);
threads of a command."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from despur.specs.declarations import PACKAGE
from despur.storage.interrupts import MODULES, explain_shortage

DESPUR = [str(Path(sys.executable).parent / "despur"), "list", "methods"]
EVALUATE = [sys.executable, "-m", "despur.evaluate", "results/runs/colored_digits/erm/s0"]
TABLE = [sys.executable, "-m", "despur.papers.cnc.tables", "--help"]
PROGRAM = [sys.executable, "-c", "import despur"]
# Python imports it when it starts. When it looks for the module INTERRUPTED, the process is interrupted, or FAULT is
# raised.
HOOK = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED"]:
            sys.meta_path.remove(self)
            if "FAULT" in os.environ:
                exec(os.environ["FAULT"])
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
"""


def interrupt_import(folder, command, module, ignored=False, **fault):
    """Exit status of a command and its lines of error, where it is interrupted when it is about to import a module."""
    (folder / "sitecustomize.py").write_text(HOOK)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "INTERRUPTED": module} | fault,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize(
    ("command", "module"),
    [(DESPUR, "despur.__main__"), (DESPUR, "despur.cli"), (EVALUATE, "despur.evaluate"), (EVALUATE, "pandas._libs")],
)
def test_a_command_that_is_interrupted_while_it_imports_says_so_in_one_line(command, module, tmp_path):
    assert interrupt_import(tmp_path, command, module) == (130, ["stopped"])


def test_a_table_that_is_interrupted_while_it_imports_says_so_in_one_line(tmp_path):
    assert interrupt_import(tmp_path, TABLE, "pandas._libs") == (-signal.SIGINT, ["stopped"])


MAPPED = "x.so: failed to map segment from shared object"


@pytest.mark.parametrize("command", [DESPUR, EVALUATE, TABLE], ids=["despur", "stage", "table"])
def test_a_command_that_has_too_little_to_import_says_so_in_one_line(command, tmp_path):
    module = "pandas._libs" if command != DESPUR else "yaml"
    code, (line,) = interrupt_import(tmp_path, command, module, FAULT="raise MemoryError")
    assert code == 1 and line.startswith("error: not enough memory (of this process). Run")


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ImportError(MAPPED), f"not enough memory ({MAPPED}). Run"),
        (caused(ImportError("numpy cannot be loaded"), OSError(MAPPED)), f"not enough memory ({MAPPED})"),
        (RuntimeError("could not create a primitive"), "not enough memory (could not create a primitive)"),
        (OSError(24, "Too many open files"), "Too many open files. Run it again where more"),
        (
            FileNotFoundError(2, "No usable temporary directory found in /tmp"),
            "No usable temporary directory found in /tmp. Make room there, or set TMPDIR",
        ),
    ],
)
def test_what_the_machine_did_not_give_is_named(error, said):
    assert explain_shortage(error).startswith(said)


def test_another_error_of_an_import_keeps_its_traceback(tmp_path):
    code, lines = interrupt_import(tmp_path, EVALUATE, "pandas._libs", FAULT="raise ImportError('broken')")
    assert code == 1 and lines[0].startswith("Traceback") and lines[-1] == "ImportError: broken"


def test_a_command_in_the_background_goes_on(tmp_path):
    """A shell lets what it starts with & ignore Ctrl-C."""
    assert interrupt_import(tmp_path, DESPUR, "yaml", ignored=True) == (0, [])


def test_a_program_that_uses_the_package_keeps_python_s_handler(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/__init__.py").write_text("import despur")
    (tmp_path / "mine/work.py").write_text(
        "import sys\ntry:\n    import wave\nfinally:\n    print('put away', file=sys.stderr)"
    )
    code, lines = interrupt_import(tmp_path, [sys.executable, "-m", "mine.work"], "wave")
    assert (code, lines[0], lines[-1]) == (-signal.SIGINT, "put away", "KeyboardInterrupt")


@pytest.mark.parametrize(
    ("command", "given", "threads"),
    [(DESPUR, {}, "1"), (DESPUR, {"OPENBLAS_NUM_THREADS": "2"}, "2"), (PROGRAM, {}, "None")],
    ids=["command", "given", "program"],
)
def test_linear_algebra_of_a_command_has_one_thread_as_in_snakemake_s_jobs(command, given, threads, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os\natexit.register(lambda: print('threads', os.environ.get('OPENBLAS_NUM_THREADS')))"
    )
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    plain = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment = plain | {"PYTHONPATH": os.pathsep.join(paths)} | given
    done = subprocess.run([*command, "--help"], env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == f"threads {threads}", done.stderr


def test_commands_are_the_modules_that_raise_interrupts_when_they_work():
    stages = [
        file for file in PACKAGE.glob("*.py") if re.search("run_from_command_line|interrupt_work", file.read_text())
    ]
    assert {"despur" if file.stem == "__main__" else f"despur.{file.stem}" for file in stages} == set(MODULES)
