"""All numbers of the ledger again, by other code: JSON, NumPy and SciPy alone, from the records to the verdicts."""

import base64
import json
import math
import zlib

import numpy as np
import pandas as pd
import pytest
from project import SOURCE
from scipy import stats

LEDGER, KEPT = SOURCE / "results/ledger", SOURCE / "results/reference/ledger/scorecard.csv"
SPLITS = {"test_ood_accuracy": "test_ood", "test_id_accuracy": "test_id", "validation_accuracy": "val"}
SHARES = {"0.01": "1%", "0.1": "10%", "1.0": "100%"}
T = 0.004  # one-sided level of a decision


def load_record(data, method, seed):
    """The record of a seed, whose data is drawn with the seed."""
    base, *settings = data.split("+")
    name = "+".join([base, *sorted([*settings, *([f"draw={seed}"] if seed else [])])])
    (file, *_) = sorted((LEDGER / name / method).glob(f"s{seed}-*.json"))
    return json.loads(file.read_text())


def find_value(record, metric, setting):
    """A recorded value as the paper calls it."""
    settings = dict(item.split("=") for item in setting.split(";"))
    if metric == "upsampling_factor":
        return record["run"]["largest_factor"], None
    if metric == "domain_test_id_accuracy":
        split, metric, group = "test_id", "domain_accuracy", ""
    elif metric in SPLITS:
        split, metric, group = SPLITS[metric], "probe_accuracy", SHARES[settings["label_fraction"]]
    else:
        split, group = "test", ""
    return record["metrics"]["best"][split][metric][group], record["predictions"].get(split, {}).get(metric, {}).get(
        group
    )


def decode(text):
    kind, _, data = text.split(" ")
    return np.frombuffer(zlib.decompress(base64.b64decode(data)), kind)


def judge(values, printed, std, printed_seeds, percent=True):
    """Mean, deviation, 95 % interval of the difference and verdict, in points, or in percent of the printed number;
    digits are half a unit of one decimal of points, of one unit of the rest."""
    n = len(values)
    if n < 3:
        return np.mean(values), np.std(values, ddof=1) if n > 1 else math.nan, math.nan, math.nan, "not known"
    own = np.var(values, ddof=1) / n
    theirs, freedom = (0.0, n - 1) if math.isnan(std) else (std**2 / printed_seeds, None)
    if freedom is None and own + theirs == 0:
        freedom = n - 1
    elif freedom is None:
        freedom = (own + theirs) ** 2 / (own**2 / (n - 1) + theirs**2 / (printed_seeds - 1))
    error, difference = math.sqrt(own + theirs), np.mean(values) - printed
    wide, far = stats.t.isf(T, freedom) * error + (0.05 if percent else 0.5), abs(difference)
    point = 1 if percent else printed / 100
    verdict = next((f"within {t}" for t in (2, 5) if far + wide < t * point), None)
    verdict = verdict or ("beyond 5" if far - wide > 5 * point else "not known")
    half = stats.t.isf(0.025, freedom) * error
    return (
        np.mean(values),
        math.sqrt(n * own),
        difference - half,
        difference + half,
        "not known" if not own else verdict,
    )


def list_compared():
    table = pd.read_csv(KEPT, dtype={"setting": str}, low_memory=False)
    measured = table["verdict"].isin(["within 2", "within 5", "beyond 5", "not known"])
    return table[(table["kind_of_row"] == "number") & measured].to_dict("records")


@pytest.mark.parametrize("row", list_compared(), ids=lambda row: f"{row['place']} {row['method']} {row['metric']}")
def test_a_compared_number_is_recomputed_from_its_records(row):
    data, method = row["runs"].split("/")
    seeds = [int(pair.partition(":")[0]) for pair in row["by_seed"].split()]  # those that did not collapse
    found = [find_value(load_record(data, method, seed), row["metric"], row["setting"]) for seed in seeds]
    for value, codes in found:
        if codes is not None:  # of each sample, whether its prediction was right
            assert np.mean(decode(codes) == 0) == pytest.approx(value, abs=1e-12)
    percent = row["unit"] != "count"
    values = (100 if percent else 1) * np.array([value for value, _ in found])
    *numbers, verdict = judge(values, row["reported"], row["reported_std"], row["reported_seeds"], percent)
    assert numbers == pytest.approx([row["ours"], row["ours_std"], row["low"], row["high"]], abs=1e-9, nan_ok=True)
    assert verdict == row["verdict"]
