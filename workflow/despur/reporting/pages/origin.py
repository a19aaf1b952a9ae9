"""Where a page comes from: commit, versions, machine, data."""

import os
import platform
from collections.abc import Mapping
from typing import Any

from despur.orchestration.configuration import list_shown_results
from despur.specs.paths import ResultPath
from despur.storage.abouts import list_checksums
from despur.storage.commits import git
from despur.storage.provenance import list_versions
from despur.storage.raw_files import sha256
from despur.storage.reading import read_json

LARGEST = 256 * 2**20  # bytes: larger inputs have the checksums of their raw files only


def describe_code() -> dict[str, Any]:
    """Commit, whether tracked files were changed since, but for what despur writes (results and documents), versions,
    machine."""
    code = (":/", ":(top,exclude)results", ":(top,exclude)*.md")
    clean = git("status", "--porcelain", "--untracked-files=no", "--", *code) == ""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return {"commit": git("rev-parse", "HEAD"), "clean": clean, "versions": list_versions(), "machine": machine}


def describe_data(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Name, source, license and checksums of the data sets that a configuration's runs read, as far as they are
    made."""
    results = {result.data for result in list_shown_results(config)}
    made = [
        result
        for result in sorted(results, key=lambda result: result.dataset)
        if (result.folder / "about.json").exists()
    ]
    return [{"name": result.dataset, "sums": find_checksums(result), **describe_source(result)} for result in made]


def describe_source(result: ResultPath) -> dict[str, Any]:
    first = read_json(result.folder / "about.json")[result.datasets.points[0].name]
    return {"source": first.get("source", ""), "licence": first.get("licence", ""), "raw": list_checksums(first)}


def find_checksums(result: ResultPath) -> dict[str, str]:
    """The first 16 digits of the checksums of a data set's files, of those that are not too large."""
    files = [result.folder / name for name in ("inputs.npy", "table.parquet")]
    return {file.name: sha256(file)[:16] for file in files if file.exists() and file.stat().st_size <= LARGEST}
