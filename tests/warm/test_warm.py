"""Commands that are run by forks of a server that has imported the libraries."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from despur.specs import syntax
from despur.warm import folder, is_alive, locate_folder
from despur.warm.child import forget_edited_syntax
from despur.warm.preparation import forget_package
from despur.warm.server import Server, receive

WHO = """
import gc, os, sys
print(sys.argv[1:], os.getcwd(), os.environ.get("COLOUR"), "torch" in sys.modules, sys.path[0])
assert (gc.get_freeze_count() > 100_000) == ("torch" in sys.modules)
print(sorted(name for name in sys.modules if name.startswith("despur")), file=sys.stderr)
"""


def command(owner, *arguments, **options):
    environment = {**os.environ, "COLOUR": "red", **({"DESPUR_WARM": str(owner)} if owner else {})}
    command = [sys.executable, "-m", "despur.warm", *map(str, arguments)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def answer(owner, *arguments, **options):
    """Exit status, output and errors of a command."""
    process = command(owner, *arguments, **options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def waits(condition, seconds=60):
    """Whether something becomes true."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


@contextmanager
def sleeping():
    """A process that sleeps; killed in the end, also where the test fails."""
    process = subprocess.Popen(["sleep", "600"])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def owner():
    """A process that lives as long as these tests: the server must end after it and leave nothing."""
    with sleeping() as process:
        yield process.pid
    assert waits(lambda: not locate_folder(process.pid).exists())


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "who.py"
    file.write_text(WHO)
    return file


def test_a_script_runs_as_if_started_by_hand_with_libraries_already_there(owner, script, tmp_path):
    code, out, err = answer(owner, script, "a b", "--c", cwd=tmp_path)
    assert code == 0
    assert out == f"{['a b', '--c']} {tmp_path} red True {tmp_path}\n"
    assert err == "['despur.specs.syntax']\n"  # none else of the code that may be edited


def test_without_a_server_it_is_a_command_as_any_other(script, tmp_path):
    code, out, err = answer(None, script, "a", cwd=tmp_path)
    assert (code, out, err) == (0, f"{['a']} {tmp_path} red False {tmp_path}\n", "[]\n")


@pytest.mark.parametrize("served", [True, False])
def test_a_module_runs_with_its_arguments_and_ends_with_its_status(owner, served):
    code, out, err = answer(owner if served else None, "-m", "despur.data", "nonsense")
    assert code == 1 and out == "" and err.startswith("error: nonsense")


@pytest.mark.parametrize(
    ("line", "status", "told"),
    [
        ("raise ValueError('no')", 1, "ValueError: no"),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit('no')", 1, "no"),
        ("import sys; sys.exit()", 0, ""),
        ("import os; os.kill(os.getpid(), 9)", 137, ""),
        ("import atexit, sys; atexit.register(print, 'late', file=sys.stderr)", 0, "late"),
    ],
)
def test_how_a_command_ends_is_told(owner, tmp_path, line, status, told):
    (tmp_path / "x.py").write_text(line)
    code, _, err = answer(owner, tmp_path / "x.py")
    assert code == status and (err.splitlines() or [""])[-1] == told


def test_an_edit_counts_at_once(owner, script):
    answer(owner, script)
    script.write_text("print('edited')")
    assert answer(owner, script)[1] == "edited\n"


def test_code_that_the_server_has_parsed_is_not_parsed_again(owner, tmp_path):
    (tmp_path / "x.py").write_text(
        "from despur.specs import syntax\n"
        "from despur.storage import digest\n"
        "before = syntax.parse.cache_info()\n"
        "digest.script_digest('despur/papers/cnc/tables.py')\n"
        "print(syntax.parse.cache_info().hits > before.hits, syntax.parse.cache_info().misses - before.misses)\n"
    )
    assert answer(owner, tmp_path / "x.py")[1] == "True 0\n"


@pytest.mark.parametrize("edited", [False, True])
def test_what_has_parsed_the_package_stays_imported_unless_it_is_edited(monkeypatch, edited):
    modules = {"torch": sys, "despur": sys, "despur.storage.digest": sys, "despur.specs.syntax": syntax}
    for name in ("child", "preparation"):
        monkeypatch.setattr(f"despur.warm.{name}.sys", SimpleNamespace(modules=modules))
    monkeypatch.setattr(syntax, "TEXT", "" if edited else syntax.TEXT)
    forget_package()
    forget_edited_syntax()
    assert list(modules) == (["torch"] if edited else ["torch", "despur.specs.syntax"])


def test_commands_at_the_same_time_have_their_own_answers(owner, script):
    running = [command(owner, script, number) for number in range(12)]
    assert [process.communicate(timeout=60)[0].split("'")[1] for process in running] == [
        str(number) for number in range(12)
    ]


