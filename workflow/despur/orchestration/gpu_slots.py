"""GPUs of one machine, shared by the jobs of one user. Each job takes a slot. The operating system frees the slot when
the job ends, also when it is killed.

    python -m despur.orchestration.gpu_slots --gpus 1 --jobs-per-gpu 2 \\
        python -m despur.stage2 results/runs/colored_digits/cnc/s0-2

The command runs with CUDA_VISIBLE_DEVICES and ``--device cuda``. With --gpus 0 it sees no GPU; with several, torchrun
starts one process for each. Without --jobs-per-gpu the devices do not change: a cluster has chosen them, or there are
none to share.

Snakemake counts GPUs, but does not say which one a job has; schedulers that do are for clusters."""

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import IO

from despur.specs.settings import SettingError

WAIT = 0.1  # seconds between two looks at the slots


def list_visible_gpus() -> list[str]:
    """The GPUs that this process may use, by their UUIDs: all that nvidia-smi lists, or those that
    CUDA_VISIBLE_DEVICES names.

    Its numbers are read as nvidia-smi's, in the order of the PCI bus. CUDA counts so, too, where all GPUs are alike or
    CUDA_DEVICE_ORDER=PCI_BUS_ID; where they differ, it would begin with the fastest. Beginnings of UUIDs are
    completed. What nvidia-smi does not list keeps the name that it has, and shares no lock with the same device by
    another name."""
    listed = _listed()
    if "CUDA_VISIBLE_DEVICES" not in os.environ:
        return list(listed.values())
    names = [name.strip() for name in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if name.strip() not in ("", "-1")]
    devices = (
        listed.get(name) or next((full for full in listed.values() if full.startswith(name)), name) for name in names
    )
    return list(dict.fromkeys(devices))


def _listed() -> dict[str, str]:
    """UUIDs of this machine's GPUs by their numbers; none where there is no nvidia-smi."""
    if not shutil.which("nvidia-smi"):
        return {}
    listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return dict(re.findall(r"^GPU (\d+): .*\(UUID: (GPU-[\w-]+)\)", listing.stdout, re.MULTILINE))


def count_slots(requested: int | None, jobs_per_gpu: int, devices: Sequence[str]) -> int:
    """How many jobs run at once: as many as are requested, or as fit on the devices. Raises SettingError for more."""
    slots = max(len(devices) * jobs_per_gpu, 1) if requested is None else requested
    check_slots(slots, jobs_per_gpu, devices)
    return slots


def check_slots(slots: int, jobs_per_gpu: int, devices: Sequence[str]) -> None:
    """Refuse more slots (jobs at once, each on a GPU) than there are."""
    if slots and not devices:
        raise SettingError(
            "a GPU is requested, and this machine shows none (nvidia-smi, CUDA_VISIBLE_DEVICES): use profiles/default, "
            "or, on a cluster without GPUs, --set-resources train_stage1:gpu=0 train_stage2:gpu=0"
        )
    if slots > len(devices) * jobs_per_gpu:
        raise SettingError(
            f"{slots} slots are requested, but {len(devices)} GPUs ({', '.join(devices)}) with "
            f"jobs_per_gpu={jobs_per_gpu} "
            f"have {len(devices) * jobs_per_gpu}: lower gpu or raise jobs_per_gpu in the profile"
        )


def locks_folder() -> Path:
    """Where the locks of this user lie: on this machine, for all checkouts."""
    folder = Path(tempfile.gettempdir()) / f"despur-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _lock(file: Path, *, wait: bool = False) -> IO[str] | None:
    """The locked file, or None if another process holds it."""
    handle = file.open("a")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        handle.close()
        return None
    return handle


def _take_free_slots(devices: Sequence[str], count: int, jobs_per_gpu: int, folder: Path) -> dict[str, IO[str]]:
    """``count`` devices with a free slot, those with most free slots first, or none. One process takes slots at a time,
    so two processes cannot each hold some devices and wait for the other's."""
    with _lock(folder / "door", wait=True):  # type: ignore[union-attr]
        free: dict[str, list[IO[str]]] = {}
        for device in devices:
            files = (folder / f"{device.replace('/', '_')}.{slot}" for slot in range(jobs_per_gpu))
            free[device] = [handle for file in files if (handle := _lock(file))]
        emptiest = sorted(filter(free.get, free), key=lambda device: -len(free[device]))[:count]
        taken = {device: free[device].pop(0) for device in emptiest} if len(emptiest) == count else {}
        for handle in chain.from_iterable(free.values()):
            handle.close()
    return taken


def take_slots(devices: Sequence[str], count: int, jobs_per_gpu: int, folder: Path) -> dict[str, IO[str]]:
    """Wait for a slot on each of ``count`` devices, held as long as the returned files are open, in this process or
    its children."""
    check_slots(count, 1, devices)
    told = False
    while not (taken := _take_free_slots(devices, count, jobs_per_gpu, folder)):
        if not told:
            print(
                f"waits for {count} of {len(devices)} GPUs: all their slots are taken ({folder})",
                file=sys.stderr,
                flush=True,
            )
        told = True
        time.sleep(WAIT)
    return taken


def start_processes(command: Sequence[str], count: int) -> list[str]:
    """``python -m despur.stage1 ...`` in so many processes, each with a GPU (despur/compute/distributed.py); one needs
    no torchrun."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
    return [command[0], *(torchrun if count > 1 else []), *command[1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=0, help="how many the command uses (default 0)")
    parser.add_argument(
        "--jobs-per-gpu",
        type=int,
        default=0,
        help="how many jobs share a device (default 0: a cluster has given us ours)",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command
    try:
        if options.gpus:
            devices = list_visible_gpus()
            check_slots(options.gpus, 1, devices)
            command = [*start_processes(command, options.gpus), "--device", "cuda"]
            if options.gpus > 1:
                os.environ.pop("DESPUR_WARM", None)  # torchrun's processes are its own
        elif options.jobs_per_gpu:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a command without --gpus sees no device
        if options.gpus and options.jobs_per_gpu:
            taken = take_slots(devices, options.gpus, options.jobs_per_gpu, locks_folder())
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(taken)
            for handle in taken.values():
                os.set_inheritable(handle.fileno(), True)  # the lock lives on in the command
    except (SettingError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped while it waited for a GPU")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
