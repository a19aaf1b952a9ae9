"""The server: it imports the libraries and is forked for each command.

UMAP's functions are compiled in each process that uses them, and directional derivatives import torch's compiler; both
take seconds. So the server forks a successor that does this once and then takes over. Until then the server itself
runs commands."""

import json
import os
import selectors
import shutil
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from despur.warm import folder, is_alive
from despur.warm.child import run_and_exit, take_over
from despur.warm.preparation import compile_umap, draw_figure, import_libraries, parse_package, prepare_forks


def receive(client: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The request of a client, and its standard files."""
    size, files, *_ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as stream:
        return json.loads(stream.read(int.from_bytes(size, "big"))), files


class Server:
    """Listens for commands, forks for each, sends its exit status to the client, and ends with its owner."""

    def __init__(self, owner: int) -> None:
        self.owner, self.folder, self.successor, self.retired = owner, folder(owner), 0, False
        self.clients: dict[int, socket.socket] = {}  # by process id of the child
        for other in self.folder.parent.glob(f"despur-{os.getuid()}-*"):  # of servers that were killed
            number = other.name.rpartition("-")[2]
            if number.isdecimal() and not is_alive(int(number)):
                shutil.rmtree(other, ignore_errors=True)
        address = self.folder / "socket"
        address.unlink(missing_ok=True)  # of a server that was killed: clients start one at a time
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(address))
        self.listener.listen(64)
        self.listener.setblocking(False)

    def fork_successor(self) -> None:
        """Fork a server that first does what takes seconds and then takes over."""
        signal.signal(signal.SIGUSR1, lambda *_: self.retire())
        server = os.getpid()
        self.successor = os.fork()
        if not self.successor:
            signal.signal(signal.SIGUSR1, signal.SIG_DFL)
            compile_umap()
            draw_figure()
            import_module("torch._dynamo")
            prepare_forks()
            if os.getppid() == server:
                os.kill(server, signal.SIGUSR1)

    def retire(self) -> None:
        """Take no more commands."""
        self.retired = True

    def serve(self) -> list[str]:
        """Serve commands. Returns in each child, with its command; in the server, with no command, when the owner has
        ended or the successor has taken over."""
        self.events = selectors.DefaultSelector()
        self.events.register(self.listener, selectors.EVENT_READ)
        signal.set_wakeup_fd(self.open_wakeup())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while self.clients or (is_alive(self.owner) and not self.retired):
            for key, _ in self.events.select(timeout=1):
                if key.fileobj is self.listener:
                    if command := self.accept():
                        return command
                elif isinstance(key.data, int):  # its client is gone
                    self.events.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)
            self.report_ended()
            if self.retired and self.listener.fileno() >= 0:
                self.events.unregister(self.listener)
                self.listener.close()
        if not self.retired:
            self.clean_up()
        return []

    def clean_up(self) -> None:
        """End the successor that has not taken over, and remove the server's folder."""
        if self.successor:
            os.kill(self.successor, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def accept(self) -> list[str]:
        """Start the command of the next client; in the child, returns this command."""
        with suppress(BlockingIOError):  # the successor was faster
            client = self.listener.accept()[0]
            client.setblocking(True)  # some systems inherit it from the listener
            return self.start(client)
        return []

    def open_wakeup(self) -> int:
        """A file; writing to it ends a wait for events."""
        self.wakeup_reader, self.wakeup_writer = socket.socketpair()
        for end in (self.wakeup_reader, self.wakeup_writer):
            end.setblocking(False)
        self.events.register(self.wakeup_reader, selectors.EVENT_READ)
        return self.wakeup_writer.fileno()

    def start(self, client: socket.socket) -> list[str]:
        """Fork for the command of a client; in the child, returns this command."""
        try:
            request, files = receive(client)
        except (ValueError, OSError):  # the client was killed before it had sent its request
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
        for other in (self.listener, client, self.wakeup_reader, self.wakeup_writer, *self.clients.values()):
            other.close()
        take_over(request, files)
        return list(request["command"])

    def report_ended(self) -> None:
        """Send the exit status to each client whose child has ended."""
        with suppress(BlockingIOError):
            self.wakeup_reader.recv(4096)
        for child in list(self.clients):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                client = self.clients.pop(child)
                with suppress(KeyError):
                    self.events.unregister(client)
                with client, suppress(BrokenPipeError):
                    code = os.waitstatus_to_exitcode(status)
                    client.sendall(bytes([code if code >= 0 else 128 - code]))


def main() -> None:
    os.environ["NUMBA_THREADING_LAYER"] = "forksafe"  # UMAP runs before forks
    server = Server(int(sys.argv[1]))  # clients can connect while it imports
    import_libraries()
    parse_package()
    prepare_forks()
    server.fork_successor()
    if command := server.serve():
        run_and_exit(command)


if __name__ == "__main__":
    main()
