import json
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from making import row_of, write_run

from despur.evidence.numbers import tables
from despur.evidence.numbers.counts import COMPARED
from despur.evidence.numbers.tables import NUMBER_COLUMNS, compare, format_digits, format_spread, format_table
from despur.evidence.numbers.verdicts import judge_values
from despur.evidence.runs.artifact_metrics import load_metrics, parse_artifact_runs, select_test
from despur.evidence.statistics.equivalence import PrintedValue
from despur.orchestration.experiments import ArtifactRun

METRICS = ("worst_group_accuracy", "average_accuracy")
SIZES = {"0, red": 300.0, "0, green": 100.0, "1, red": 200.0, "1, green": 400.0}


def measured(values, sizes=SIZES, selection="best", split="test"):
    """Rows of metrics.csv: ``values`` are (worst group, average) for each seed."""
    rows = []
    for seed, pair in enumerate(values):
        found = [*((metric, "", value) for metric, value in zip(METRICS, pair, strict=True))]
        found += [row for name, size in sizes.items() for row in (("samples", name, size), ("accuracy", name, pair[0]))]
        rows += [
            {"seed": seed, "split": split, "selection": selection, "metric": metric, "group": group, "value": value}
            for metric, group, value in found
        ]
    return pd.DataFrame(rows)


def printed(*rows):
    """A reported table of (dataset, method, metric, mean, std)."""
    table = pd.DataFrame(rows, columns=["dataset", "method", "metric", "mean", "std"])
    return table.assign(setting="", unit="percent", note="")


@pytest.fixture
def run(tmp_path):
    """Writes metrics.csv as a run folder and gives the artifact's runs that read it."""

    def write(values, paper_dataset="cmnist", dataset="cmnist", method="cnc", stands=(), **keywords):
        rows = pd.concat([measured(values, **keywords), *NOISE]).assign(dataset=dataset, method=method)
        folder = write_run(tmp_path / paper_dataset / "runs" / dataset / method / "s0-2", rows)
        return ArtifactRun(paper_dataset, dataset, method.partition("+")[0], (folder,), *stands)

    return write


NOISE = [measured([(0.01, 0.02)] * 3, split="val"), measured([(0.03, 0.04)] * 3, selection="last")]


def test_numbers_stand_beside_the_printed_ones(run):
    reported = printed(("cmnist", "cnc", METRICS[0], 77.4, 3.0), ("cmnist", "cnc", METRICS[1], 90.9, 0.6))
    table = compare(reported, load_metrics([run([(0.70, 0.90), (0.74, 0.91), (0.78, 0.92)])]), 3)
    assert table.columns.tolist() == tables.NUMBER_COLUMNS
    worst = row_of(table, metric=METRICS[0])
    assert (worst["reported"], worst["reported_std"], worst["seeds"], worst["data"]) == (77.4, 3.0, 3, "cmnist")
    assert worst["ours"] == pytest.approx(74.0)
    assert worst["ours_std"] == pytest.approx(4.0)
    assert worst["difference"] == pytest.approx(-3.4)
    average = row_of(table, metric=METRICS[1])
    assert (average["ours"], average["ours_std"], average["difference"]) == pytest.approx((91.0, 1.0, 0.1))


VALUES = [(0.70, 0.90), (0.74, 0.91), (0.78, 0.92)]


@pytest.mark.parametrize(
    ("metric", "samples"), [(METRICS[0], 2 * 1e4 * 0.74 * 0.26 / 100), (METRICS[1], 2 * 1e4 * 0.91 * 0.09 / 1000)]
)  # the smallest group has 100, all 1000
@pytest.mark.parametrize("sizes", [SIZES, SIZES | {"2, red": 0.0}])
def test_the_interval_counts_seeds_and_the_samples_behind_a_number(run, metric, samples, sizes):
    metrics = load_metrics([run(VALUES, sizes=sizes)])
    values = 100 * np.array([pair[METRICS.index(metric)] for pair in VALUES])
    (row,) = compare(printed(("cmnist", "cnc", metric, 74.0, 3.0)), metrics, 3).to_dict("records")
    expected = judge_values(values, PrintedValue(74.0, 3.0, 3, rounding=0.5), samples)
    assert (row["low"], row["high"]) == pytest.approx((expected["low"], expected["high"]))
    assert row["by_seed"] == " ".join(f"{seed}:{value:.10g}" for seed, value in enumerate(values))


