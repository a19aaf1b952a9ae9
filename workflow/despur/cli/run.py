"""``despur run METHOD --data DATASET``: spell the result path of a method on a data set, and let Snakemake make it."""

import itertools
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from despur.cli.commands import Arguments
from despur.cli.show import show_runs
from despur.orchestration.experiments import list_run_folders
from despur.specs.names import parse, shorten
from despur.specs.paths import MOST_SEEDS, locate_result, parse_seeds
from despur.specs.resolution import check_length, resolve
from despur.specs.settings import SettingError
from despur.storage.finished_runs import is_copy

ARGUMENTS: Arguments = {
    "method": {"help": "despur list methods names them", "completes": "methods"},
    "--data": {"required": True, "help": "a data set, such as cmnist+p_corr=0.9", "completes": "datasets"},
    "--set": {
        "action": "append",
        "default": [],
        "dest": "settings",
        "metavar": "KEY=VALUE",
        "help": "a setting of the method, or several values of it: lambda=0.2~0.4",
    },
    "--seeds": {"default": "1", "help": "how many (3), or which (0-2,5); default: 1"},
    "--dry-run": {"action": "store_true", "help": "only list the jobs"},
}


def run_method(
    method: str, data: str, settings: Sequence[str], seeds: str, dry_run: bool, options: Sequence[str]
) -> Iterator[str]:
    """train and evaluate a method on a data set with Snakemake, then show its metrics"""
    chunks = spell_folders(method, data, settings, seeds)
    require_checkout()
    folders = [folder for chunk in chunks for folder in use_finished(chunk)]
    for note in (*note_defaults(chunks[0], settings), *note_finished(chunks, folders)):
        print(note, file=sys.stderr)
    make_metrics(folders, [*options, *(["--dry-run"] if dry_run else [])])
    if not dry_run:
        yield from show_runs([Path(folder) for folder in folders])


def make_metrics(folders: Sequence[str], options: Sequence[str]) -> None:
    """Let Snakemake make the metrics of these runs; where it fails, end as it does."""
    if code := call_snakemake(folders, options):
        sys.exit(code)


def call_snakemake(folders: Sequence[str], options: Sequence[str]) -> int:
    """Let Snakemake make the metrics of these runs; its exit status."""
    targets = [f"{folder}/metrics.csv" for folder in folders]
    print(f"snakemake {' '.join([*targets, *options])}", file=sys.stderr, flush=True)
    return subprocess.run([sys.executable, "-m", "snakemake", *targets, *options]).returncode


def require_checkout() -> None:
    """Raises SettingError where Snakemake has nothing to run."""
    if not Path("Snakefile").exists():
        raise SettingError(f"{Path.cwd()} has no Snakefile: run despur in a checkout of the project")


def note_defaults(folder: str, settings: Sequence[str]) -> Iterator[str]:
    """Which of these settings a result path leaves out, as they have their defaults."""
    result = locate_result(folder)
    for setting in settings:
        if setting.partition("=")[0] not in parse(result.name)[1]:
            yield f"{setting} is the default of {result.sweep.base_name} on {result.dataset}: the path leaves it out"


def note_finished(chunks: Sequence[str], folders: Sequence[str]) -> Iterator[str]:
    """Which finished folders are used for some of the seeds."""
    if used := [folder for folder in folders if folder not in chunks and (Path(folder) / "metrics.csv").exists()]:
        yield f"not trained again: {', '.join(used)}"


def use_finished(folder: str) -> list[str]:
    """The folders that together have the seeds of one that is not made yet: finished ones that have some of them, and
    one for each range that is left. A seed's digits do not depend on the seeds beside it."""
    result, finished = locate_result(folder), []
    left = parse_seeds(result.seeds)
    if (result.folder / "metrics.csv").exists():
        return [folder]
    there = [file.parent.name for file in result.folder.parent.glob("s*/metrics.csv") if not is_copy(file)]
    for name in sorted(there, key=lambda name: -len(parse_seeds(name))):  # the largest first
        if set(parse_seeds(name)) <= set(left):
            finished.append(parse_seeds(name))
            left = [seed for seed in left if seed not in finished[-1]]
    ranges = [
        [seed for _, seed in group] for _, group in itertools.groupby(enumerate(left), lambda pair: pair[1] - pair[0])
    ]
    return [
        str(Path(folder).with_name(f"s{group[0]}-{group[-1]}" if len(group) > 1 else f"s{group[0]}"))
        for group in sorted([*finished, *ranges])
    ]


def spell_folders(method: str, data: str, settings: Sequence[str], seeds: str) -> tuple[str, ...]:
    """The result paths of a method with these settings (``temperature=0.05``, ``lambda=0.2~0.4``), canonically
    spelled: a folder for each chunk of seeds. Raises SettingError for a name, value or seeds that cannot be."""
    if wrong := [setting for setting in settings if "=" not in setting]:
        raise SettingError(f"--set {wrong[0]}: must be key=value, such as --set temperature=0.05")
    dataset = check_length(resolve("datasets", data).name)
    return list_run_folders(dataset, "+".join([method, *settings]), read_seeds(seeds))


def read_seeds(text: str) -> int | list[str]:
    """``3``: so many seeds, from 0; ``3-4`` or ``0-2,5``: these."""
    if re.fullmatch(r"[1-9]\d*", text):
        if len(text) > len(str(MOST_SEEDS)):  # int refuses thousands of digits
            raise SettingError(f"--seeds {shorten(text)}: at most {MOST_SEEDS:,}")
        return int(text)
    if re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text) and text != "0":
        return text.split(",")
    raise SettingError(f"--seeds {shorten(text)}: must be how many, such as 3, or which, such as 0-2 or 0-2,5")
