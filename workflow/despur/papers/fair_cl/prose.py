"""The numbers that the paper states in sentences: sizes of the data, and how close Con's leakage comes to chance."""

from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import find_refusal, parse_settings
from despur.evidence.numbers.tables import COLUMNS
from despur.evidence.numbers.verdicts import judge_count, judge_values
from despur.evidence.runs.run_files import NotRun, load_labels
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.storage.store import Dataset

PRINTED_SEEDS = 10  # Table 1
# Half a unit of the last printed digit: thousands, percent.
ROUNDING = {"n_examples": 500, "cell_fraction": 0.5, "n_classes": 0, "leakage_chance_level": 0.5, "leakage_approx": 0.5}


def count_samples(number: Any, dataset: Dataset) -> float:
    """Samples of a split."""
    return float(len(find_rows(number, dataset)))


def find_rows(number: Any, dataset: Dataset) -> np.ndarray:
    """Positions of the samples of a number's split. A record of a data set that is not here does not tell of all
    splits."""
    split = parse_settings(number.setting)["split"]
    rows = dataset.rows({"dev": "val"}.get(split, split))
    if not len(rows):
        raise NotRun(f"the {split} samples are not on this machine")
    return rows


def find_share(number: Any, dataset: Dataset) -> float:
    """Percent of a split's samples in a (class, attribute) group; on other data, in the group with the
    same indices."""
    asked = parse_settings(number.setting)
    about, table = dataset.about, dataset.table.iloc[find_rows(number, dataset)]
    y, a = (
        find_index(about[kind], asked[key], words)
        for kind, key, words in (("classes", "sentiment", "sad happy"), ("attributes", "race", "sae aae"))
    )
    return float(100 * ((table["y"] == y) & (table["a"] == a)).mean())


def find_index(names: list[str], word: str, words: str) -> int:
    """The index of a word of the paper among a data set's names, in the order of despur's moji."""
    if len(names) != 2:
        raise NotRun(f"{len(names)} values instead of two")
    return words.split().index(word)


def find_chance(number: Any, dataset: Dataset) -> float:
    """Percent of test samples with the more frequent attribute."""
    return float(100 * dataset.table["a"].iloc[dataset.rows("test")].value_counts(normalize=True).max())


MEASURES = {
    "n_examples": count_samples,
    "n_classes": lambda number, dataset: float(len(dataset.about["classes"])),
    "cell_fraction": find_share,
    "leakage_chance_level": find_chance,
}


def load_con(artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """Metrics of Con and Con-ft at the selected settings."""
    metrics, _ = selected_settings.load_selected(artifact_runs)
    return metrics[metrics["paper_method"].isin(["con", "con_ft"])]


def average_leakage(metrics: pd.DataFrame) -> np.ndarray:
    """Both leakages of Con and Con-ft, in percent, by seed: the mean of the four."""
    test = metrics[(metrics["split"] == "test") & (metrics["selection"] == "best")]
    rows = test[test["metric"].isin(["leakage_representations", "leakage_logits"])]
    if not len(rows):
        raise NotRun("neither Con nor Con-ft was run")
    return 100 * rows.groupby("seed")["value"].mean().to_numpy()


def measure(number: Any, artifact_runs: list[ArtifactRun]) -> dict[str, Any]:
    """Our number from the runs on one data set."""
    used, metrics = artifact_runs[0], pd.DataFrame()  # counts in the data are of no method
    if number.metric == "leakage_approx":
        metrics = load_con(artifact_runs)
        values = average_leakage(metrics)
    else:
        values = np.array([MEASURES[number.metric](number, load_labels(used))])
    spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    found = {"ours": float(values.mean()), "ours_std": spread, "seeds": len(values), "data": used.dataset}
    if refused := find_refusal(number.setting, [(used.dataset, used.substitute)], metrics):
        return found | refused
    return found | judge(number, values)


def judge(number: Any, values: np.ndarray) -> dict[str, Any]:
    """Difference and verdict. What is counted in the data is compared to the printed digit; what is measured on trained
    models is judged as a table's number is."""
    rounding = ROUNDING[number.metric]
    if number.metric in MEASURES:
        return judge_count(float(values.mean()), number.mean, rounding)
    return judge_values(values, number.mean, None, PRINTED_SEEDS, 0.0, rounding)


def compare_prose(printed: pd.DataFrame, artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """A row for each printed number and each data set that is used for it, with the reason where there is none."""
    rows = []
    for number in printed.itertuples():
        base = {
            "paper_dataset": number.dataset,
            "method": number.method,
            "setting": number.setting,
            "metric": number.metric,
            "reported": number.mean,
            "reported_std": number.std,
            "note": number.note,
            "seeds": 0,
            "verdict": NumberVerdict.NOT_RUN,
        }
        used_datasets = list(
            dict.fromkeys(
                artifact_run.dataset for artifact_run in artifact_runs if artifact_run.paper_dataset == number.dataset
            )
        )
        for used_dataset in used_datasets:
            try:
                rows.append(
                    base
                    | measure(
                        number,
                        [c for c in artifact_runs if (c.paper_dataset, c.dataset) == (number.dataset, used_dataset)],
                    )
                    | {"reason": ""}
                )
            except NotRun as reason:
                rows.append(base | {"data": used_dataset, "reason": str(reason)})
        if not used_datasets:
            rows.append(base | {"reason": f"no data set is used for {number.dataset}"})
    return pd.DataFrame(rows, columns=COLUMNS)