def test_seeds_that_collapsed_are_counted_apart(run):
    metrics = load_metrics([run([(0.70, 0.90), (0.74, 0.91), (0.78, 0.92), (0.1, 0.2)])])
    metrics["collapsed"] = metrics["seed"] == 3
    (row,) = compare(printed(("cmnist", "cnc", METRICS[0], 74.0, 3.0)), metrics, 3).to_dict("records")
    assert (row["ours"], row["seeds"]) == (pytest.approx(74.0), 3) and row["by_seed"] == "0:70 1:74 2:78"
    assert row["collapsed"] == "1 of 4 seeds collapsed (1 to 81 %)"  # Clopper and Pearson
    # where all did, their values are shown, and not compared
    only = metrics[metrics["seed"] == 3]
    (row,) = compare(printed(("cmnist", "cnc", METRICS[0], 74.0, 3.0)), only, 3).to_dict("records")
    assert (row["ours"], row["by_seed"], row["verdict"]) == (pytest.approx(10.0), "3:10", "not compared")
    assert row["reason"] == "every seed collapsed" and np.isnan(row["difference"])


def test_fewer_than_three_seeds_are_undecided(run):
    table = compare(printed(("cmnist", "cnc", METRICS[0], 77.4, 3.0)), load_metrics([run([(0.774, 0.9)])]), 3)
    (row,) = table.to_dict("records")
    assert (row["seeds"], row["verdict"], row["would_decide"]) == (1, "not known", "at least 3 seeds")
    assert row["difference"] == pytest.approx(0.0)
    assert np.isnan(row["ours_std"]) and np.isnan(row["low"])


@pytest.mark.parametrize(
    ("dataset", "method", "reason"),
    [
        ("cmnist+colors=released", "erm", ""),  # an accepted variant of the paper's settings
        ("cmnist", "erm+epochs=1", "epochs=1"),
        ("cmnist+p_corr=0.5", "erm", "p_corr=0.5"),
    ],
)
def test_numbers_are_compared_at_the_settings_of_the_paper_only(run, dataset, method, reason):
    artifact_run = run(VALUES, dataset=dataset, method=method, stands=("table_1", "cnc"))
    table = compare(printed(("cmnist", "erm", METRICS[0], 74.0, 3.0)), load_metrics([artifact_run]), 3)
    assert table["verdict"].tolist() == ["other settings" if reason else "not known"]
    assert table["reason"].fillna("").tolist() == [reason]
    assert table["difference"].notna().tolist() == [not reason]


def test_a_number_that_is_derived_of_changed_runs_is_not_compared(run):
    metrics = load_metrics([run([(0.7, 0.9)] * 2, dataset="cmnist", method="erm+epochs=1", stands=("table_1", "cnc"))])
    gap = metrics[metrics["metric"] == METRICS[0]].drop(columns="changed").assign(metric="gap")
    table = compare(printed(("cmnist", "erm", "gap", 20.0, 1.0)), pd.concat([metrics, gap]), 3)
    assert table[["verdict", "reason"]].to_numpy().tolist() == [["other settings", "epochs=1"]]


def test_a_setting_that_the_printed_row_names_is_no_change(run):
    metrics = load_metrics([run(VALUES, method="cnc+lambda=0.3", stands=("table_a5", "cnc"))])
    row = printed(("cmnist", "cnc", METRICS[0], 74.0, 3.0))
    assert compare(row.assign(setting="lambda=0.3"), metrics, 3)["verdict"].tolist() == ["not known"]
    assert compare(row, metrics, 3)["reason"].tolist() == ["lambda=0.3"]


def test_a_substitute_is_shown_but_never_compared(run):
    artifact_run = run([(0.774, 0.9)] * 3, dataset="colored_digits")
    table = compare(printed(("cmnist", "cnc", METRICS[0], 77.4, 3.0)), load_metrics([artifact_run]), 3)
    (row,) = table.to_dict("records")
    assert row["verdict"] == "substitute data"
    assert np.isnan(row["difference"])
    assert row["ours"] == pytest.approx(77.4)
    assert row["data"] == "colored_digits"


def test_the_papers_data_at_other_settings_is_not_compared(run):
    reported = printed(("cmnist", "cnc", METRICS[0], 77.4, 3.0)).assign(setting="p_corr=0.995")
    for dataset, compared in (("cmnist+p_corr=0.9", False), ("cmnist+colors=released", True), ("cmnist", True)):
        artifact_run = run([(0.774, 0.9)] * 3, dataset=dataset)
        (row,) = compare(reported, load_metrics([artifact_run]), 3).to_dict("records")
        assert (row["verdict"] in COMPARED) == compared
        assert np.isnan(row["difference"]) != compared


