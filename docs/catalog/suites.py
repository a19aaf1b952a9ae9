"""The last complete run of each suite of tests: ``python -m catalog.suites`` keeps the numbers of build/suites, and the
site shows them."""

from pathlib import Path
from subprocess import check_output
from xml.etree import ElementTree

import pandas as pd

from catalog.markdown import REFERENCE, ROOT, code, page, table

FOLDER = ROOT / "build/suites"  # pytest's reports: the Makefile names them after its targets
KEPT = REFERENCE / "suites.csv"
COUNTS = ["tests", "failures", "errors", "skipped"]
INTRODUCTION = (
    "After this page you know how many tests each suite has, and how its last complete run ended. `python -m "
    f"catalog.suites` keeps what `make` wrote to `{FOLDER.relative_to(ROOT)}`; other work on the machine makes the "
    "seconds more."
)


def read_report(file: Path, commit: str) -> dict[str, str | int]:
    """A row of a report of pytest (junit), of the tests at a commit."""
    suite = ElementTree.parse(file).find("testsuite")
    assert suite is not None, file
    source = {"date": suite.attrib["timestamp"][:10], "commit": commit, "seconds": round(float(suite.attrib["time"]))}
    return {"suite": file.stem, **source, **{name: int(suite.attrib[name]) for name in COUNTS}}


def keep_reports(folder: Path, kept: Path, commit: str, committed: float) -> None:
    """Write the rows of a folder's reports; suites that have no report keep theirs. Raises ValueError for a report from
    before the commit, ``committed`` in seconds."""
    reports = sorted(folder.glob("*.xml"))
    if old := [file.name for file in reports if file.stat().st_mtime < committed]:
        raise ValueError(f"{', '.join(old)}: older than the commit {commit}; run these suites again")
    rows = pd.DataFrame([read_report(file, commit) for file in reports])
    if kept.exists():
        rows = pd.concat([rows, pd.read_csv(kept)]).drop_duplicates("suite")
    rows.sort_values("suite").to_csv(kept, index=False)


def build_suites(kept: Path = KEPT) -> str:
    """The page."""
    if not kept.exists():
        return page("Tests", INTRODUCTION, "No numbers are kept yet.", "[All pages](index.md)")
    rows = pd.read_csv(kept).to_dict("records")
    shown = [
        [code(f"make {row['suite']}"), *(f"{row[name]:,}" for name in [*COUNTS, "seconds"]), row["date"], row["commit"]]
        for row in rows
    ]
    titles = ["suite", *COUNTS, "seconds", "date", "commit"]
    return page("Tests", INTRODUCTION, table(titles, shown), "[All pages](index.md)")


if __name__ == "__main__":
    commit, seconds = check_output(["git", "log", "-1", "--format=%h %ct"], cwd=ROOT, text=True).split()
    keep_reports(FOLDER, KEPT, commit, float(seconds))
