"""Jobs that start at once: importing torch, pandas and scikit-learn takes longer than many a small job does.

python -m despur.warm -m despur.evaluate results/runs/colored_digits/cnc/s0-2

does what the same line without ``-m despur.warm`` does. Where Snakemake runs jobs on its own machine (it sets DESPUR_WARM to its process
id), the first such command starts a server, which imports the libraries once and is forked for each command; else it runs as any command.
A child imports despur's own code anew, so an edit counts at once. The server ends with Snakemake; a command that is killed takes its child
along.
"""

import atexit
import fcntl
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

LIBRARIES = """
torch scipy.io scipy.linalg scipy.optimize scipy.spatial scipy.special scipy.stats sklearn.cluster sklearn.datasets sklearn.decomposition
sklearn.gaussian_process sklearn.kernel_approximation sklearn.linear_model sklearn.manifold sklearn.metrics sklearn.mixture
sklearn.multiclass sklearn.neighbors sklearn.preprocessing sklearn.svm pyarrow.dataset pyarrow.parquet pyarrow.pandas_compat pandas
safetensors.numpy yaml jsonschema matplotlib.pyplot seaborn PIL.Image umap
"""
PATIENCE = 30.0  # seconds that a client waits for a server to start


def folder(owner: int) -> Path:
    """Where the server of the Snakemake with this process id is found; no other user can reach it."""
    place = Path(tempfile.gettempdir()) / f"despur-{os.getuid()}-{owner}"
    place.mkdir(mode=0o700, exist_ok=True)
    if place.stat().st_uid != os.getuid():
        sys.exit(f"error: {place} belongs to another user: remove it, or set TMPDIR to a folder of your own")
    return place


def alive(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def connect(owner: int) -> socket.socket:
    """A connection to the server, which the first who asks starts."""
    place = folder(owner)
    address = str(place / "socket")
    client = socket.socket(socket.AF_UNIX)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError, ConnectionRefusedError):
            client.connect(address)
            return client
        with (place / "log").open("a") as log:
            command = [sys.executable, "-m", "despur.warm", "--serve", str(owner)]
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        for _ in range(int(PATIENCE / 0.02)):
            with suppress(FileNotFoundError, ConnectionRefusedError):
                client.connect(address)
                return client
            time.sleep(0.02)
    sys.exit(f"error: no server for jobs within {PATIENCE:.0f} seconds: see {place}/log, or unset DESPUR_WARM")


def ask(owner: int, command: list[str]) -> int:
    """Let the server run ``command`` with this process's files, folder and environment; its exit status."""
    with connect(owner) as client:
        request = json.dumps({"command": command, "folder": str(Path.cwd()), "environment": dict(os.environ)}).encode()
        socket.send_fds(client, [len(request).to_bytes(8, "big")], [0, 1, 2])
        client.sendall(request)
        answer = client.recv(1)
    if not answer:
        sys.exit(f"error: the server of jobs is gone: see {folder(owner)}/log")
    return answer[0]


def receive(client: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What a client asks, and its standard files."""
    size, files, *_ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as stream:
        return json.loads(stream.read(int.from_bytes(size, "big"))), files


def become(request: dict[str, Any], files: list[int]) -> None:
    """Make this process one that a shell has started."""
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])


class Server:
    """Listens for commands, forks for each, tells its client how it ended, and ends with its owner."""

    def __init__(self, owner: int) -> None:
        self.owner, self.place = owner, folder(owner)
        self.clients: dict[int, socket.socket] = {}  # by process id of the child
        self.events = selectors.DefaultSelector()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.place / "socket"))
        self.listener.listen(64)
        self.events.register(self.listener, selectors.EVENT_READ)

    def serve(self) -> list[str]:
        """Returns in a child, with the command that it is to run; in the server, when the owner has ended."""
        signal.set_wakeup_fd(self.bell())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while self.clients or alive(self.owner):
            for key, _ in self.events.select(timeout=1):
                if key.fileobj is self.listener:
                    if command := self.start(self.listener.accept()[0]):
                        return command
                elif isinstance(key.data, int):  # its client is gone
                    self.events.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)
            self.reap()
        for name in ("socket", "lock", "log"):
            (self.place / name).unlink(missing_ok=True)
        self.place.rmdir()
        return []

    def bell(self) -> int:
        """A file to write to that ends a wait for events."""
        ear, bell = socket.socketpair()
        for end in (ear, bell):
            end.setblocking(False)
        self.ear, self.tongue = ear, bell
        self.events.register(ear, selectors.EVENT_READ)
        return bell.fileno()

    def start(self, client: socket.socket) -> list[str]:
        request, files = receive(client)
        if child := os.fork():
            for file in files:
                os.close(file)
            self.clients[child] = client
            self.events.register(client, selectors.EVENT_READ, child)
            return []
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.events.close()
        for other in (self.listener, client, self.ear, self.tongue, *self.clients.values()):
            other.close()
        become(request, files)
        return list(request["command"])

    def reap(self) -> None:
        """Tell clients whose children have ended."""
        with suppress(BlockingIOError):
            self.ear.recv(4096)
        for child in list(self.clients):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                client = self.clients.pop(child)
                with suppress(KeyError):
                    self.events.unregister(client)
                with client, suppress(BrokenPipeError):
                    code = os.waitstatus_to_exitcode(status)
                    client.sendall(bytes([code if code >= 0 else 128 - code]))


def run(command: list[str]) -> None:
    """What ``python COMMAND`` does: ``-m MODULE ...`` or ``SCRIPT ...``."""
    import runpy

    sys.modules.pop("despur", None)
    if command[0] == "-m":
        sys.argv = command[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = command
        sys.path[0] = str(Path(command[0]).resolve().parent)
        runpy.run_path(command[0], run_name="__main__")


def finish(command: list[str]) -> None:
    """Run a command and end this process as Python would, but leave it to the system to free its memory, which takes Python a second."""
    status: Any = 0
    try:
        run(command)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


def main() -> None:
    first, *rest = sys.argv[1:]
    if first == "--serve":
        server = Server(int(rest[0]))
        import importlib

        for name in LIBRARIES.split():
            importlib.import_module(name)
        if command := server.serve():
            finish(command)
    elif owner := os.environ.get("DESPUR_WARM"):
        sys.exit(ask(int(owner), [first, *rest]))
    else:
        os.execv(sys.executable, [sys.executable, first, *rest])


if __name__ == "__main__":
    main()
