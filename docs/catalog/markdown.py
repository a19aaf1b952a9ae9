"""Pieces of Markdown pages."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from despur.orchestration import experiments
from despur.specs.declarations import PACKAGE

ROOT = PACKAGE.parents[1]
REFERENCE = ROOT / experiments.REFERENCE
SPECIAL = re.compile(r"([*<|$\[\]])")
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
PLACE = re.compile(
    r"\b(?:Sec|App|Eq|Alg|Table|Fig|Figure|Theorem)s?\.? [A-Z0-9][\w.-]*\w|\b(?:Sec|Eq|Alg|Fig|App)\. \w"
)


def escape(text: object) -> str:
    """Plain text as Markdown. Code between backticks stays code; only ``|`` is marked in it, for tables."""
    words, start, parts = str(text), 0, []
    for match in CODE.finditer(words):
        parts += [SPECIAL.sub(r"\\\1", words[start : match.start()]), f"`{match[2].replace('|', chr(92) + '|')}`"]
        start = match.end()
    return "".join([*parts, SPECIAL.sub(r"\\\1", words[start:])])


def code(text: object) -> str:
    """Text in the font of code; nothing for no text."""
    return f"`{text}`".replace("|", r"\|") if str(text) else ""


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; a sentence where there are no rows."""
    lines = [[" ".join(cell.split()) for cell in row] for row in rows]
    if not lines:
        return "None."
    return "\n".join(f"| {' | '.join(row)} |" for row in [titles, ["---"] * len(titles), *lines])


def link_file(file: Path) -> str:
    """A link to a file, from the project's folder; a file of an extension that lies elsewhere is only named."""
    if not file.is_relative_to(ROOT):
        return code(file)
    local = file.relative_to(ROOT)
    return f"[{code(local)}](/{local})"


def find_places(text: str) -> list[str]:
    """The sections, equations, algorithms, tables and figures that a text names, each once: ``Eq. 7``."""
    return list(dict.fromkeys(" ".join(match[0].split()) for match in PLACE.finditer(text)))


def page(title: str, *parts: str) -> str:
    """A page with a title; parts without text are left out."""
    return "\n\n".join([f"# {title}", *filter(None, parts)]) + "\n"


def contents(names: Iterable[str]) -> str:
    """The pages below a page, for the menus of the site."""
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
