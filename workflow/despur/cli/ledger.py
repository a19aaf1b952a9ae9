"""``despur ledger``: the records in results/ledger are checked, and what they say is written into pages."""

from collections.abc import Iterator
from pathlib import Path

from despur.cli.commands import Arguments
from despur.cli.rows import Row
from despur.orchestration.experiments import LEDGER, PUBLISHED
from despur.specs.settings import SettingError
from despur.storage.texts import write_text

JUDGED = [PUBLISHED, Path("config/frozen.yaml")]  # what the ledger's records are judged by

ARGUMENTS: Arguments = {"action": {"choices": ("check", "report")}}


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
    from despur.reporting.pages import findings, judged_claims, open_choices, paper_findings, summary

    summary.check_marks()
    yield from check_ledger()
    yield f"written  {reference.keep_ledger_verdicts(JUDGED)}"
    records = judge_records(load_sound(LEDGER)[0])
    evidence = load_evidence()
    found = paper_findings.gather_findings(evidence, records)
    for paper, file in paper_findings.write_readmes(found):
        yield Row(f"written  {file}", "written", paper=paper, file=str(file))
    yield from (f"written  {file}" for file in summary.renew_documents(evidence))
    for file, text in (
        (findings.PAGE, findings.format_findings(evidence, records, found)),
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
