"""The server: it imports the libraries and is forked for each command."""

import atexit
import ctypes
import importlib
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from despur.warm import alive, folder

LIBRARIES = """
torch scipy.io scipy.linalg scipy.optimize scipy.spatial scipy.special scipy.stats sklearn.cluster sklearn.datasets sklearn.decomposition
sklearn.gaussian_process sklearn.kernel_approximation sklearn.linear_model sklearn.manifold sklearn.metrics sklearn.mixture
sklearn.multiclass sklearn.neighbors sklearn.preprocessing sklearn.svm pyarrow.dataset pyarrow.parquet pyarrow.pandas_compat pandas
safetensors.numpy yaml jsonschema matplotlib.pyplot seaborn PIL.Image umap
"""
PR_SET_PDEATHSIG = 1


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
    if sys.platform == "linux":  # if the server is killed, so is this
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])


class Server:
    """Listens for commands, forks for each, tells its client how it ended, and ends with its owner."""

    def __init__(self, owner: int) -> None:
        self.owner, self.place = owner, folder(owner)
        self.clients: dict[int, socket.socket] = {}  # by process id of the child
        self.events = selectors.DefaultSelector()
        for other in self.place.parent.glob(f"despur-{os.getuid()}-*"):  # of servers that were killed
            if not alive(int(other.name.rpartition("-")[2])):
                shutil.rmtree(other, ignore_errors=True)
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
        """Fork for what a client asks; the command, in the child."""
        try:
            request, files = receive(client)
        except (ValueError, OSError):  # it was killed before it had asked
            client.close()
            return []
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
    for name in [name for name in sys.modules if name.partition(".")[0] == "despur"]:
        del sys.modules[name]  # it may be edited while the server runs
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
    server = Server(int(sys.argv[1]))  # clients can connect while it imports
    for name in LIBRARIES.split():
        importlib.import_module(name)
    if command := server.serve():
        finish(command)


if __name__ == "__main__":
    main()
