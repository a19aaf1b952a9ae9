"""The server: it imports the libraries and is forked for each command.

What UMAP needs is compiled, for seven seconds, in each process that uses it. So the server forks a successor that does
this once and then takes over; until then it serves itself."""

import importlib
import json
import os
import selectors
import shutil
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from despur.warm import alive, folder
from despur.warm.child import become, finish

LIBRARIES = """
torch scipy.io scipy.linalg scipy.optimize scipy.spatial scipy.special scipy.stats sklearn.cluster sklearn.datasets
sklearn.decomposition sklearn.gaussian_process sklearn.kernel_approximation sklearn.linear_model sklearn.manifold
sklearn.metrics sklearn.mixture sklearn.multiclass sklearn.neighbors sklearn.preprocessing sklearn.svm pyarrow.dataset
pyarrow.parquet pyarrow.pandas_compat pandas safetensors.numpy yaml jsonschema matplotlib.pyplot seaborn PIL.Image
umap
"""


def receive(client: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What a client asks, and its standard files."""
    size, files, *_ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as stream:
        return json.loads(stream.read(int.from_bytes(size, "big"))), files


class Server:
    """Listens for commands, forks for each, tells its client how it ended, and ends with its owner."""

    def __init__(self, owner: int) -> None:
        self.owner, self.result, self.successor, self.retired = owner, folder(owner), 0, False
        self.clients: dict[int, socket.socket] = {}  # by process id of the child
        for other in self.result.parent.glob(f"despur-{os.getuid()}-*"):  # of servers that were killed
            if not alive(int(other.name.rpartition("-")[2])):
                shutil.rmtree(other, ignore_errors=True)
        address = self.result / "socket"
        address.unlink(missing_ok=True)  # of a server that was killed: clients start one at a time
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(address))
        self.listener.listen(64)
        self.listener.setblocking(False)

    def raise_successor(self) -> None:
        """Fork a server that compiles what libraries leave to be compiled, and then takes the commands that come."""
        signal.signal(signal.SIGUSR1, lambda *_: self.retire())
        server = os.getpid()
        self.successor = os.fork()
        if not self.successor:
            signal.signal(signal.SIGUSR1, signal.SIG_DFL)
            compile_umap()
            if os.getppid() == server:
                os.kill(server, signal.SIGUSR1)

    def retire(self) -> None:
        self.retired = True

    def serve(self) -> list[str]:
        """Returns in a child, with the command that it is to run; in the server, when the owner has ended or the
        successor is there."""
        self.events = selectors.DefaultSelector()
        self.events.register(self.listener, selectors.EVENT_READ)
        signal.set_wakeup_fd(self.bell())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while self.clients or (alive(self.owner) and not self.retired):
            for key, _ in self.events.select(timeout=1):
                if key.fileobj is self.listener:
                    if command := self.accept():
                        return command
                elif isinstance(key.data, int):  # its client is gone
                    self.events.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)
            self.reap()
            if self.retired and self.listener.fileno() >= 0:
                self.events.unregister(self.listener)
                self.listener.close()
        if not self.retired:
            if self.successor:
                os.kill(self.successor, signal.SIGKILL)
            shutil.rmtree(self.result, ignore_errors=True)
        return []

    def accept(self) -> list[str]:
        """Start what the next client asks; in the child, the command."""
        with suppress(BlockingIOError):  # the successor was faster
            client = self.listener.accept()[0]
            client.setblocking(True)  # not so everywhere
            return self.start(client)
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
        for number in (signal.SIGCHLD, signal.SIGUSR1):
            signal.signal(number, signal.SIG_DFL)
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


def compile_umap() -> None:
    """Have numba compile what a projection of few samples needs."""
    from numpy.random import default_rng

    from despur.numerics.umap import project

    project(default_rng(0).standard_normal((64, 4), dtype="float32"), 0)


def main() -> None:
    os.environ["NUMBA_THREADING_LAYER"] = "forksafe"  # UMAP runs before forks
    server = Server(int(sys.argv[1]))  # clients can connect while it imports
    for name in LIBRARIES.split():
        importlib.import_module(name)
    server.raise_successor()
    if command := server.serve():
        finish(command)


if __name__ == "__main__":
    main()
