"""The server: it imports the libraries and is forked for each command."""

import json
import os
import selectors
import shutil
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from despur.warm import folder, is_alive
from despur.warm.child import run_and_exit, take_over
from despur.warm.preparation import import_libraries, parse_package, prepare_forks


def receive(client: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The request of a client, and its standard files, which are closed where the request does not come."""
    size, files, *_ = socket.recv_fds(client, 8, 3)
    try:
        with client.makefile("rb") as stream:
            return json.loads(stream.read(int.from_bytes(size, "big"))), files
    except (ValueError, OSError):
        close_files(files)
        raise


def close_files(files: list[int]) -> None:
    """Who reads what is written to them waits until all have closed them."""
    for file in files:
        os.close(file)


class Server:
    """Listens for commands, forks for each, sends its exit status to the client, and ends with its owner."""

    def __init__(self, owner: int) -> None:
        self.owner, self.folder = owner, folder(owner)
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

    def serve(self) -> list[str]:
        """Serve commands. Returns in each child, with its command; in the server, with no command, when the owner has
        ended."""
        self.events = selectors.DefaultSelector()
        self.events.register(self.listener, selectors.EVENT_READ)
        signal.set_wakeup_fd(self.open_wakeup())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while self.clients or is_alive(self.owner):
            for key, _ in self.events.select(timeout=1):
                if key.fileobj is self.listener:
                    if command := self.start(self.listener.accept()[0]):
                        return command
                elif isinstance(key.data, int):  # its client is gone
                    self.events.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)
            self.report_ended()
        shutil.rmtree(self.folder, ignore_errors=True)
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
            close_files(files)
            self.clients[child] = client
            self.events.register(client, selectors.EVENT_READ, child)
            return []
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
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
    server = Server(int(sys.argv[1]))  # clients can connect while it imports
    import_libraries()
    parse_package()
    prepare_forks()
    if command := server.serve():
        run_and_exit(command)


if __name__ == "__main__":
    main()
