"""Tables of Correct-N-Contrast: a function writes each."""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.numbers.printed import parse_settings, weighted_averages
from despur.evidence.numbers.rows import describe_printed
from despur.evidence.numbers.tables import NUMBER_COLUMNS, compare, format_column, format_table
from despur.evidence.numbers.verdicts import judge_count
from despur.evidence.runs.artifact_metrics import load_metrics
from despur.evidence.runs.run_files import load_abouts
from despur.evidence.sentences.judging import format_number
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.papers.cnc.clustering import write_table_clustering
from despur.papers.cnc.hyperparameters import write_table_a7_a11
from despur.papers.cnc.measurements import load_claim_metrics, load_sentence_metrics
from despur.reporting.judged_tables import judge_paper
from despur.reporting.tables import WriteArtifact, main, write_table
from despur.storage.store import load_dataset

REPORTED = Path(__file__).parent / "reported"
SEEDS = 3  # App. E.2.1
# Methods whose numbers on Waterbirds Table 1 copies from other papers (App. E.2.5): their averages weight groups by
# training sizes (those of Liu et al. do; those of the others can hardly be plain averages: see the README).
COPIED = ("erm", "cvar_dro", "lff", "jtt", "george", "cim", "eiil")
IDENTITIES = {"lgbtq": "LGBTQ"}  # the spelling of CivilComments, where it is not the paper's


def write_accuracies(name: str, artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Worst-group and average accuracy: Table 1 and Tables A.1 to A.5."""
    metrics = load_metrics(artifact_runs)
    copied = (metrics["paper_dataset"] == "waterbirds") & metrics["paper_method"].isin(COPIED)
    metrics = weighted_averages(metrics, copied & ~metrics["substitute"])
    write_table(output, compare(pd.read_csv(REPORTED / f"{name}.csv"), metrics, SEEDS))


def write_table_a6(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Percent toxic among the training comments that mention an identity: of the data, not of a model."""
    rows = []
    for number in pd.read_csv(REPORTED / "table_a6.csv").itertuples():
        base = describe_printed(number)
        rows += [base | measure_toxicity(artifact_run, number) for artifact_run in artifact_runs] or [base]
    table = pd.DataFrame(rows, columns=NUMBER_COLUMNS)
    write_table(output, table, format_table(table, format_number).drop(columns=["method", "seeds"]))


def measure_toxicity(artifact_run: ArtifactRun, number: Any) -> dict[str, Any]:
    """Percent of the training samples of an identity's groups that are of the second class."""
    identity = parse_settings(number.setting)["identity"]
    result = artifact_run.result
    dataset = load_dataset(result.data.folder, result.runs()[0].data.name)
    names = [f"{label}, {IDENTITIES.get(identity, identity)}" for label in dataset.about["classes"]]
    if dataset.groups is None or not set(names) <= set(dataset.about["groups"]):
        refused = {"verdict": NumberVerdict.NOT_COMPARED, "reason": "it has no such groups"}
        return {"data": artifact_run.dataset} | refused
    sizes = dataset.groups[dataset.rows("train")].sum(axis=0)
    other, toxic = (int(sizes[dataset.about["groups"].index(name)]) for name in names)
    ours = 100 * toxic / max(other + toxic, 1)
    refused = {"verdict": NumberVerdict.SUBSTITUTE} if artifact_run.substitute else {}
    judged = refused or judge_count(ours, number.mean, rounding=0.05)  # one decimal is printed
    return {"ours": ours, "seeds": 1, "data": artifact_run.dataset} | judged


def write_table_a12(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Hours of both stages; beside them the seconds of a run, the peak memory of its process, and the device."""
    rows = []
    for number in pd.read_csv(REPORTED / "table_a12.csv").itertuples():
        mine = [
            artifact_run
            for artifact_run in artifact_runs
            if (artifact_run.paper_dataset, artifact_run.paper_method) == (number.dataset, number.method)
        ]
        base = describe_printed(number)
        rows += [base | measure_cost(artifact_run) for artifact_run in mine] or [base]
    table = pd.DataFrame(rows).reindex(columns=[*NUMBER_COLUMNS, "seconds", "peak_memory_mb", "device"])
    display = format_table(table, format_number)
    for name in ("seconds", "peak_memory_mb"):
        display[name.replace("_", " ")] = format_column(table[name], "{:,.0f}")
    write_table(output, table, display.assign(device=table["device"].fillna("–")))


def measure_cost(artifact_run: ArtifactRun) -> dict[str, Any]:
    """Time of training one run (mean over seeds), largest memory of a process."""
    abouts = list(load_abouts(artifact_run).values())
    seconds = pd.Series([about["seconds"] for about in abouts], dtype=float)
    return {
        "ours": seconds.mean() / 3600,
        "ours_std": seconds.std() / 3600,
        "seeds": len(seconds),
        "data": artifact_run.dataset,
        "seconds": seconds.mean(),
        "peak_memory_mb": max(about["peak_memory_mb"] for about in abouts),
        "device": ", ".join(sorted({f"{about['device']} ({about['machine']})" for about in abouts})),
        "verdict": NumberVerdict.SUBSTITUTE if artifact_run.substitute else NumberVerdict.NOT_COMPARED,
        "reason": "" if artifact_run.substitute else "other machine",
    }


ARTIFACTS: dict[str, WriteArtifact] = {
    **{f"table_{name}": partial(write_accuracies, f"table_{name}") for name in ("1", "a1", "a2", "a3", "a4", "a5")},
    "table_a6": write_table_a6,
    "table_a7_a11": write_table_a7_a11,
    "table_a12": write_table_a12,
    "table_clustering": write_table_clustering,
    **judge_paper("cnc", load_sentence_metrics, load_claim_metrics),
}

if __name__ == "__main__":
    main(ARTIFACTS)