def started(owner, tmp_path):
    """A command that goes on for long, and the process id of its child."""
    (tmp_path / "x.py").write_text(
        "import os, pathlib, time\npathlib.Path('child').write_text(str(os.getpid()))\ntime.sleep(600)\n"
    )
    process, child = command(owner, tmp_path / "x.py", cwd=tmp_path), tmp_path / "child"
    assert waits(lambda: child.exists() and child.read_text())
    return process, int(child.read_text())


def test_a_command_that_is_killed_takes_its_child_along(owner, tmp_path):
    process, child = started(owner, tmp_path)
    process.kill()
    process.communicate()
    assert waits(lambda: not is_alive(child))


def test_a_server_clears_up_after_those_that_are_gone_and_after_no_others(monkeypatch):
    def kill(process, number):
        if process == 1:
            raise PermissionError  # as a process of another user
        return real(process, number)

    real, gone = os.kill, subprocess.Popen(["true"])
    gone.wait()
    monkeypatch.setattr(os, "kill", kill)
    with tempfile.TemporaryDirectory(dir="/tmp") as short:  # a socket's path is short
        monkeypatch.setattr(tempfile, "tempdir", short)
        old, other, mine = (Path(short) / f"despur-{os.getuid()}-{end}" for end in (gone.pid, 1, "mine"))
        for folder_of_a_server in (old, other, mine):
            folder_of_a_server.mkdir()
        Server(os.getpid()).listener.close()
        assert (old.exists(), other.exists(), mine.exists()) == (False, True, True)


def test_where_the_path_of_a_socket_would_be_too_long_a_command_runs_as_usual(owner, script, tmp_path, monkeypatch):
    (long := tmp_path / ("x" * 100)).mkdir()
    monkeypatch.setenv("TMPDIR", str(long))
    code, out, said = answer(owner, script, "a", cwd=tmp_path)
    assert (code, out) == (0, f"{['a']} {tmp_path} red False {tmp_path}\n")
    assert said.startswith("TMPDIR is too long a path") and not [*long.iterdir()]


@pytest.mark.long
def test_a_server_that_is_killed_takes_its_children_along_and_the_next_one_clears_up(owner, tmp_path, script):
    with sleeping() as own:
        process, child = started(own.pid, tmp_path)
        os.kill(psutil.Process(child).ppid(), signal.SIGKILL)
        assert process.wait(60) == 1 and "is gone" in process.communicate()[1]
        assert waits(lambda: not psutil.pid_exists(child))
    result = folder(own.pid)
    with sleeping() as next_one:
        assert answer(next_one.pid, script)[0] == 0 and not result.exists()


def test_who_hangs_up_before_asking_does_no_harm(owner, script):
    answer(owner, script)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(folder(owner) / "socket"))
    assert answer(owner, script)[0] == 0


def test_files_of_a_client_that_is_killed_while_it_asks_are_closed():
    reader, writer = os.pipe()
    client, server = socket.socketpair()
    os.set_blocking(reader, False)
    with server, os.fdopen(reader, "rb") as output:
        socket.send_fds(client, [(100).to_bytes(8, "big")], [writer])
        os.close(writer)
        client.close()
        with pytest.raises(ValueError, match="Expecting value"):
            receive(server)
        assert output.read() == b""  # the end; None, where somebody could still write


def test_a_folder_of_another_user_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(SystemExit, match="another user"):
        folder(1)
    assert Path(tmp_path / "despur-12345-1").exists()


PROJECT = """
import hashlib
import numpy as np
from despur.numerics.umap import project
z = np.random.default_rng(0).standard_normal((200, 8)).astype("float32")
print(hashlib.md5(project(z, 0).tobytes()).hexdigest())
"""


@pytest.mark.long
def test_a_projection_has_the_same_digits_as_without_a_server(owner, tmp_path):
    (tmp_path / "project.py").write_text(PROJECT)
    (code, served, _), (_, alone, _) = (answer(each, tmp_path / "project.py") for each in (owner, None))
    assert code == 0 and served == alone


@pytest.mark.parametrize(
    ("log", "told"),
    [("", "Its log is empty: it was killed"), ("first\nlast\n", "The end of its log:\n  first\n  last")],
    ids=["empty", "log"],
)
def test_a_server_that_dies_before_it_has_read_a_request_is_said_to_be_gone(tmp_path, script, log, told):
    with sleeping() as own, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder(own.pid) / "socket"))
        listener.listen()
        process = command(own.pid, script, cwd=tmp_path)
        client = listener.accept()[0]
        client.recv(1)
        (folder(own.pid) / "log").write_text(log)  # the next server removes it
        client.close()  # of what it was sent, most is not read: its peer's connection is reset
        error = process.communicate(timeout=60)[1]
        assert error == f"error: the server of jobs is gone: run the same again. {told}\n"
        assert process.returncode == 1
        shutil.rmtree(folder(own.pid))
