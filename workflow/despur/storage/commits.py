"""The commit behind a result: what git says of the package's code."""

import io
import os
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from despur.specs.declarations import PACKAGE
from despur.specs.settings import SettingError

CODE_OF = """
import json, sys
try:
    from despur.specs import paths
    from despur.storage.digest import cache_key
except ImportError:  # of a commit at which all modules lay in one folder
    from despur import paths
    from despur.digest import question as cache_key
locate = paths.locate_result if hasattr(paths, "locate_result") else paths.locate  # its name at earlier commits
print(json.loads(cache_key(locate(sys.argv[1])))["code"])
"""


def git(*words: str) -> str | None:
    """What git says in the package's folder; None where there is no git or no repository."""
    try:
        return subprocess.run(["git", *words], cwd=PACKAGE, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


@cache
def state() -> dict[str, Any]:
    """``commit``: that of the package's code, None where it is in none; ``clean``: whether the code is as committed,
    whatever pages beside it say."""
    tracked = git("rev-parse", "HEAD", "HEAD:./")  # fails in a folder that the commit does not hold, as site-packages
    commit = tracked.split()[0] if tracked else None
    return {"commit": commit, "clean": commit is not None and git("status", "--porcelain", "--", "*.py") == ""}


def find_commit(name: str) -> str:
    """The full name of a commit. Raises SettingError for what is none."""
    full = git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    if full is None:
        raise SettingError(f"{name}: the repository of {PACKAGE} has no such commit")
    return full


def code_at(commit: str, folder: Path) -> tuple[str, str]:
    """The full name of a commit, and the digest of its code behind a result's folder. Raises SettingError for what is
    no commit, or one whose code does not know the folder."""
    full = find_commit(commit)
    with TemporaryDirectory() as tree:
        archive = subprocess.run(["git", "archive", full, "."], cwd=PACKAGE, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(Path(tree) / PACKAGE.name, filter="data")
        process = subprocess.run(
            [sys.executable, "-c", CODE_OF, str(folder)],
            cwd=tree,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": tree},
        )
    if process.returncode:
        raise SettingError(f"{folder}: the code of {full} does not know it: {process.stderr.strip().splitlines()[-1]}")
    return full, process.stdout.strip()
