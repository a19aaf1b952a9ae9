"""Tables of NewPaper (authors and year)."""

from pathlib import Path

import pandas as pd

from despur.evidence.numbers.tables import compare
from despur.evidence.runs.artifact_metrics import load_metrics
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.tables import WriteArtifact, main, write_table

REPORTED = Path(__file__).parent / "reported"
SEEDS = 3  # how many the paper has


def write_table_1(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Worst-group and average accuracy beside the printed numbers."""
    write_table(output, compare(pd.read_csv(REPORTED / "table_1.csv"), load_metrics(artifact_runs), SEEDS))


ARTIFACTS: dict[str, WriteArtifact] = {"table_1": write_table_1}

if __name__ == "__main__":
    main(ARTIFACTS)
