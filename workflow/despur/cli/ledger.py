"""``despur record`` and ``despur ledger``: what finished runs measured, kept in results/ledger."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from despur.cli.rows import Row
from despur.orchestration import configuration
from despur.orchestration.experiments import LEDGER, PUBLISHED
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError
from despur.storage.raw_files import is_bundled

JUDGED = [PUBLISHED, Path("config/frozen.yaml")]  # what the ledger's records are judged by


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
    from despur.storage.commits import find_commit
    from despur.storage.store import InputError

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


def check_or_report(action: str) -> Iterator[str]:
    """check: whether every record in results/ledger is right; report: what was measured, into all READMEs"""
    if action == "check":
        yield from check_ledger()
    else:
        yield from report_ledger()


def report_ledger() -> Iterator[str]:
    """Write what the records say into READMEs and pages; a line for each file."""
    from despur.evidence.all_evidence import load_evidence
    from despur.evidence.ledger.record_checks import load_sound
    from despur.evidence.ledger.standing import judge_records
    from despur.reporting import reference
    from despur.reporting.pages import findings, judged_claims, ledger_report, open_choices, summary
    from despur.storage.texts import write_text

    summary.check_marks()
    yield from check_ledger()
    yield f"written  {reference.keep_ledger_verdicts(JUDGED)}"
    records = judge_records(load_sound(LEDGER)[0])
    for paper, file in ledger_report.write_reports(records):
        yield Row(f"written  {file}", "written", paper=paper, file=str(file))
    yield from (f"written  {file}" for file in summary.renew_documents())
    evidence = load_evidence()
    for file, text in (
        (findings.PAGE, findings.format_findings(evidence, records)),
        (judged_claims.PAGE, judged_claims.format_judged_claims(evidence.claims)),
        (open_choices.PAGE, open_choices.format_choices(open_choices.load_choices())),
    ):
        write_text(file, text)
        yield f"written  {file}"


def check_ledger(folder: Path = LEDGER) -> Iterator[str]:
    """A line for each fault, naming its file; or one that there is none. Raises SettingError where there are faults."""
    from despur.evidence.ledger.record_checks import check_files

    records, cards, faults = check_files(folder)
    yield from (Row(fault, "faults", fault=fault) for fault in faults)
    if faults:
        count = f"{len(faults)} fault{'s' * (len(faults) > 1)}"
        raise SettingError(f"{folder}: {count}. Record these runs again (despur record FOLDER), or remove the files")
    text = f"{folder}: {records} records, {cards} cards, no fault"
    yield Row(text, "checked", folder=str(folder), records=records, cards=cards)