def test_what_was_not_run_says_so(run):
    reported = printed(("waterbirds", "cnc", METRICS[0], 88.5, 0.3), ("cmnist", "jtt", METRICS[0], 74.5, 2.4))
    table = compare(reported, load_metrics([run([(0.7, 0.9)] * 3)]), 3)
    assert table["verdict"].tolist() == ["not run here"] * 2
    assert table["seeds"].tolist() == [0, 0]
    assert table[["ours", "difference", "data"]].isna().all(axis=None)
    assert table["reported"].tolist() == [88.5, 74.5]


def test_nothing_run_at_all_is_a_table_of_printed_numbers():
    table = compare(printed(("cmnist", "cnc", METRICS[0], 77.4, 3.0)), load_metrics([]), 3)
    assert table["verdict"].tolist() == ["not run here"]
    (row,) = format_table(table).to_dict("records")
    assert (row["reported"], row["ours"]) == ("77.4 (3.0)", "–")


def test_a_number_lost_in_print_is_neither_agreed_with_nor_not(run):
    lost = printed(("cmnist", "cnc", METRICS[0], np.nan, np.nan))
    (row,) = compare(lost, load_metrics([run([(0.7, 0.9)] * 3)]), 3).to_dict("records")
    assert (row["verdict"], row["reason"], row["seeds"]) == ("not compared", "nothing printed", 3)
    assert row["ours"] == pytest.approx(70.0) and np.isnan(row["difference"])


def test_a_printed_setting_picks_the_runs_that_have_it(run):
    row = printed(("cmnist", "cnc", METRICS[0], 70.0, 1.0))
    reported = pd.concat([row.assign(setting=f"p_corr=0.995;lambda={x}") for x in ("0.2", "0.75")])
    alone = compare(reported, load_metrics([run([(0.7, 0.9)] * 3)]), 3)  # one run, at the default
    assert alone["seeds"].tolist() == [0, 3]
    artifact_run = run([(0.6, 0.9)] * 3, paper_dataset="celeba")
    (file,) = (f"{folder}/metrics.csv" for folder in artifact_run.folders)
    table = pd.read_csv(file)
    swept = [{"lambda": x, "value": table["value"] + x, "method": f"cnc+lambda={x}"} for x in (0.2, 0.75)]
    pd.concat([table.assign(**columns) for columns in swept]).to_csv(file, index=False)
    found = compare(reported.assign(dataset="celeba"), load_metrics([artifact_run]), 3)
    assert found["ours"].tolist() == pytest.approx([80.0, 135.0])


def test_each_data_set_that_is_used_has_its_row(run):
    accuracies = {"cmnist": 0.7, "colored_digits": 0.6}
    runs = [run([(value, 0.9)] * 3, dataset=dataset) for dataset, value in accuracies.items()]
    table = compare(printed(("cmnist", "cnc", METRICS[0], 77.4, 3.0)), load_metrics(runs), 3)
    assert dict(zip(table["data"], table["ours"] / 100, strict=True)) == pytest.approx(accuracies)


def test_methods_do_not_mix(run):
    used_dataset = [run([(value, 0.9)] * 3, method=method) for value, method in ((0.7, "cnc"), (0.2, "jtt"))]
    reported = printed(("cmnist", "jtt", METRICS[0], 20.0, 1.0), ("cmnist", "cnc", METRICS[0], 70.0, 1.0))
    assert compare(reported, load_metrics(used_dataset), 3)["ours"].tolist() == pytest.approx([20.0, 70.0])


def test_chunks_of_seeds_count_together(run, tmp_path):
    artifact_run = run([(0.70, 0.9), (0.74, 0.9)])
    later = tmp_path / "runs/cmnist/cnc/s3"
    later.mkdir(parents=True)
    measured([(0.78, 0.9)]).assign(seed=2, dataset="cmnist", method="cnc").to_csv(later / "metrics.csv", index=False)
    metrics = load_metrics([replace(artifact_run, folders=(*artifact_run.folders, str(later)))])
    (row,) = compare(printed(("cmnist", "cnc", METRICS[0], 77.4, 3.0)), metrics, 3).to_dict("records")
    assert (row["seeds"], row["ours"]) == (3, pytest.approx(74.0))


def test_metrics_know_paper_data_and_groups(run):
    metrics = load_metrics([run([(0.7, 0.9)], dataset="colored_digits", sizes={"NA": 3.0, "None": 4.0})])
    assert set(metrics["paper_dataset"]) == {"cmnist"}
    assert set(metrics["data"]) == {"colored_digits"}
    assert set(metrics["paper_method"]) == {"cnc"}
    assert metrics["substitute"].all()
    assert {"", "NA", "None"} <= set(metrics["group"])


