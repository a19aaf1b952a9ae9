"""``despur record``: what finished runs measured, kept in results/ledger."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from despur.cli.commands import PATH, Arguments
from despur.cli.rows import Row
from despur.orchestration import configuration
from despur.orchestration.experiments import LEDGER
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError
from despur.storage.commits import find_commit
from despur.storage.raw_files import is_bundled
from despur.storage.reading import InputError

ARGUMENTS: Arguments = {
    "paths": PATH | {"nargs": "*", "help": "folders of finished runs"},
    "--configfile": PATH | {"help": "instead of folders: all finished runs of this configuration"},
    "--commit": {"help": "the commit that made runs whose about.json names none; its code is compared"},
}


def record_runs(paths: list[Path], configfile: Path | None, commit: str | None) -> Iterator[str]:
    """keep what finished runs measured in results/ledger, a small file for each: of folders or of a configuration"""
    if bool(paths) == bool(configfile):
        example = "despur record results/runs/cmnist/cnc/s0-2"
        raise SettingError(f"name folders ({example}) or a configuration (--configfile FILE)")
    if configfile is None:
        yield from record_folders(paths, commit)
        return
    folders = list_folders(configfile)
    real = [folder for folder in folders if not is_bundled(locate_result(folder).datasets.points)]
    finished = [folder for folder in real if (folder / "metrics.csv").exists()]
    yield f"{len(finished)} of {len(real)} folders of runs are finished"
    yield f"{len(folders) - len(real)} more are of bundled data and left out"
    if finished:
        yield from record_folders(finished, commit)


def record_folders(paths: Iterable[str | Path], commit: str | None = None, folder: Path = LEDGER) -> Iterator[str]:
    """Record every run of these folders. Raises SettingError for a ``commit`` that is none; at the end where some
    folders were refused; the rest are recorded."""
    from despur.evidence.ledger.recording import record_folder, refuse_changed_code

    refuse_changed_code()
    if commit is not None:
        find_commit(commit)
    refused, paths = 0, list(paths)
    for path in paths:
        try:
            for file in record_folder(locate_result(path), commit, folder):
                size = file.stat().st_size
                yield Row(f"recorded  {file} ({size / 1000:.1f} kB)", "records", file=str(file), bytes=size)
        except (SettingError, InputError) as error:
            refused += 1
            yield Row(f"refused   {error}", "refused", folder=str(path), reason=str(error))
    if refused:
        raise SettingError(f"{refused} of {len(paths)} folders were refused")


def list_folders(configfile: Path) -> list[Path]:
    """The folders of stage-2 runs that a configuration shows."""
    shown = configuration.list_shown_results(configuration.load_configuration(configfile))
    return sorted(result.folder for result in shown if result.stage == "runs")
