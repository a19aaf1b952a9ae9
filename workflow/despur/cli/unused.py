"""``despur unused``: results, and checkpoints of interrupted trainings, that no configuration uses."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from despur.cli.rows import Row
from despur.orchestration import experiments
from despur.orchestration.configuration import list_shown_results, load_all_configurations
from despur.specs.paths import BY_SEED, ResultPath
from despur.specs.stages import STAGES
from despur.storage.digest import list_checkpoints

FOLDERS = ("data/*", *(f"{folder}/*/*/*" for folder in BY_SEED))  # below results/
CHECKPOINTS = ".resume/*"


def list_unused() -> Iterator[str]:
    """folders of results and of checkpoints that no configuration uses, with their sizes; nothing is deleted"""
    configurations = load_all_configurations()
    used = [*set().union(*map(list_shown_results, configurations.values()))]
    for result in used:  # this list grows: what a used folder is made from is used, too
        used += result.list_earlier()
    kept, total = {result.folder for result in used} | find_checkpoints(used), 0
    for pattern in (*FOLDERS, CHECKPOINTS):
        for folder in sorted(set(experiments.RESULTS.glob(pattern)) - kept):
            size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            total += size
            yield Row(f"{size / 1e6:>10.1f} MB  {folder}", "folders", folder=str(folder), bytes=size)
    yield f"{total / 1e6:>10.1f} MB in all, not used by {', '.join(map(str, configurations))}"


def find_checkpoints(used: Iterable[ResultPath]) -> set[Path]:
    """The folders of checkpoints that a training of these results would go on from, if there are any at all."""
    if not any(experiments.RESULTS.glob(CHECKPOINTS)):
        return set()
    trained = {result for result in used if STAGES[result.stage].trains}
    return {folder for result in trained for folder in list_checkpoints(result)}
