"""The tables that all papers make in one way: of their claims, and of the numbers that their sentences state."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

from despur.evidence.sentences.judging import format_sentences, judge_sentences
from despur.orchestration.experiments import ArtifactRun
from despur.orchestration.paper_folders import find_paper
from despur.reporting.tables import WriteArtifact, write_table

ArtifactRuns = list[ArtifactRun]
Load = Callable[[ArtifactRuns], tuple[pd.DataFrame, pd.DataFrame]]  # metrics and their bootstrap values


def judge_paper(paper: str, load_for_sentences: Load, load_for_claims: Load) -> dict[str, WriteArtifact]:
    """Both tables of a paper, by artifact."""
    return {
        "prose": partial(write_prose, paper, load_for_sentences),
        "claims": partial(write_claims, paper, load_for_claims),
    }


def write_prose(paper: str, load: Load, artifact_runs: ArtifactRuns, output: Path) -> None:
    """Every number that a sentence of the paper states. ``load``: what the runs measured, under the paper's names."""
    table = judge_sentences(paper, *load(artifact_runs))
    write_table(output, table, format_sentences(table))


def write_claims(paper: str, load: Load, artifact_runs: ArtifactRuns, output: Path) -> None:
    """The paper's claims, with their evidence and verdicts. ``load``: the metrics that claims may use."""
    from despur.evidence.claims.judging import format_claims, judge_claims  # scipy.stats: other tables do not wait

    table = judge_claims(find_paper(paper) / "claims.yaml", artifact_runs, load)
    write_table(output, table, format_claims(table))
