"""``despur run METHOD --data DATASET``: spell the result path of a method on a data set, and let Snakemake make it."""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from despur.cli.show import show_run
from despur.orchestration.experiments import list_run_folders
from despur.specs.resolution import change_settings, resolve
from despur.specs.settings import SettingError


def run_method(
    method: str, data: str, settings: Sequence[str], seeds: str, dry_run: bool, options: Sequence[str]
) -> Iterator[str]:
    """train and evaluate a method on a data set with Snakemake, then show its metrics"""
    folders = spell_folders(method, data, settings, seeds)
    if not Path("Snakefile").exists():
        raise SettingError(f"{Path.cwd()} has no Snakefile: run despur in the folder of the project")
    targets = [f"{folder}/metrics.csv" for folder in folders]
    print(f"snakemake {' '.join([*targets, *options])}", file=sys.stderr, flush=True)
    call = [sys.executable, "-m", "snakemake", *targets, *options, *(["--dry-run"] if dry_run else [])]
    if code := subprocess.run(call).returncode:
        sys.exit(code)
    if not dry_run:
        for folder in folders:
            yield from show_run(Path(folder))


def spell_folders(method: str, data: str, settings: Sequence[str], seeds: str) -> tuple[str, ...]:
    """The result paths of a method with these settings (``temperature=0.05``, ``lambda=0.2~0.4``), canonically
    spelled: a folder for each chunk of seeds. Raises SettingError for a name, value or seeds that cannot be."""
    if wrong := [setting for setting in settings if "=" not in setting]:
        raise SettingError(f"--set {wrong[0]}: must be key=value, such as --set temperature=0.05")
    resolve("datasets", data)
    dataset, _, own = data.partition("+")
    return list_run_folders(
        change_settings(dataset, own) if own else dataset, "+".join([method, *settings]), read_seeds(seeds)
    )


def read_seeds(text: str) -> int | list[str]:
    """``3``: so many seeds, from 0; ``3-4`` or ``0-2,5``: these."""
    if re.fullmatch(r"[1-9]\d*", text):
        return int(text)
    if re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text) and text != "0":
        return text.split(",")
    raise SettingError(f"--seeds {text}: must be how many, such as 3, or which, such as 0-2 or 0-2,5")
