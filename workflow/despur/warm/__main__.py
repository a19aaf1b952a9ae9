"""The client: a command for the server of the Snakemake that DESPUR_WARM names, which it starts if there is none."""

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from despur.warm import folder

PATIENCE = 30.0  # seconds that a client waits for a server to start


def connect(owner: int) -> socket.socket:
    """A connection to the server, which the first who asks starts."""
    result = folder(owner)
    address = str(result / "socket")
    client = socket.socket(socket.AF_UNIX)
    with (result / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError, ConnectionRefusedError):
            client.connect(address)
            return client
        with (result / "log").open("a") as log:
            command = [sys.executable, "-m", "despur.warm.server", str(owner)]
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        for _ in range(int(PATIENCE / 0.02)):
            with suppress(FileNotFoundError, ConnectionRefusedError):
                client.connect(address)
                return client
            time.sleep(0.02)
    sys.exit(f"error: no server for jobs within {PATIENCE:.0f} seconds: see {result}/log, or unset DESPUR_WARM")


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


def main() -> None:
    if owner := os.environ.get("DESPUR_WARM"):
        sys.exit(ask(int(owner), sys.argv[1:]))
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])


if __name__ == "__main__":
    main()
