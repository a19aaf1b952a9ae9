"""The client: sends a command to the server of the Snakemake that DESPUR_WARM names, and starts the server if
needed."""

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from despur.warm import folder, locate_folder

PATIENCE = 120.0  # seconds that a client waits for a server to start, which may be stopped for some
SHOWN = 10  # lines of its log, where it is gone
LONGEST = 100  # bytes of a socket's path: systems allow 104 to 108
# For glibc, in bytes: memory that a job frees stays its own. To get it from the system again and again takes time.
KEEP_FREED = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**28)}


def connect(owner: int) -> socket.socket:
    """A connection to the server, which the first client starts."""
    server_folder = folder(owner)
    address = str(server_folder / "socket")
    client = socket.socket(socket.AF_UNIX)
    with (server_folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError, ConnectionRefusedError):
            client.connect(address)
            return client
        with (server_folder / "log").open("a") as log:
            command = [sys.executable, "-m", "despur.warm.server", str(owner)]
            environment = os.environ | KEEP_FREED
            subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        for _ in range(int(PATIENCE / 0.02)):
            with suppress(FileNotFoundError, ConnectionRefusedError):
                client.connect(address)
                return client
            time.sleep(0.02)
    sys.exit(f"error: no server for jobs within {PATIENCE:.0f} seconds: unset DESPUR_WARM. {quote_log(owner)}")


def quote_log(owner: int) -> str:
    """The end of a server's log, for a message: the next server removes it."""
    log = folder(owner) / "log"
    lines = log.read_text(errors="replace").splitlines()[-SHOWN:] if log.exists() else []
    return "\n  ".join(["The end of its log:", *lines]) if lines else "Its log is empty: it was killed"


def send_command(owner: int, command: list[str]) -> int:
    """Let the server run ``command`` with the files, the folder and the environment of this process; its exit
    status."""
    answer = b""
    with connect(owner) as client, suppress(ConnectionError):  # of a server that is killed meanwhile
        request = json.dumps({"command": command, "folder": str(Path.cwd()), "environment": dict(os.environ)}).encode()
        socket.send_fds(client, [len(request).to_bytes(8, "big")], [0, 1, 2])
        client.sendall(request)
        answer = client.recv(1)
    if not answer:
        sys.exit(f"error: the server of jobs is gone: run the same again. {quote_log(owner)}")
    return answer[0]


def main() -> None:
    owner = os.environ.get("DESPUR_WARM")
    if owner and len(os.fsencode(locate_folder(int(owner)) / "socket")) > LONGEST:
        print("TMPDIR is too long a path for the server of jobs: each job imports its libraries", file=sys.stderr)
    elif owner:
        try:
            sys.exit(send_command(int(owner), sys.argv[1:]))
        except KeyboardInterrupt:  # the server then kills the child
            sys.exit("stopped")
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])


if __name__ == "__main__":
    main()
