"""``despur record`` and ``despur ledger``: what finished runs measured, kept in results/ledger."""

from collections.abc import Iterator
from pathlib import Path

from despur.cli.rows import Row
from despur.orchestration import configuration
from despur.orchestration.experiments import PUBLISHED
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError
from despur.storage.raw_files import is_bundled

JUDGED = [PUBLISHED, Path("config/frozen.yaml")]  # what the ledger's records are judged by


def record_runs(paths: list[Path], configfile: Path | None, commit: str | None) -> Iterator[str]:
    """keep what finished runs measured in results/ledger, a small file for each: of folders or of a configuration"""
    from despur.cli.records import record_folders

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


def list_folders(configfile: Path) -> list[Path]:
    """The folders of stage-2 runs that a configuration shows."""
    shown = configuration.list_shown_results(configuration.load_configuration(configfile))
    return sorted(result.folder for result in shown if result.stage == "runs")


def check_or_report(action: str) -> Iterator[str]:
    """check: whether every record in results/ledger is right; report: what was measured, into all READMEs"""
    from despur.cli.records import check_ledger

    if action == "report":
        from despur.evidence.all_evidence import load_evidence
        from despur.reporting import reference
        from despur.reporting.pages import summary
        from despur.reporting.pages.findings import write_findings
        from despur.reporting.pages.judged_claims import write_judged_claims
        from despur.reporting.pages.ledger_report import write_reports
        from despur.reporting.pages.open_choices import write_open_choices

        summary.check_marks()
        yield from check_ledger()
        yield f"written  {reference.keep_ledger_verdicts(JUDGED)}"
        for paper, file in write_reports():
            yield Row(f"written  {file}", "written", paper=paper, file=str(file))
        yield from (f"written  {file}" for file in summary.renew_documents())
        evidence = load_evidence()
        pages = write_findings(evidence), write_judged_claims(evidence), write_open_choices()
        yield from (f"written  {file}" for file in pages)
        return
    yield from check_ledger()
