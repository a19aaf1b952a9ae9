"""The pages of the documentation: README, CONTRIBUTING and docs/, and the files that their examples show."""

import html
import re
import shlex
from collections.abc import Iterable

from project import CONFIGS, SOURCE

DOCUMENTS = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted(SOURCE.glob("docs/**/*.md"))]
EXAMPLE = re.compile(r"^`([\w/]+\.\w+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:make|snakemake|python -m [\w.]+|pytest|despur(?= [a-z]))(?= |$)")


def examples(page: str) -> dict[str, str]:
    """The files that a page of docs/ shows whole, by path: a code block under its path."""
    return dict(EXAMPLE.findall((SOURCE / "docs" / f"{page}.md").read_text()))


def commands(text: str) -> list[str]:
    """What a page tells to type: lines of its bash blocks and indented ones, and commands within sentences and
    tables."""
    text = text.replace("\\\n", " ")
    blocks = [block for kind, block in FENCE.findall(text) if kind == "bash"]
    rest = FENCE.sub("", text)
    lines = [line for block in blocks for line in block.splitlines()] + re.findall(r"^ {4}(\S.*)$", rest, re.MULTILINE)
    typed = [part for line in lines for part in re.split(r"\s+#.*|\s+&&\s+", line.strip())]
    return [line for line in (*typed, *SPAN.findall(rest)) if COMMAND.match(line)]


def commands_of_page(text: str) -> list[str]:
    """What a page of HTML tells to type."""
    spans = (html.unescape(span) for span in re.findall(r"<code>(.*?)</code>", text, re.DOTALL))
    return [line for line in spans if COMMAND.match(line)]


def documented() -> list[str]:
    """Every command of the documents, of the papers' READMEs and at the head of Snakefile and configurations; those of
    docs/adding_*.md are in test_examples.py. ``...`` stands for anything that is typed there."""
    pages = [page for page in DOCUMENTS if not page.stem.startswith("adding_")]
    pages += [*SOURCE.glob("workflow/despur/papers/*/README.md"), *SOURCE.glob("workflow/report/*.rst")]
    heads = [SOURCE / file for file in ("Snakefile", *CONFIGS)]
    found = [line for page in pages for line in commands(page.read_text())]
    found += [
        part
        for head in heads
        for line in head.read_text().splitlines()
        for part in re.split(r", or |\s{2,}", line.removeprefix("#").strip())
        if COMMAND.match(part)
    ]
    found = [re.sub(r"^despur ", "python -m despur ", line.removesuffix(" ...")) for line in found]
    return list(dict.fromkeys(found))


def split(command: str) -> tuple[dict[str, str], list[str]]:
    """The environment that a command sets, and its words."""
    words = shlex.split(command)
    count = next(i for i, word in enumerate(words) if not re.match(r"[A-Z_]+=", word))
    return dict(word.split("=", 1) for word in words[:count]), words[count:]


def group_snakemake(lines: Iterable[str]) -> list[tuple[dict[str, str], list[str]]]:
    """Environment and arguments of calls of Snakemake, to be planned. Targets with the same options are one call, in
    the environments of all."""
    found: dict[tuple[object, ...], tuple[dict[str, str], list[str], list[str]]] = {}
    for environment, (program, *words) in map(split, lines):
        if program == "snakemake":
            words = [word for word in words if word not in ("-n", "--cores", "all", "-c2")]
            count = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
            together, targets, _ = found.setdefault((bool(count), *words[count:]), ({}, [], words[count:]))
            together |= environment
            targets += words[:count]
    return [(environment, [*dict.fromkeys(targets), *options]) for environment, targets, options in found.values()]


def paragraphs(text: str) -> list[list[str]]:
    """The lines of each paragraph or list; no code, tables or headings."""
    blocks = re.split(r"\n\s*\n", FENCE.sub("", text))
    return [block.splitlines() for block in blocks if block.strip() and block.strip()[0] not in "|#"]
