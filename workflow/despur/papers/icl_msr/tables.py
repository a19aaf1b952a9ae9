"""Tables of Qiang et al. 2022, and two that it has not: where encoders look, and accuracy at equal wall time."""

from functools import partial
from pathlib import Path

import pandas as pd

from despur.evidence.numbers.tables import compare, format_column, format_spread, format_table
from despur.evidence.runs.artifact_metrics import load_resamples
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.papers.icl_msr.beyond import average_saliency, compare_times, interpolate_equal_time
from despur.papers.icl_msr.rows import load_runs, load_seconds
from despur.reporting.judged_tables import judge_paper
from despur.reporting.printed_names import NAMES
from despur.reporting.tables import WriteArtifact, main, write_table
from despur.storage.finished_runs import list_bootstrap_columns

PAPER = Path(__file__).parent
SEEDS = 1  # not stated; no deviations are printed
COPIED = ("cpc", "infomin")  # baselines that are printed and were not run by the authors
format_accuracy = partial(format_spread, decimals=2)


def list_unprinted(reported: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Rows without a number for methods that were run and have none (Barlow Twins, which the text names)."""
    rows = reported.drop_duplicates(["dataset", "metric"])
    missing = pd.DataFrame({"method": sorted(set(runs["paper_method"]) - set(reported["method"]))})
    others = rows.drop(columns="method").assign(mean=float("nan"), note="named in the text, no row")
    return missing.merge(others, how="cross")


def write_accuracies(name: str, artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Printed accuracies beside ours."""
    runs = load_runs(artifact_runs)
    reported = pd.read_csv(PAPER / f"reported/{name}.csv")
    table = compare(pd.concat([reported, list_unprinted(reported, runs)], ignore_index=True), runs, SEEDS)
    copied = table["method"].isin(COPIED)
    table.loc[copied, ["verdict", "reason"]] = NumberVerdict.NOT_COMPARED, "reported only: a copied baseline"
    write_table(output, table, format_table(table, format_accuracy))


def write_saliency(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """The share of Grad-CAM saliency inside the foreground, by method: mean and standard deviation over seeds."""
    keys = ["paper_dataset", "data", "substitute", "paper_method"]
    means = {"inside": ("inside", "mean"), "inside_std": ("inside", "std"), "foreground": ("uniform", "mean")}
    runs = average_saliency(artifact_runs).groupby(keys, sort=False)
    table = runs.agg(**means, seeds=("seed", "nunique")).reset_index().assign(verdict="not in the paper")
    if table.empty:
        not_run = {"paper_dataset": "coco30", "verdict": NumberVerdict.NOT_RUN, "seeds": 0}
        table = pd.DataFrame([not_run], columns=table.columns)
    pairs = zip(100 * table["inside"], 100 * table["inside_std"], strict=True)
    display = pd.DataFrame(
        {
            "data set": table["paper_dataset"],
            "method": table["paper_method"].map(NAMES).fillna("–"),
            "saliency inside the foreground, %": [format_spread(*pair) for pair in pairs],
            "foreground, % of the image": format_column(100 * table["foreground"]),
            "seeds": table["seeds"],
            "data used": table["data"].fillna("–"),
            "verdict": table["verdict"],
        }
    )
    write_table(output, table, display)


def write_times(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Accuracy and training time by epochs and machine; SimCLR at the time of SimCLR + MSR."""
    table = compare_times(artifact_runs).assign(verdict="not in the paper")
    if table.empty:
        table = pd.DataFrame([{"paper_dataset": "cifar10", "verdict": NumberVerdict.NOT_RUN}], columns=table.columns)
    names = {**NAMES, "simclr_equal_time": "SimCLR, as long as SimCLR + MSR"}
    display = pd.DataFrame(
        {
            "data set": table["paper_dataset"],
            "method": table["paper_method"].map(names).fillna("–"),
            "order": table["second_order"].fillna(""),
            "epochs": format_column(table["epochs"].where(table["paper_method"] != "simclr_equal_time"), "{:g}"),
            "metric": table["metric"].fillna("–"),
            "accuracy": [format_accuracy(*pair) for pair in zip(table["ours"], table["ours_std"], strict=True)],
            "seconds": format_column(table["seconds"]),
            "machine": table["machine"].fillna("–"),
            "seeds": table["seeds"].fillna(0).astype(int),
            "data used": table["data"].fillna("–"),
            "verdict": table["verdict"],
        }
    )
    write_table(output, table, display)


def load_sentence_metrics(artifact_runs: list[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What sentences speak of: metrics and resamples of all runs, and the number of classes."""
    from despur.datasets.coco30 import CATEGORIES

    loaded = {"paper_dataset": "coco30", "used_dataset": "coco30", "data": "coco30", "substitute": False, "seed": 0}
    loaded |= {"paper_method": "", "split": "all", "selection": "best", "group": "", "metric": "n_classes"}
    counted = pd.DataFrame([loaded | {"value": float(len(CATEGORIES))}])
    runs = load_runs(artifact_runs)
    metrics = append_rows(runs, counted) if len(runs) else counted
    return metrics, load_runs(artifact_runs, load_resamples)


def load_claim_metrics(artifact_runs: list[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The metrics that claims use: all runs, and SimCLR with as much time as SimCLR + MSR (``simclr_equal_time``)."""
    metrics, resamples = load_runs(artifact_runs), load_runs(artifact_runs, load_resamples)
    if not len(metrics):
        return metrics, resamples
    spent = load_seconds(artifact_runs)
    equal = interpolate_equal_time(metrics, spent, ["value"])
    equal_drawn = interpolate_equal_time(resamples, spent, list_bootstrap_columns(resamples))
    return append_rows(metrics, equal), append_rows(resamples, equal_drawn)


def append_rows(table: pd.DataFrame, more: pd.DataFrame) -> pd.DataFrame:
    """A table with further rows, if there are any."""
    return pd.concat([table, more.dropna(axis="columns", how="all")], ignore_index=True) if len(more) else table


ARTIFACTS: dict[str, WriteArtifact] = {
    **{name: partial(write_accuracies, name) for name in ("table_1", "table_2", "table_3", "table_4")},
    "table_saliency": write_saliency,
    "table_time": write_times,
    **judge_paper("icl_msr", load_sentence_metrics, load_claim_metrics),
}

if __name__ == "__main__":
    main(ARTIFACTS)
