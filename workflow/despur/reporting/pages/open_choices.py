"""The choices that papers leave open (results/reference/ledger/choices.csv), as pages show them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.statistics.contrasts import SEEDS
from despur.evidence.verdicts import ChoiceVerdict
from despur.orchestration.experiments import REFERENCE
from despur.reporting.markdown import to_markdown

CHOICES = REFERENCE / "ledger/choices.csv"
PAGE = Path("docs/open_choices.md")
INTRODUCTION = """# Choices that papers leave open

After this page you know which settings that papers leave open are named as choices (`experiments.yaml` of a paper),
which of them were tried, with how many runs and hours, and what that decided. Of papers whose data were not run, none
is named yet. Only finished runs of a choice count, no trial that changed code or was stopped: of domain_temperature,
the site's page *Fingerprint* lists these. `despur ledger report` writes this page. [The ledger](ledger.md) says how a
choice is judged. [What we found](what_we_found.md) shows what runs gave, and names the settings that were fitted to
printed numbers and are in use."""


def load_choices() -> pd.DataFrame:
    """The rows of choices.csv."""
    return pd.read_csv(CHOICES, keep_default_na=False)


def format_choices(choices: pd.DataFrame) -> str:
    """The page: the choices that were tried, and those that were not. ``choices``: rows of choices.csv."""
    tried = choices["tried"].ne("")
    rows = [
        [
            *(f"`{row['paper']}`", f"`{row['choice']}`", row["source"], row["found_on"] or "–"),
            *(f"{len(row['tried'].split())} ({row['full_length']})", str(row["hours"]), describe_verdict(row)),
        ]
        for row in choices[tried].to_dict("records")
    ]
    said = (
        f"{tried.sum()} of {len(choices)} were tried, {choices['full_length'].astype(int).gt(0).sum()} of them by runs "
        "of full length; runs with another number of epochs than the paper's are trials, which support nothing. A run "
        "counts for the largest choice that it makes; its other settings may differ from the defaults, too. Numbers "
        "that a choice was found on are never compared under it."
    )
    open_rows = [
        [f"`{row['paper']}`", f"`{row['choice']}`", row["source"], str(row["hours_a_run"] or "not known")]
        for row in choices[~tried].to_dict("records")
    ]
    columns = ["paper", "choice", "source", "found on", "runs (of full length)", "hours", "verdict (seeds)"]
    hours = "With the hours of a run on a CPU at the paper's length, as far as runs like it are recorded."
    not_tried = to_markdown(["paper", "choice", "source", "hours a run"], open_rows)
    parts = [INTRODUCTION, "## Tried", said, to_markdown(columns, rows), "## Not tried", hours, not_tried]
    return "\n\n".join([*parts, "[All pages](index.md)"]) + "\n"


def list_choices() -> list[dict[str, Any]]:
    """The choices of choices.csv, those that were tried first, with the number of their runs and their verdict in
    words; none where that file is not there."""
    if not CHOICES.exists():
        return []
    rows = load_choices().to_dict("records")
    said = [{**row, "runs": len(row["tried"].split()), "verdict": describe_verdict(row)} for row in rows]
    return sorted(said, key=lambda row: not row["runs"])


def describe_verdict(row: Mapping[str, Any]) -> str:
    """``too few seeds (1 of 6)``; of one that was judged, how far numbers moved, too."""
    moved = f", moved {row['moved']} points" if row["moved"] else ""
    needed = f" of {2 * SEEDS}" if row["verdict"] == ChoiceVerdict.TOO_FEW else ""
    count = "" if row["verdict"] == ChoiceVerdict.NOT_TRIED else f" ({row['seeds']}{needed})"
    return f"{row['verdict']}{count}{moved}"
