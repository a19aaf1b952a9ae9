"""What made a result: specification, seeds, commit, revisions, versions, processor, device, seconds of own work, peak
memory."""

import argparse
import importlib.metadata
import json
import platform
import re
import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from despur.specs.extras import name_extra
from despur.specs.paths import ResultPath, locate_result
from despur.specs.settings import SettingError
from despur.specs.stages import STAGES
from despur.storage import checksums, commits
from despur.storage.digest import cache_key, revisions
from despur.storage.interrupts import explain_shortage, interrupt_work
from despur.storage.store import InputError, write_json

PACKAGES = ("torch", "torchvision", "numpy", "pandas", "scikit-learn", "umap-learn", "snakemake")

# What CUDA says of a GPU that failed, was taken away or is used by others.
GPU_GONE = (
    "unspecified launch failure|launch timed out|unknown error|ECC|busy or unavailable|no CUDA-capable device|"
    "fallen off|system not yet initialized|hardware|NOT_INITIALIZED|ALLOC_FAILED"
)


def list_versions() -> dict[str, str]:
    """Versions of Python and of those of PACKAGES that are installed."""
    versions = {
        name: distribution.version for name in PACKAGES for distribution in importlib.metadata.distributions(name=name)
    }
    return {"python": platform.python_version(), **versions}


def processor() -> str:
    """The processor's name; its family where the system does not say more."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def peak_memory_mb() -> float:
    """Peak resident memory of this process, in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def gpu_memory_mb() -> dict[str, float]:
    """Peak memory that torch has had of its GPU, in MB; nothing where no GPU was used. It imports nothing."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return {}
    return {"gpu_memory_mb": round(torch.cuda.max_memory_allocated() / 2**20, 1)}


def write_about(result: ResultPath, started: float, **more: Any) -> None:
    """``about.json`` of a result folder: what made every number in it."""
    about = checksums.seal(
        {
            "specification": json.loads(cache_key(result)),
            **commits.state(),
            "revisions": revisions(result),
            "versions": list_versions(),
            "machine": f"{platform.system()} {platform.machine()}",
            "processor": processor(),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - started, 2),
            "peak_memory_mb": peak_memory_mb(),
            **gpu_memory_mb(),
            checksums.CHECKSUMS: checksums.list_checksums(result.folder, STAGES[result.stage].files.values()),
            **more,
        }
    )
    write_json(result.folder / checksums.ABOUT, about)


def explain_gpu_failure(error: Exception) -> str:
    """Why a GPU did not go on, and what to do. Nothing for other errors: they are mistakes in code, or GPUs that this
    torch is not made for."""
    first = str(error).partition("\n")[0]  # hints for debugging follow
    again = "Run it again{}: it goes on where it was".format
    if "out of memory" in first:
        why = ". ".join(first.split(". ")[:3]).removesuffix(".")  # how much was wanted and how much there is
        return f"{why}. {again(' with fewer jobs for each GPU (jobs_per_gpu) or on a larger one')}"
    if first.startswith(("CUDA error", "cuDNN error")) and re.search(GPU_GONE, first):
        return f"{first}. {again('')}"
    return ""


def run_from_command_line(
    doc: str, work: Callable[[ResultPath, argparse.Namespace], None], *options: tuple[str, dict[str, Any]]
) -> None:
    """The command line that every stage shares: a path to make, and properties of the machine (results do not depend
    on them)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "path", type=Path, help="the folder to make (or a file in it), e.g. results/runs/colored_digits/cnc/s0-2"
    )
    for name, keywords in options:
        parser.add_argument(name, **keywords)
    arguments = parser.parse_args()
    commits.state()  # of the code that runs now: it may be edited meanwhile
    try:
        interrupt_work()
        with name_extra():
            work(locate_result(arguments.path), arguments)
    except (SettingError, InputError) as error:
        sys.exit(f"error: {error}")
    except (RuntimeError, MemoryError, OSError) as error:
        if not (why := explain_gpu_failure(error) or explain_shortage(error)):
            raise
        sys.exit(f"error: {locate_result(arguments.path).folder}: {why}")
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on where it was")
