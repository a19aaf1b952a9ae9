"""The page that says which methods other collections have, from elsewhere.yaml beside this file."""

from pathlib import Path
from typing import Any

import yaml

from catalog.markdown import code, escape, page, table
from despur.specs.names import parse

FILE = Path(__file__).with_suffix(".yaml")
INTRODUCTION = (
    "After this page you know what methods of despur are called in other collections of methods, and what these have "
    "that despur lacks. Implementations may differ in details and in default settings. Defaults and search ranges that "
    "name SubpopBench as their source are those of subpopbench/hparams_registry.py at the commit below. The texts of "
    "most papers of these methods could not be looked up, so that their equations are shown without numbers."
)


def read_names() -> dict[str, Any]:
    return yaml.safe_load(FILE.read_text())


def build_elsewhere() -> str:
    """A row for each method, a column for each collection; then what is lacking here, and what was looked at."""
    content = read_names()
    collections = content["collections"]
    rows = [
        [f"[{code(name)}](methods/{parse(name)[0]}.md)", *(code(names.get(other, "")) for other in collections)]
        for name, names in content["methods"].items()
    ]
    lacking = [[name, ", ".join(map(code, content["lacking"].get(name, [])))] for name in collections]
    sources = [
        [f"[{name}](https://github.com/{at['repository']})", code(at["file"]), code(at["commit"][:10])]
        for name, at in collections.items()
    ]
    return page(
        "Methods elsewhere",
        escape(INTRODUCTION),
        table(["despur", *collections], rows),
        "## What despur lacks\n\n" + table(["collection", "methods"], lacking),
        "## What was looked at\n\n" + table(["collection", "file", "commit"], sources),
        "[All pages](index.md)",
    )
