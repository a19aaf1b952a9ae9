"""One vocabulary (docs/glossary.md): text that users read has no retired word. Each hit is listed by file and line."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import DOCUMENTS
from project import SOURCE

# What is not said any more -> what is said in its place. Blanks match line ends, too.
RETIRED = {
    r"a path is a question|(?:is|of) (?:a|the|one) question": "result path, cache key",
    r"\bstand-ins?\b|\bstand_in\b": "substitute data set",
    r"in the parts? of|play(?:s|ed|ing)?\b[^.]{0,30}\bparts?\b|playe(?:d|rs?) by": "substitute data set; is used for",
    r"(?:paper's|papers'|its|the|each|every) rooms?\b|rooms? of the|room's": "paper folder",
    r"of the house|rules of the house": "of despur",
    r"(?:same|other) digits|(?:decide|change)s? (?:no|the) digits?": "bit-identical",
    r"nobody asks|what is asked|asked for by": "result that is named; target",
    r"the border\b": "dataset checks",
    r"\bpresentations? of (?:a|the) (?:sample|image|batch)": "input batch",
    r"task\.(?:presentation|groups|base)\b|(?-i:\bPUBLISHED\b)|\breadings:": "the names of the package",
    r"(?<!\w)(?:real|whole|flag|word)\((?=[\d\"'])": "float_, int_, bool_, name",
    r"\bplayed\b|\bplayers?\b": "used_dataset; the data set that is used",
    r"\bcells?['’]s? (?:folders?|data|method|runs?)\b|\b(?:all|these) cells\b": "run of an artifact",
    r"\b(?:on|of|be) a base\b|\ba base's": "stage-1 model",
    r"\bin (?:a|one|this) role\b": "as a stage (stage1/erm)",
    r"\bask for (?:that|a|this) path": "use that path",
}

STRICT = [*DOCUMENTS, *sorted(SOURCE.glob("workflow/report/*.rst"))]
# Of Python files, docstrings and messages are text.
SWITCHED_ON = (
    "workflow/despur/papers/*/*.yaml",
    "workflow/despur/papers/*/README.md",
    "workflow/despur/papers/*/captions/*.rst",
    "workflow/despur/**/*.py",
    "workflow/despur/papers/**/*.py",
    "workflow/report/*.jinja",
    "profiles/**/*.yaml",
    "workflow/resources.yaml",
    "workflow/schemas/*.yaml",
    "workflow/rules/*.smk",
    "config.yaml",
    "config/**/*.yaml",
    "Snakefile",
)


def read_strings(text: str) -> str:
    """The string literals of Python code, at their lines; names of columns and all else are blank."""
    lines = [""] * (text.count("\n") + 2)
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and not value.isidentifier():
            for number, line in enumerate(value.split("\n"), node.lineno - 1):
                lines[min(number, len(lines) - 1)] += f" {line}"
    return "\n".join(lines)


def find_retired(file: Path) -> Iterator[str]:
    """``file:line: word -> replacement`` of each retired word."""
    text = file.read_text()
    shown = read_strings(text) if file.suffix == ".py" else text
    for words, replacement in RETIRED.items():
        for hit in re.finditer(words.replace(" ", r"\s+(?:#\s*)?"), shown, re.IGNORECASE):
            line = shown.count("\n", 0, hit.start()) + 1
            yield f"{file.relative_to(SOURCE)}:{line}: {' '.join(hit[0].split())!r} -> {replacement}"


def test_documents_have_no_retired_word():
    files = [*STRICT, *(file for glob in SWITCHED_ON for file in sorted(SOURCE.glob(glob)))]
    hits = [hit for file in files for hit in find_retired(file)]
    assert not hits, "\n" + "\n".join(hits)


@pytest.mark.parametrize(
    "text", ["stand-in data", "scene_digits plays its\npart", "to the same digits", "in the part of\n# CMNIST*"]
)
def test_a_retired_word_is_found(tmp_path, monkeypatch, text):
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    for name, content in (("page.md", f"first\n\n{text}\n"), ("code.py", f'x = 1\n\nMESSAGE = """{text}"""\n')):
        (tmp_path / name).write_text(content)
        assert [hit.split(":")[:2] for hit in find_retired(tmp_path / name)] == [[name, "3"]]


def test_names_in_code_are_not_text(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    (tmp_path / "code.py").write_text('cell.stand_in = row["stand_in"]\n')
    assert not [*find_retired(tmp_path / "code.py")]


def test_each_word_is_defined_once():
    text = (SOURCE / "docs/glossary.md").read_text()
    words = [word for row in re.findall(r"^\| \*\*(.+?)\*\*", text, re.MULTILINE) for word in row.split(", ")]
    assert 25 <= len(words) == len(set(words)) <= 40
