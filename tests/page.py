"""A made-up finished run of cnc and its scorecard, for the tests of the page. No torch here."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence import tally
from despur.evidence.claims.judging import CLAIM_COLUMNS
from despur.evidence.numbers.tables import NUMBER_COLUMNS
from despur.evidence.verdicts import Tier
from despur.orchestration import artifact_files, experiments, matrix, paper_folders
from despur.reporting.figures import create_panels, write_figure
from despur.reporting.pages import comparison, matrix_figure, scorecard
from despur.storage.store import write_csv, write_json

ROW = dict.fromkeys(NUMBER_COLUMNS)
CONFIG: dict[str, Any] = {
    "papers": ["cnc"],
    "seeds": 2,
    "outputs": "results",
    "datasets": {"cmnist": "cmnist", "waterbirds": {"data": "scene_digits", "methods": ["erm", "cnc"]}},
    "matrix": {"data": "scene_digits", "methods": {"con": "con", "leace": "leace"}},
}


def table_file(config: dict[str, Any], paper: str, artifact: str) -> Path:
    """Where a table's numbers are."""
    return Path(artifact_files.list_outputs(config, paper, artifact)[0]).with_suffix(".csv")


def table_1() -> pd.DataFrame:
    """CMNIST* on its own data: one number is within 2, one beyond 5, one has one seed. Waterbirds is on substitute
    data. The rest is not run."""
    verdicts = [(70.0, 3, "cmnist", "beyond 5"), (20.5, 3, "cmnist", "within 2"), (5.0, 1, "cmnist", "not known")]
    printed = pd.read_csv(paper_folders.PAPERS / "cnc/reported/table_1.csv").rename(
        columns={"dataset": "paper_dataset", "mean": "reported", "std": "reported_std"}
    )
    rows = []
    for i, number in enumerate(printed[printed["reported"].notna()].to_dict("records")):
        own = {"seeds": 0, "verdict": "not run here"}
        if i < len(verdicts):
            ours, seeds, data, verdict = verdicts[i]
            own = {
                "ours": ours,
                "ours_std": 1.0,
                "difference": ours - number["reported"],
                "low": ours - number["reported"] - 1.5,
                "high": ours - number["reported"] + 1.5,
                "by_seed": f"{ours - 1} {ours} {ours + 1}",
                "runs": "cmnist/erm",
                "settings": "stated",
                "seeds": seeds,
                "data": data,
                "verdict": verdict,
            }
        elif number["paper_dataset"] == "waterbirds" and number["method"] in ("erm", "cnc"):
            own = {"ours": 50.0, "ours_std": 2.0, "seeds": 3, "data": "scene_digits", "verdict": "substitute data"}
        rows.append(ROW | number | own)
    return pd.DataFrame(rows, columns=NUMBER_COLUMNS)


def claims() -> pd.DataFrame:
    """One claim that holds, one that fails, one undecided; and one that is seen on substitute data."""
    asked = tally.gather_claims(CONFIG | {"papers": []}, "cnc")
    rows = (
        asked[asked["dataset"] == "cmnist"]
        .head(4)
        .assign(
            data=["cmnist"] * 3 + ["colored_digits"],
            substitute=[False] * 3 + [True],
            tier=[Tier.PAPER] * 3 + [Tier.SUBSTITUTE],
            verdict=["holds", "fails", "undecided", "seen here"],
            k=2,
            estimate=[0.5, -0.5, 0.11, 0.2],
            low=[0.3, -0.7, -0.1, 0.1],
            high=[0.7, -0.3, 0.3, 0.3],
            seeds=3,
            printed="not printed",
            advice=["", "", "about 12 seeds", ""],
            reason=math.nan,
        )
    )
    return rows.reindex(columns=CLAIM_COLUMNS)


def results(config: dict[str, Any]) -> None:
    """Table 1, Figure 5, the claims and the matrix, in the working directory."""
    for artifact, table in (("table_1", table_1()), ("claims", claims())):
        for file in map(Path, artifact_files.list_outputs(config, "cnc", artifact)):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"<h1>{artifact}</h1>")
        write_csv(table_file(config, "cnc", artifact), table)
    write_csv(table_file(config, "cnc", "figure_5"), table_1())
    write_figure(
        Path(artifact_files.list_outputs(config, "cnc", "figure_5")[0]).with_suffix(""), create_panels(1, 3, 2)[0]
    )
    for artifact_run in experiments.list_artifact_runs(config, "cnc", "table_1"):
        write_json(Path(artifact_run.folders[0]) / "about.json", {"seconds": 1.0, "peak_memory_mb": 500.0})
    prefix = Path(matrix.list_outputs(config)[0]).with_suffix("")
    write_csv(prefix.with_suffix(".csv"), compared(matrix.list_artifact_runs(config)))
    matrix_figure.draw_matrix(pd.read_csv(prefix.with_suffix(".csv")), prefix)


def compared(artifact_runs: list[Any]) -> pd.DataFrame:
    """Made-up values of the matrix; one method has no alignment."""
    rng, rows = np.random.default_rng(0), []
    for metric in comparison.METRICS:
        values = sorted(
            (round(float(rng.uniform(1, 99)), 2), artifact_run.paper_method, artifact_run)
            for artifact_run in artifact_runs
        )
        for rank, (value, method, artifact_run) in enumerate(values, start=1):
            missing = method == "leace" and metric.name == "cosine_similarity"
            rows.append(
                {
                    "method": method,
                    "papers": " ".join(matrix.list_papers(artifact_run)),
                    "data": "scene_digits",
                    "sees_attribute": method == "con",
                    "near_chance": False,
                    "metric": metric.name,
                    "label": metric.label,
                    "unit": metric.unit,
                    "paper": metric.paper,
                    "higher_is_better": metric.higher_is_better,
                    "value": math.nan if missing else value,
                    "std": 1.0,
                    "seeds": 2,
                    "rank": rank,
                    "rank_low": rank,
                    "rank_high": rank + 1,
                    "versus_erm": "" if method == "erm" else "helps",
                    "folder": "results/runs",
                }
            )
    return pd.DataFrame(rows, columns=comparison.COMPARISON_COLUMNS)


def page() -> Path:
    """The finished page, in the working directory."""
    results(CONFIG)
    scorecard.write(CONFIG, Path("results/scorecard"))
    return Path("results/scorecard.html").resolve()
