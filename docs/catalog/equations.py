"""What each method minimizes (equations.yaml), as a section of its page."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

EQUATIONS = Path(__file__).with_name("equations.yaml")


@cache
def read_equations() -> dict[str, Any]:
    """``notation``, and ``methods``: of each the equation with words, or another method and what differs."""
    return yaml.safe_load(EQUATIONS.read_text())


def describe_equation(name: str) -> str:
    """The section; nothing for a method that the file does not name, such as one of an extension."""
    methods = read_equations()["methods"]
    if name not in methods:
        return ""
    entry, words = methods[name], []
    if "like" in entry:
        words = [f"As [`{entry['like']}`]({entry['like']}.md), but {entry['but']}."]
    shown = methods[entry["like"]] if "like" in entry else entry
    return "\n\n".join(
        [
            "## What it minimizes",
            *words,
            f"$$\n{' '.join(shown['equation'].split())}\n$$",
            *([f"Where {shown['where']}"] if "where" in shown else []),
            read_equations()["notation"],
        ]
    )
