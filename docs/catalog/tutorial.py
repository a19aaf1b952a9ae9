"""Run the commands of the pages that show outputs, and write what they print below them: ``python -m
catalog.tutorial``."""

import re
import subprocess
import sys
from pathlib import Path

PAGES = [Path(__file__).parents[1] / name for name in ("tutorial.md", "your_own_data.md")]
STEP = re.compile(
    r"```(?P<language>bash|python)\n(?P<command>.*?)\n```\n(?:\n```text\n(?P<output>.*?)```\n)?", re.DOTALL
)
LONGEST = 8  # lines of a paragraph that are shown


def list_steps(text: str) -> list[tuple[str, str, str | None]]:
    """(language, command, output) of a page; no output where the page shows none."""
    return [(match["language"], match["command"], match["output"]) for match in STEP.finditer(text)]


def run_step(match: re.Match[str]) -> str:
    """A step with the output that its command has now. Raises CalledProcessError where the command fails."""
    shown = match["output"] is not None
    words = (
        ["bash", "-ec", match["command"]] if match["language"] == "bash" else [sys.executable, "-c", match["command"]]
    )
    ended = subprocess.run(words, check=True, text=True, capture_output=shown)
    output = f"\n```text\n{clean(ended.stdout)}\n```\n" if shown else ""
    return f"```{match['language']}\n{match['command']}\n```\n{output}"


def clean(output: str) -> str:
    """An output without blanks at the ends of lines, each paragraph cut after LONGEST lines."""
    return "\n\n".join(cut_lines(paragraph.splitlines()) for paragraph in output.strip().split("\n\n"))


def cut_lines(lines: list[str]) -> str:
    """The first lines, and dots where more follow."""
    kept = [line.rstrip() for line in lines[:LONGEST]]
    return "\n".join([*kept, "..."] if len(lines) > LONGEST else kept)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(STEP.sub(run_step, page.read_text()))
