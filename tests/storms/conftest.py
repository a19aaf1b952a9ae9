"""What storms share: how many cases they try, what they may not do, and the page that keeps their numbers.

Each storm is a test marked ``storm``. ``make test`` runs a short form of it; ``make storm`` sets DESPUR_STORM, the
number of cases, and writes docs/storms.md. Rows of storms that did not run stay."""

import json
import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from project import FIGURE, SOURCE, TABLE, Project, save_every_step, tiny_project

CASES = int(os.environ.get("DESPUR_STORM", "0"))
PAGE = SOURCE / "docs/storms.md"
HEAD = """# Storms

After this page you know which faults despur was tried with, how often, and what came of it.

A storm changes input at random, stops what runs, or takes away what it needs, and looks at what happens. `make test`
or `make test-storms` runs a short form of each. `make storm` runs all of them and writes this page.

Elsewhere: jobs of a SLURM that are canceled, are pre-empted or lose their node (`make test-slurm`), and a GPU that
disappears, pretended (`pytest tests/training/test_runs.py`).

A result is compared with its checksum when it is read: data, models, outputs, groups and metrics, and `about.json`.
Not compared: saliency maps, tables and figures; of files above 1 GB, such as the images of a large data set, whose rows
are read where they are needed, only the size. What nothing reads is not looked at.
Before training goes on from a checkpoint, its contents are compared with the checksums in it; if it is broken, training
starts anew. A raw file above 100 MB, and one of your own folder of images, is known by its size and time: a flipped bit
under an old time stamp is not noticed. Nor is a change in other folders with a file for each sample, or in what was
downloaded, once the data are made.

| storm | cases | outcome |
| --- | --- | --- |
"""
TAIL = "\n[All pages](index.md)\n"
STARTS = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "socket.connect", "shutil.")
CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# Of about.json, what differs from run to run: times, and what the machine did.
VOLATILE = {"seconds", "finished", "peak_memory_mb", "checksum"}
SECONDS = 120  # a case that takes longer hangs
RUNS = {  # of papers whose stages differ: predictions, zero-shot classification, an encoder without labels
    "cnc": "results/runs/colored_digits/cnc/s0-1/metrics.csv",
    "adapters": "results/runs/scene_digits+copies=1/contrastive_adapter+epochs=1+stage1.epochs=1+stage1.scenes=5/s0/"
    "metrics.csv",
    "icl_msr": "results/runs/colored_digits/linear_classifier+stage1=simclr_msr/s0/metrics.csv",
}

# All of ERM, CNC, JTT (with retraining), DFR (fitted) and LEACE (erasure).
METHOD_TARGETS = [
    TABLE,
    FIGURE,
    *(f"results/runs/colored_digits/{method}/s0-1/metrics.csv" for method in ("jtt", "dfr", "leace")),
]

Record = Callable[[str, int, str], None]
ROWS: dict[str, str] = {}
COUNTED: dict[str, Counter[bool]] = {}  # by file: how many of its tests passed, or not
GUARD: dict[str, Path] = {}  # "allowed": the folder in which files may be written, while a case runs
DONE: list[str] = []  # what a case did that it may not do


def watch(event: str, said: tuple[object, ...]) -> None:
    """Note what a case starts or changes outside of the allowed folder."""
    if not GUARD:
        return
    writes = event == "open" and isinstance(said[2], int) and said[2] & WRITES
    named = said[0] if said else ""
    inside = isinstance(named, str | Path) and Path(named).absolute().is_relative_to(GUARD["allowed"])
    if event.startswith(STARTS) or ((writes or event in CHANGES) and not inside and named != os.devnull):
        DONE.append(f"{event} {said}")


sys.addaudithook(watch)


@contextmanager
def guarded(allowed: Path) -> Iterator[None]:
    """A case: it starts nothing, writes only below ``allowed`` and ends within some time."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"a case takes longer than {SECONDS} seconds")

    before, bytecode = signal.signal(signal.SIGALRM, give_up), sys.dont_write_bytecode
    signal.alarm(SECONDS)
    sys.dont_write_bytecode = True  # else a module that this case imports first is written beside its source
    DONE.clear()
    GUARD["allowed"] = allowed
    try:
        yield
    finally:
        GUARD.clear()
        sys.dont_write_bytecode = bytecode
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert not DONE, DONE


def count_cases(short: int) -> int:
    """How many cases a storm tries: ``short`` in ``make test``, DESPUR_STORM in ``make storm``."""
    return CASES or short


def forget_times(content: Any) -> Any:
    """What about.json says, without times."""
    if isinstance(content, dict):
        return {key: forget_times(value) for key, value in content.items() if key not in VOLATILE}
    return content


def read_results(root: Path) -> dict[str, Any]:
    """Every file of results but logs, by its path; of about.json what does not differ from run to run."""
    found: dict[str, Any] = {}
    for path in sorted((root / "results").rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and "/logs/" not in name:
            found[name] = forget_times(json.loads(path.read_text())) if path.suffix == ".json" else path.read_bytes()
    return found


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A finished run of METHOD_TARGETS and, in long storms, of RUNS. Every step is saved (by default, every 30
    seconds), so that what disturbs a run hits training in the middle."""
    project = tiny_project(tmp_path_factory).copy(tmp_path_factory.mktemp("undisturbed") / "project")
    save_every_step(project)
    project.snakemake(*METHOD_TARGETS, *(RUNS.values() if CASES else ()))
    return project


@pytest.fixture
def project(undisturbed: Project, tmp_path: Path) -> Project:
    """The same without results, and a folder of its own for temporary files."""
    project = undisturbed.copy(tmp_path / "p")
    project.environment["TMPDIR"] = str(tmp_path / "t")
    (tmp_path / "t").mkdir()
    shutil.rmtree(project.root / "results")
    return project


def list_differences(project: Project, undisturbed: Project, targets: Sequence[str]) -> list[str]:
    """Targets that are not there, and files of results that are not bit-identical to those of the undisturbed run."""
    results, expected = read_results(project.root), read_results(undisturbed.root)
    return [name for name in (results | dict.fromkeys(targets)) if results.get(name) != expected.get(name)]


@pytest.fixture
def record() -> Record:
    """Called with a storm's name, the number of its cases and their outcome: a row of docs/storms.md."""

    def keep(storm: str, cases: int, outcome: str) -> None:
        ROWS[storm] = f"| {storm} | {cases:,} | {outcome} |\n"

    return keep


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count the tests of a file that passed, and those that did not."""
    if report.when == "call" and not report.skipped:
        COUNTED.setdefault(report.nodeid.partition("::")[0], Counter())[report.passed] += 1


def add_counted_rows(session: pytest.Session) -> None:
    """A row for each file with fixed cases (``STORM``: what was tried, and the outcome) that all passed."""
    for module in {item.module for item in session.items if hasattr(item.module, "STORM")}:
        name = str(Path(module.__file__).relative_to(SOURCE))
        counted, (tried, outcome) = COUNTED.get(name, Counter()), module.STORM
        if counted[True] and not counted[False]:
            ROWS[tried] = f"| {tried} | {counted[True]} | {outcome} |\n"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the page after ``make storm``."""
    if CASES:
        add_counted_rows(session)
    if CASES and ROWS:
        old = PAGE.read_text() if PAGE.exists() else ""
        kept = {match[1]: match[0] for match in re.finditer(r"^\| (?!storm|---)(.*?) \| .*\n", old, re.MULTILINE)}
        PAGE.write_text(HEAD + "".join(row for _, row in sorted((kept | ROWS).items())) + TAIL)
