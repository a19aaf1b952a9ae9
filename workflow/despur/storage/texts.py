"""Texts that are written whole or not at all."""

from pathlib import Path

from despur.storage.store import atomic


def write_text(path: Path, text: str) -> None:
    """A text file in UTF-8, whatever the machine's language."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