def test_a_metric_that_is_not_a_number_stays_one(run):
    metrics = load_metrics([run([(np.nan, 0.9)])])
    worst = select_test(metrics).query("metric == 'worst_group_accuracy'")
    assert worst["value"].isna().tolist() == [True]


def test_the_headline_is_the_best_step_on_the_test_split(run):
    metrics = load_metrics([run([(0.7, 0.9)])])
    assert set(select_test(metrics)["split"]) == {"test"}
    assert select_test(metrics).query("metric == 'average_accuracy'")["value"].tolist() == [0.9]


def test_runs_of_an_artifact_survive_the_command_line():
    artifact_run = ArtifactRun("cmnist", "colored_digits+draw=1", "cnc", ("results/runs/a", "results/runs/b"))
    assert parse_artifact_runs(json.dumps({"artifact_runs": [asdict(artifact_run)]})) == [artifact_run]


@pytest.mark.parametrize(
    ("mean", "std", "text"),
    [(77.42, 3.04, "77.4 (3.0)"), (77.4, np.nan, "77.4"), (0.0, 0.0, "0.0 (0.0)"), (np.nan, np.nan, "–")],
)
def test_how_a_number_is_shown(mean, std, text):
    assert format_spread(mean, std) == text


@pytest.fixture
def table(run):
    reported = printed(("cmnist", "cnc", METRICS[0], 77.4, 0.1), ("celeba", "cnc", METRICS[0], 88.8, np.nan))
    values = [(0.769, 0.90), (0.770, 0.91), (0.771, 0.92)]
    return compare(reported, load_metrics([run(values, sizes={"0, red": 200_000.0})]), 3)


def test_a_table_as_people_read_it(table):
    first, second = format_table(table).to_dict("records")
    shown = [first[name] for name in ("reported", "ours", "difference", "seeds")]
    assert shown == ["77.4 (0.1)", "77.0 (0.1)", "-0.4", "3"]
    assert (first["metric"], first["data used"], first["verdict"]) == ("worst group accuracy", "cmnist", "within 2")
    assert (second["reported"], second["ours"], second["difference"], second["data used"]) == ("88.8", "–", "", "–")


def test_rows_stand_by_data_set_with_reasons_and_columns_that_are_added_find_their_row():
    names = ["a", "b", "a", "b", "c"]
    table = pd.DataFrame({name: [np.nan] * 5 for name in NUMBER_COLUMNS}).astype(object)
    table = table.assign(paper_dataset=names, method="cnc", metric="gap", reported=[1.0, 2.0, 3.0, 4.0, np.nan])
    table = table.assign(seeds=[3, 3, 3, 0, 0], ours=[1.5, 2.0, 2.96, np.nan, np.nan], verdict="x", reason="")
    table.loc[1, ["reason", "collapsed"]] = "other settings", "1 of 4 seeds collapsed (1 to 81 %)"
    table.loc[2, ["difference", "low", "high"]] = -0.04, -0.16, 0.08
    shown = format_table(table, partial(format_spread, decimals=2)).assign(row=pd.Series(range(5)))
    assert shown[["data set", "reported", "row"]].to_numpy().tolist() == [
        ["a", "1.00", 0], ["a", "3.00", 2], ["b", "2.00", 1], ["b", "4.00", 3],
    ]  # fmt: skip
    assert shown["reason"].tolist() == ["", "", "other settings; 1 of 4 seeds collapsed (1 to 81 %)", ""]
    assert shown[["difference", "95 % interval"]].to_numpy().tolist()[1] == ["-0.04", "-0.16 to +0.08"]


@pytest.mark.parametrize(("settings", "shown"), [(("", ""), False), (("p_corr=0.9", "p_corr=0.8"), True)])
def test_settings_are_shown_where_they_tell_numbers_apart(settings, shown):
    reported = printed(*[("cmnist", "cnc", METRICS[0], 77.4, 3.0)] * 2).assign(setting=settings)
    assert ("printed setting" in format_table(compare(reported, load_metrics([]), 3))) == shown


def test_no_number_above_one_is_written_with_a_power_of_ten():
    values = {(23100, 4): "23,100", (77.412, 4): "77.41", (412.3, 2): "412", (3.14, 2): "3.1", (-1314.4, 4): "-1,314"}
    assert {key: format_digits(*key) for key in values} == values
