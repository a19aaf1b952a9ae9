"""The scripts of a paper, as they import each other."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from despur.orchestration.experiments import find_paper


class Scripts:
    """Modules of a paper's folder by name: ``scripts["tables"]``. Each is imported when it is first named."""

    def __getitem__(self, name: str) -> ModuleType:
        return importlib.import_module(name)


@contextmanager
def import_scripts(paper: str) -> Iterator[Scripts]:
    """Scripts of a paper, which are forgotten afterwards: other papers have modules of the same names."""
    folder = find_paper(paper)
    names = [file.stem for file in folder.glob("*.py")]
    for name in names:
        sys.modules.pop(name, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield Scripts()
    for name in names:
        sys.modules.pop(name, None)
