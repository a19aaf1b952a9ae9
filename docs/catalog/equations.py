"""What each method minimizes or computes (equations.yaml), as a section of its page."""

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
    lines = " ".join(shown["equation"].split()).split(r", \quad ")
    where = shown.get("where", "")
    return "\n\n".join(
        [
            "## Equation",
            *words,
            *(f"$$\n{line}\n$$" for line in lines),
            *([where[0].upper() + where[1:]] if where else []),
            read_equations()["notation"],
        ]
    )
