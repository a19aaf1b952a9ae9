"""The pages of the documentation: README, CONTRIBUTING and docs/, and the files that their examples show."""

import re

from project import SOURCE

DOCUMENTS = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted(SOURCE.glob("docs/**/*.md"))]
EXAMPLE = re.compile(r"^`([\w/]+\.\w+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")


def examples(page: str) -> dict[str, str]:
    """The files that a page of docs/ shows whole, by path: a code block under its path."""
    return dict(EXAMPLE.findall((SOURCE / "docs" / f"{page}.md").read_text()))


def commands(text: str) -> list[str]:
    """What a page tells to type: lines of its bash blocks, and commands within sentences and tables."""
    lines = [line.strip() for kind, block in FENCE.findall(text) if kind == "bash" for line in block.splitlines()]
    known = re.compile(r"(?:[A-Z_]+=\S+ )*(?:make|snakemake|python -m \w+|pytest)\b")
    return [line for line in (*lines, *SPAN.findall(FENCE.sub("", text))) if known.match(line)]


def paragraphs(text: str) -> list[list[str]]:
    """The lines of each paragraph or list; no code, tables or headings."""
    blocks = re.split(r"\n\s*\n", FENCE.sub("", text))
    return [block.splitlines() for block in blocks if block.strip() and block.strip()[0] not in "|#"]
