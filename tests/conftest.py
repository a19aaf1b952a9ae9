"""Fixtures that several test files share."""

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pooch
import pytest

from despur.evidence.ledger import standing
from despur.specs import declarations, resolution, syntax
from despur.storage import digest, published_sizes

SOURCE = declarations.PACKAGE
# Arrays are small here and processes many: more threads of one process only wait for each other. Torch and SciPy, which
# nothing above imports, read this when they are imported; so do processes that tests start.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# Ctrl-C is tried on processes that tests start. What a shell starts with & ignores it, and so would they.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Cheap tests first: those of files that start Snakemake, or a tiny run, come last. A stable sort: workers (pytest
    -n) must agree on the order."""
    items.sort(key=lambda item: starts_runs(item.module))


@cache
def starts_runs(module: ModuleType) -> bool:
    """Whether a test file uses project.py or forked.py, or a function or class of theirs."""
    homes = (getattr(value, "__module__", getattr(value, "__name__", "")) for value in vars(module).values())
    return not {"project", "forked"}.isdisjoint(homes)


def pytest_collection_finish() -> None:
    """What imports made stays: the garbage collector need not visit it again in every test."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Libraries that look for what was leaked when Python ends find nothing."""
    gc.unfreeze()


def forget() -> None:
    """Empty every cache of what was read from the package's files; not of what follows from a text alone."""
    for module in (declarations, resolution, digest, standing):
        for function in vars(module).values():
            if hasattr(function, "cache_clear") and function is not syntax.parse:
                function.cache_clear()


class Package:
    """A copy of the package that declarations and digest read instead of the installed one. Its files are links to
    those of ``copied``, until they are written."""

    def __init__(self, patch: pytest.MonkeyPatch, copied: Path, root: Path) -> None:
        self.patch = patch
        self.use(shutil.copytree(copied, root, copy_function=os.link))

    def use(self, root: Path) -> None:
        self.root = root
        self.patch.setattr(declarations, "PACKAGE", root)
        self.patch.setattr(digest, "PACKAGE", root)
        forget()

    def read(self, file: str) -> str:
        return (self.root / file).read_text()

    def write(self, file: str, text: str) -> None:
        (self.root / file).unlink(missing_ok=True)
        (self.root / file).write_text(text)
        forget()

    def edit(self, file: str, old: str, new: str) -> None:
        text = self.read(file)
        assert old in text
        self.write(file, text.replace(old, new))


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, to be linked to."""
    copy = tmp_path_factory.mktemp("copied") / "despur"
    return shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def package(copied: Path, tmp_path: Path) -> Iterator[Package]:
    with pytest.MonkeyPatch.context() as patch:
        yield Package(patch, copied, tmp_path / "despur")
    forget()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Downloads fail."""

    def retrieve(*arguments: object, **keywords: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(pooch, "retrieve", retrieve)


@pytest.fixture
def offline(no_network: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No weights, and no way to download them."""
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """A headless Chromium, driven by Playwright. Where one of them is not there, the tests skip, saying so."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: no test in a browser")
    programs = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    chromium = next(filter(None, programs), None) or pytest.skip("no Chromium here: no test in a browser")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def made_up_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made-up data sets have other sizes than published."""
    monkeypatch.setattr(published_sizes, "read_declarations", lambda *_: {})
