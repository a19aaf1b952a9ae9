"""Run the commands of docs/tutorial.md and write what they print below them: ``python -m catalog.tutorial``."""

import re
import subprocess
from pathlib import Path

PAGE = Path(__file__).parents[1] / "tutorial.md"
STEP = re.compile(r"```bash\n(?P<command>[^\n]+)\n```\n(?:\n```text\n(?P<output>.*?)```\n)?", re.DOTALL)
LONGEST = 8  # lines of a paragraph that are shown


def list_steps(text: str) -> list[tuple[str, str | None]]:
    """(command, output) of the page; no output where the page shows none."""
    return [(match["command"], match["output"]) for match in STEP.finditer(text)]


def run_step(match: re.Match[str]) -> str:
    """A step with the output that its command has now. Raises CalledProcessError where the command fails."""
    shown = match["output"] is not None
    found = subprocess.run(match["command"], shell=True, check=True, text=True, capture_output=shown)
    output = f"\n```text\n{clean(found.stdout)}\n```\n" if shown else ""
    return f"```bash\n{match['command']}\n```\n{output}"


def clean(output: str) -> str:
    """An output without blanks at the ends of lines, each paragraph cut after LONGEST lines."""
    return "\n\n".join(cut_lines(paragraph.splitlines()) for paragraph in output.strip().split("\n\n"))


def cut_lines(lines: list[str]) -> str:
    """The first lines, and dots where more follow."""
    kept = [line.rstrip() for line in lines[:LONGEST]]
    return "\n".join([*kept, "..."] if len(lines) > LONGEST else kept)


if __name__ == "__main__":
    PAGE.write_text(STEP.sub(run_step, PAGE.read_text()))
