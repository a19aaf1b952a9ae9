"""The paper domain_temperature: what is selected, and that every number it shows is one of metrics.csv."""

from functools import partial

import making
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from making import row_of, write_run

from despur.evidence.runs.artifact_metrics import rows_where
from despur.orchestration import paper_folders
from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature import (
    accuracy_figures,
    figures,
    heat_maps,
    selection,
    tables,
    temperature_figures,
)
from despur.reporting.figures import COLUMN, create_panels
from despur.specs.paths import identify_run, locate_result
from despur.storage.containers import save_arrays
from despur.storage.store import Dataset, save_dataset

PAPER = paper_folders.PAPERS / "domain_temperature"
DATA = "domain_digits+draw=seed+sigma=25~50"
METHODS = {
    "standard_cl": "simclr+temperature=0.1~0.2",
    "same_domain_negatives": "same_domain_negatives",
    "mmd": "cl_mmd",
    "dann": "cl_dann",
    "domain_weighted_negatives": "domain_weighted_negatives+tau_alpha=0.05~0.125~0.5+tau_beta=0.1~1",
    "domain_weighted_pairs": "domain_weighted_pairs+tau_alpha=0.05~0.125~0.5+tau_beta=0.1~1",
    "color_jitter_oracle": "simclr+augment.color_jitter=2.5",
}
SHARES = {"8 labels": 0.01, "40 labels": 0.1, "all labels": 1.0}


def measured(rng):
    """(split, metric, group, value) of one run, as the evaluation writes them; every value differs from every other."""
    rows = [("train", "probe_accuracy_held_out_domain", share, rng.random()) for share in SHARES]
    for split in ("val", "test_id", "test_ood"):
        rows += [(split, "probe_accuracy", share, rng.random()) for share in SHARES]
        rows += [(split, "samples", "3, red", 70.0), (split, "samples", "5, red", 76.0)]
    return [*rows, ("test_id", "domain_accuracy", "", rng.random())]


@pytest.fixture
def world(tmp_path):
    """A maker of runs with made-up run folders; ``world.table`` holds all that was written."""

    class World:
        table = pd.DataFrame()

        def artifact_run(self, printed, method, artifact="figure_1", data=DATA, seeds="s0-1"):
            folder = tmp_path / "results/runs" / data / method / seeds
            result = locate_result(folder)
            rng = np.random.default_rng(len(self.table))
            rows = [
                identify_run(result, run) | {"selection": selection, "split": s, "metric": m, "group": g, "value": v}
                for run in result.runs()
                for selection in ("best", "last")
                for s, m, g, v in measured(rng)
            ]
            table = pd.DataFrame(rows)
            write_run(folder, table, (-0.01, 0.01))
            settings = pd.DataFrame(
                {**run.spec.settings, "sigma": run.data.settings["sigma"], "point": run.spec.name}
                | {"seed": run.seed, "dataset": run.data.name}
                for run in result.runs()
            )
            columns = ["dataset", "method", "seed", "split", "metric", "group", "value"]
            known = rows_where(table, selection="best")[columns]
            known = known.merge(settings, left_on=["dataset", "method", "seed"], right_on=["dataset", "point", "seed"])
            self.table = pd.concat([self.table, known.assign(paper_method=printed)], ignore_index=True)
            return ArtifactRun("cmnist_3v5", data, printed, (str(folder),), artifact, "domain_temperature")

        def sweep(self):
            return [self.artifact_run(*pair) for pair in METHODS.items()]

        def domain_weighted(self):
            """Those of the two methods of the paper."""
            return [run for run in self.sweep() if run.paper_method.startswith("domain_weighted")]

        def discriminate_batches(self):
            """Table 9's further runs of the methods with a discriminator."""
            names = [name for name in METHODS if name.startswith("domain_weighted")]
            return [self.artifact_run(name, f"{name}+discriminator=batch", "table_9") for name in names]

        def mean(self, printed, split, metric, group, **where):
            """The mean over seeds of what was written for one setting."""
            where = {"paper_method": printed, "split": split, "metric": metric, "group": group, **where}
            found = self.table[np.logical_and.reduce([self.table[key] == value for key, value in where.items()])]
            assert len(found) == 2 and found["seed"].nunique() == 2, where
            return found["value"].mean()

        def best(self, printed, sigma, split="val", metric="probe_accuracy", **where):
            """The setting with the largest mean, found the slow way."""
            points = rows_where(self.table, paper_method=printed, sigma=sigma)["point"].unique()
            at = {"sigma": sigma, **where}
            return max(points, key=lambda point: self.mean(printed, split, metric, "8 labels", point=point, **at))

    return World()


make_table = partial(making.make_table, tables)


SPLITS = {
    "test_ood_accuracy": ("test_ood", "probe_accuracy"),
    "test_id_accuracy": ("test_id", "probe_accuracy"),
    "domain_test_id_accuracy": ("test_id", "domain_accuracy"),
    "validation_accuracy": ("val", "probe_accuracy"),
}


# selection


def sweep_of(scores, **more):
    """Made-up rows: ``scores`` of each setting are values by seed of the split that selects; on test data the order is
    reversed."""
    columns = ["method", "seed", "split", "metric", "group", "value"]
    rows = []
    for method, values in scores.items():
        for seed, value in enumerate(values):
            for split, own in (("val", value), ("test_ood", 1 - value), ("test_id", 1 - value)):
                rows.append((method, seed, split, "probe_accuracy", "1%", own))
                rows.append((method, seed, split, "probe_accuracy", "100%", 1 - own))
            rows.append((method, seed, "train", "probe_accuracy_held_out_domain", "1%", value**2))
    head = {"paper_dataset": "cmnist_3v5", "used_dataset": "x", "data": "x", "substitute": True, "selection": "best"}
    head |= {"candidate": True, "paper_method": "ours", "sigma": 50.0, "discriminator": "", "projector": "none"}
    return pd.DataFrame(rows, columns=columns).assign(**head | more)


def test_the_best_mean_over_seeds_on_validation_data_is_selected():
    select = selection.select_settings
    runs = sweep_of({"a": [0.9, 0.5], "b": [0.8, 0.7], "c": [0.1, 0.2]})  # the mean decides, not the best seed
    found = select(runs)
    assert found["method"].tolist() == ["b"] and found["score"].tolist() == pytest.approx([0.75])
    assert select(runs, "oracle")["method"].tolist() == ["c"]
    # squares: .81 and .25 against .64 and .49
    assert select(runs, "held_out_domain")["method"].tolist() == ["b"]
    assert select(sweep_of({"a": [0.5, 0.5], "b": [0.5, 0.5]}))["method"].tolist() == ["a"]


def test_settings_with_fewer_seeds_than_others_are_neither_selected_nor_averaged():
    runs = sweep_of({"a": [0.6, 0.5, 0.1], "b": [0.5, 0.5], "c": [0.9]})  # c may have had the better seed
    runs["candidate"] = runs["method"] != "c"
    assert selection.select_settings(runs)["method"].tolist() == ["a"]
    table = rows_where(selection.average_settings(runs), split="val", group="1%")
    assert table["value"].tolist() == pytest.approx([0.55, 0.5])


def test_settings_that_share_no_seed_are_all_considered():
    runs = sweep_of({"a": [0.6], "b": [0.5, 0.9]})
    runs = runs[(runs["method"] == "a") | (runs["seed"] == 1)]
    assert selection.select_settings(runs)["method"].tolist() == ["b"]


def test_selection_is_for_each_sigma_method_and_discriminator():
    first, second = {"a": [0.9], "b": [0.1]}, {"a": [0.1], "b": [0.9]}
    others = ({"sigma": 25.0}, {"paper_method": "other"}, {"discriminator": "batch"})
    runs = pd.concat([sweep_of(first), *(sweep_of(second, **more) for more in others)])
    assert selection.select_settings(runs)["method"].tolist() == ["a", "b", "b", "b"]


@pytest.mark.parametrize("rule", ["validation", "held_out_domain"])
def test_selection_never_sees_test_data_nor_other_shares_of_labels(rule):
    runs = sweep_of({"a": [0.9, 0.5], "b": [0.8, 0.7]})
    spoilt = runs.copy()
    other = spoilt["split"].isin(["test_ood", "test_id"]) | (spoilt["group"] != "1%")
    spoilt.loc[other, "value"] = np.random.default_rng(0).random(other.sum())
    select = selection.select_settings
    assert select(spoilt, rule).equals(select(runs, rule))
    assert select(runs[~other], rule).equals(select(runs, rule))


# tables


@pytest.mark.parametrize("name", ["table_1", "table_2"])
def test_printed_numbers_stand_beside_those_of_the_selected_settings(world, tmp_path, name):
    table, _ = make_table(name, world.sweep(), tmp_path)
    assert len(table) == len(pd.read_csv(PAPER / f"reported/{name}.csv")) and set(table["seeds"]) == {2}
    assert set(table["verdict"]) == {"substitute data"} and set(table["data"]) == {"domain_digits"}
    for row in table.itertuples():
        split, metric = SPLITS[row.metric]
        fraction = float(row.setting.split("label_fraction=")[1])
        (share,) = (own for own, value in SHARES.items() if value == fraction)
        point = world.best(row.method, 50.0)
        group = "" if metric == "domain_accuracy" else share
        own = world.mean(row.method, split, metric, group, point=point, sigma=50.0)
        assert row.ours == pytest.approx(100 * own), row
    asked = {"setting": "sigma=50;label_fraction=0.01", "metric": "test_ood_accuracy"}
    assert row_of(table, method="standard_cl", **asked)["reported"] == 78.4


def test_the_grids_are_complete_and_mark_what_was_selected(world, tmp_path):
    table, text = make_table("table_3_8", world.domain_weighted(), tmp_path)
    known = pd.concat([pd.read_csv(PAPER / f"reported/table_{i}.csv") for i in range(3, 9)])
    assert len(table) == len(known) == 240 and (table["seeds"] > 0).sum() == 6 * 6
    for row in table[table["seeds"] > 0].itertuples():
        split, metric = SPLITS[row.metric]
        where = {"tau_alpha": row.tau_alpha, "tau_beta": row.tau_beta, "sigma": 50.0}
        assert row.ours == pytest.approx(100 * world.mean(row.method, split, metric, "8 labels", **where))
    for method in ("domain_weighted_negatives", "domain_weighted_pairs"):
        mine = table[(table["method"] == method) & table["selected"]]
        points = rows_where(world.table, paper_method=method, point=world.best(method, 50.0))
        selected, best = (set(zip(own["tau_alpha"], own["tau_beta"], strict=True)) for own in (mine, points))
        assert selected == best and len(mine) == 3
    assert "92.3* / " in text  # the paper's own selected cell


def test_settings_that_the_paper_did_not_try_are_shown_too(world, tmp_path):
    artifact_runs = [world.artifact_run("domain_weighted_pairs", "domain_weighted_pairs+tau_alpha=0.3~0.5")]
    table, _ = make_table("table_3_8", artifact_runs, tmp_path)
    assert len(table) == 240 + 3
    extra = table[table["tau_alpha"] == 0.3]
    assert extra["reported"].isna().all() and set(extra["reason"]) == {"nothing printed"}
    own = world.mean("domain_weighted_pairs", "val", "probe_accuracy", "8 labels", tau_alpha=0.3, sigma=50.0)
    assert row_of(extra, metric="validation_accuracy")["ours"] == pytest.approx(100 * own)


def test_discriminators_are_told_apart(world, tmp_path):
    artifact_runs = [*world.sweep(), *world.discriminate_batches()]
    table, _ = make_table("table_9", artifact_runs, tmp_path)
    run = table[table["seeds"] > 0]
    assert set(run["setting"].str.split(";").str[0]) == {"sigma=25", "sigma=50"} and len(run) == 2 * 2 * 2 * 3
    for row in run[run["setting"].str.endswith("batch")].itertuples():
        split, metric = SPLITS[row.metric]
        group = "" if metric == "domain_accuracy" else "8 labels"
        where = {"discriminator": "batch", "sigma": float(row.setting.split(";")[0][6:])}
        assert row.ours == pytest.approx(100 * world.mean(row.method, split, metric, group, **where))


def test_other_rules_of_selection(world, tmp_path):
    table, text = make_table("table_selection", world.sweep(), tmp_path)
    assert set(table["verdict"]) == {"the paper's rule", "not in the paper", "selected on test data: no fair number"}
    assert len(table) == 3 * 2 * 7 * 4
    for rule, (split, metric) in selection.RULES.items():
        point = world.best("domain_weighted_pairs", 25.0, split, metric)
        row = row_of(table, sigma=25.0, paper_method="domain_weighted_pairs", rule=rule, metric="test_ood_accuracy")
        assert row["method"] == point and row["seeds"] == 2
        own = world.mean("domain_weighted_pairs", "test_ood", "probe_accuracy", "8 labels", point=point, sigma=25.0)
        assert row["ours"] == pytest.approx(100 * own)
    assert "no fair number" in text


def test_open_choices_stand_side_by_side(world, tmp_path):
    method = "domain_weighted_pairs+negatives=both_views~other_view+tau_min=0.01~0.05"
    data = "domain_digits+coloring=multiply~replace+draw=seed"
    artifact_run = world.artifact_run("domain_weighted_pairs", method, "table_choices", data=data)
    table, text = make_table("table_choices", [artifact_run], tmp_path)
    run = table[table["seeds"] > 0]
    assert len(run) == 2 * 2 * 2 * 4 and table[table["seeds"] == 0]["paper_method"].tolist() == ["standard_cl"]
    of_both = {"data": "domain_digits+coloring=replace", "choices": "negatives=both_views, tau_min=0.01"}
    row = row_of(run, **of_both, metric="test_id_accuracy")
    own = world.table[world.table["dataset"].str.contains("replace")]
    known = rows_where(own, negatives="both_views", tau_min=0.01, split="test_id", group="8 labels")
    assert row["ours"] == pytest.approx(100 * known["value"].mean()) and len(known) == 2
    assert text.count("domain_weighted_pairs") == 8
    both = "negatives=both_views, tau_min=0.01"
    assert set(run["choices"]) == {"defaults", "negatives=both_views", "tau_min=0.01", both}


def test_short_runs_on_the_paper_s_data_are_not_compared(world, tmp_path):
    artifact_runs = [
        world.artifact_run("standard_cl", "simclr+epochs=60", data="cmnist_3v5+draw=seed"),
        world.artifact_run("dann", "cl_dann", data="cmnist_3v5+draw=seed+sigma=25~50"),
    ]
    for artifact_run in artifact_runs:
        file = f"{artifact_run.folders[0]}/metrics.csv"
        table = pd.read_csv(file, keep_default_na=False)
        table.assign(group=table["group"].replace(selection.SHARES)).to_csv(file, index=False)
    table, _ = make_table("table_1", artifact_runs, tmp_path)
    assert set(table[table["method"] == "standard_cl"]["reason"]) == {"epochs=60"}
    dann = table[table["method"] == "dann"]
    assert set(dann["verdict"]) == {"other settings"}
    assert set(dann["reason"]) == {"the paper selects temperature, weight from a grid and prints no value"}


def data(name):
    """Two training samples and one of each other split; inks as bright as their number."""
    splits = ["train", "train", "val", "test_id", "test_ood"]
    table = pd.DataFrame({"split": splits * 30, "y": 0, "a": [0, 1, 2, 0, 3] * 30, "original": range(150)})
    images = np.tile(np.arange(150, dtype=np.uint8)[:, None, None, None], (1, 2, 2, 3)) // np.array([1, 2, 3], np.uint8)
    about = {"classes": ["3", "5"], "attributes": ["red", "blue", "purple", "green"], "attribute": "domain"}
    about |= {"select": "val", "headline": "test_ood"}
    about["label_fractions"] = {"8 labels": 8, "40 labels": 40, "all labels": 60}
    return Dataset(images, table, about)


@pytest.fixture
def with_data(world, tmp_path):
    """Runs whose data is there."""
    artifact_runs = world.sweep()
    names = [f"domain_digits{draw}+sigma={sigma}" for draw in ("", "+draw=1") for sigma in ("25", "50")]
    canonical = {name.removesuffix("+sigma=50"): data(name) for name in names}
    save_dataset(tmp_path / "results/data/domain_digits+draw=0~1+sigma=25~50", canonical)
    return artifact_runs


def test_the_numbers_of_the_text(world, with_data, tmp_path):
    table, text = make_table("prose", with_data, tmp_path)
    assert len(table) == len(pd.read_csv(PAPER / "reported/prose.csv"))
    ours = {row.setting: row.ours for row in table.itertuples() if row.metric in ("n_examples", "n_labelled_examples")}
    assert ours["source=appendix_e"] == 150 and ours["split=train"] == 60 and ours["split=test_ood"] == 30
    assert ours["split=train;label_fraction=0.1"] == 40
    means = [
        world.mean(name, "test_id", "probe_accuracy", "8 labels", point=point, sigma=50.0)
        for name in METHODS
        if name.startswith("domain_weighted")
        for point in world.table[world.table["paper_method"] == name]["point"].unique()
    ]
    share = np.mean(np.array(means) > 0.9)
    assert table.set_index("metric").loc["test_ood_accuracy_threshold", "verdict"] == "substitute data"
    assert f"on Test-ID {share:.3g}, of 12" in text and "often_best_ood_above_25" in text


# claims


def temperatures(artifact_run, first, last):
    """Diagnostics of every run of a folder: percentiles at a distance from tau_alpha, in the first and in the last
    epoch."""
    result = locate_result(artifact_run.folders[0])
    values = {}
    for run in result.runs():
        at = [np.full(101, run.spec.settings["tau_alpha"] - distance, np.float32) for distance in (first, last)]
        values[f"{run.key}/diagnostics/temperature"] = np.stack(at)
    save_arrays(result.folder / "outputs.safetensors", values)


def test_claims_read_selected_runs_means_over_settings_and_temperatures(world, tmp_path):
    artifact_runs = [*world.sweep(), *world.discriminate_batches()]
    projectors = "simclr+projector=linear~mlp+projector_dim=4~16"
    artifact_runs.append(world.artifact_run("standard_cl", projectors, "figure_5", "domain_digits+draw=seed+sigma=25"))
    temperatures(next(run for run in artifact_runs if run.paper_method == "domain_weighted_pairs"), 0.05, 0.01)
    table, _ = make_table("claims", artifact_runs, tmp_path)
    table = table[table["verdict"] != "not executed"]
    enough = ~table["reason"].str.contains("of only")  # claims that ask for more settings than were made up here
    assert set(table["verdict"][enough]) <= {"not seen", "not run here"}, table[["claim", "reason"]].to_string()
    assert enough.sum() > len(table) - 4
    assert set(table["data"]) == {"domain_digits+draw=seed"} and set(table["seeds"].dropna()) == {2}
    baselines = ("standard_cl", "same_domain_negatives", "mmd", "dann")
    ours = ("domain_weighted_negatives", "domain_weighted_pairs")

    def chosen(name, split="test_ood", metric="probe_accuracy", group="8 labels", sigma=50.0):
        where = {"paper_method": name, "point": world.best(name, sigma), "sigma": sigma}
        where |= {"discriminator": "global"} if name.startswith("domain_weighted") else {}
        return rows_where(world.table, split=split, metric=metric, group=group, **where)["value"].mean()

    def contrasts(name):
        """The estimates of a claim's contrasts, as its row lists them."""
        each = row_of(table, claim=name)["contrasts"].split("; ")
        return {text.partition(" (")[0]: float(text.rpartition(": ")[2].split(" ")[0]) for text in each}

    expected = {f"{a} - {b}": chosen(a) - chosen(b) for a in ours for b in baselines}
    assert contrasts("beats_baselines_on_ood") == pytest.approx(expected, rel=0.01)
    domain = {name: chosen(name, "test_id", "domain_accuracy", "") for name in METHODS}
    expected = {f"standard_cl - {name}": domain["standard_cl"] - domain[name] for name in ours}
    assert contrasts("lowers_domain_accuracy") == pytest.approx(expected, rel=0.01)
    assert row_of(table, claim="temperatures_converge")["estimate"] == pytest.approx(np.log(0.05 / 0.01), rel=1e-4)
    rows = rows_where(world.table, sigma=25, split="test_id", metric="domain_accuracy")
    means = rows[rows["paper_method"] == "standard_cl"].groupby("projector")["value"].mean()
    expected = {f"projector={name} - projector=none": means[name] - means["none"] for name in ("linear", "mlp")}
    found = contrasts("projectors_raise_domain_accuracy")
    assert {key.replace("standard_cl ", ""): value for key, value in found.items()} == pytest.approx(expected, rel=0.01)
    each = rows[rows["projector"] != "none"].groupby(["projector", "projector_dim"])["value"].mean().unstack()
    found = row_of(table, claim="domain_accuracy_rises_with_projectors")["contrasts"].split("; ")
    rises = [float(text.rpartition(": ")[2].split(" ")[0]) for text in found]
    assert rises == pytest.approx([each.loc[name, 16] - each.loc[name, 4] for name in ("linear", "mlp")], rel=0.01)


# figures


def drawn(function, artifact_runs, output):
    """The csv beside a figure, once the figure has been made in all its forms."""
    function(artifact_runs, output)
    assert output.with_suffix(".png").read_bytes()[:4] == b"\x89PNG" and output.with_suffix(".pdf").exists()
    return pd.read_csv(output.with_suffix(".csv"), float_precision="round_trip", keep_default_na=False)


def test_figure_1_shows_the_selected_settings(world, tmp_path):
    shown = drawn(figures.ARTIFACTS["figure_1"], world.sweep(), tmp_path / "figure_1")
    assert len(shown[shown["metric"] != "validation_accuracy"]) == 7 * 2 * 2 * 3
    for (method, sigma, metric), part in shown.groupby(["paper_method", "sigma", "metric"]):
        split, own = SPLITS[metric]
        group = "" if own == "domain_accuracy" else "8 labels"
        point = world.best(method, sigma)
        assert set(part["method"]) == {point}
        mean = world.mean(method, split, own, group, point=point, sigma=sigma)
        assert part["accuracy"].mean() == pytest.approx(100 * mean)


def test_figure_4_shows_every_setting_and_which_is_selected(world, tmp_path):
    shown = drawn(figures.ARTIFACTS["figure_4"], world.sweep(), tmp_path / "figure_4")
    ood = shown[shown["metric"] == "test_ood_accuracy"]
    assert len(ood) == 2 + 1 + 1 + 1 + 6 + 6 + 1 and ood["selected"].sum() == 7
    for row in ood.itertuples():
        own = world.mean(row.paper_method, "test_ood", "probe_accuracy", "8 labels", point=row.method, sigma=50.0)
        assert row.accuracy == pytest.approx(100 * own)
        assert row.selected == (row.method == world.best(row.paper_method, 50.0))


def test_figure_5_shows_projectors_at_ten_percent(world, tmp_path):
    artifact_runs = [world.artifact_run("standard_cl", METHODS["standard_cl"])]
    sweep = "simclr+projector=linear~mlp+projector_dim=4~16+temperature=0.1~0.2"
    artifact_runs += [world.artifact_run("standard_cl", sweep, "figure_5", data="domain_digits+draw=seed+sigma=25")]
    shown = drawn(figures.ARTIFACTS["figure_5"], artifact_runs, tmp_path / "figure_5")
    heads = ["none", "linear, 4", "linear, 16", "mlp, 4", "mlp, 16"]
    assert shown.groupby("head").size().to_dict() == dict.fromkeys(heads, 2 * 4)
    row = row_of(shown, head="linear, 4", temperature=0.2, metric="test_id_accuracy")
    where = {"projector": "linear", "projector_dim": 4, "temperature": 0.2, "sigma": 25.0}
    own = world.mean("standard_cl", "test_id", "probe_accuracy", "40 labels", **where)
    assert row["accuracy"] == pytest.approx(100 * own)


def test_labels_and_bars_of_projectors_stand_apart():
    order = [f"{kind}, {dim}" for kind in ("linear", "mlp") for dim in (2, 4, 8, 16, 32)]
    figure, (axis, *_) = create_panels(3, 2 * COLUMN, 2.2)
    accuracy_figures.plot_projectors(axis, pd.DataFrame({"head": order, "accuracy": range(10)}), order)
    figure.canvas.draw()
    spacing = axis.get_window_extent().width / figure.dpi * 72 / len(order)
    assert max(line.get_markersize() for line in axis.lines) < spacing
    labels = [(label.get_text(), label.get_ha()) for label in axis.get_xticklabels()]
    assert labels == [(name, "right") for name in order]
    plt.close(figure)


def test_epochs_are_whole():
    figure, (axis,) = create_panels(1, 2 * COLUMN, 2.2)
    table = pd.DataFrame({"epoch": range(1, 6), "p5": 0.1, "p50": 0.2, "p95": 0.3})
    temperature_figures.plot_band(axis, table)
    assert all(tick == int(tick) for tick in axis.get_xticks())
    plt.close(figure)


def test_figures_6_and_7_show_the_recorded_percentiles(world, tmp_path):
    artifact_run = world.artifact_run("domain_weighted_pairs", METHODS["domain_weighted_pairs"])
    temperatures(artifact_run, 0.05, 0.01)
    shown = drawn(figures.ARTIFACTS["figure_6_7"], [artifact_run], tmp_path / "figure_6")
    assert (tmp_path / "figure_7.png").stat().st_size > 5000 and pd.read_csv(tmp_path / "figure_7.csv").equals(shown)
    assert shown["epoch"].tolist() == [1, 2, 1, 2] and set(shown["seed"]) == {0}
    assert shown["p5"].tolist() == pytest.approx([0.075, 0.115] * 2)


def test_without_app_h_s_temperatures_figures_6_and_7_are_empty(world, tmp_path):
    artifact_run = world.artifact_run("domain_weighted_pairs", "domain_weighted_pairs")
    assert not len(drawn(figures.ARTIFACTS["figure_6_7"], [artifact_run], tmp_path / "figure_6"))


def test_the_heat_maps_show_printed_and_measured_grids(world, tmp_path):
    shown = drawn(figures.ARTIFACTS["figure_grids"], world.domain_weighted(), tmp_path / "figure_grids")
    metrics = ["validation_accuracy", "test_ood_accuracy", "test_id_accuracy"]
    mine = rows_where(shown, source="this run", metric=metrics)
    assert (shown["source"] == "printed").sum() == 240 and len(mine) == 2 * 6 * 3
    assert shown["paper_method"].notna().all() and "printed" not in shown
    for row in mine.itertuples():
        point = {"tau_alpha": float(row.tau_alpha), "tau_beta": float(row.tau_beta), "sigma": 50.0}
        own = world.mean(row.paper_method, *SPLITS[row.metric], "8 labels", **point)
        assert row.accuracy == pytest.approx(100 * own)


def test_a_small_heat_map_names_every_level():
    levels = np.arange(1, 13) / 100
    grid = pd.DataFrame([(a, b, 70.0, False) for a in levels for b in levels])
    grid.columns = ["tau_alpha", "tau_beta", "accuracy", "selected"]
    figure, axis = plt.subplots(figsize=(1, 1))
    heat_maps.plot_heat_map(axis, grid, "test")
    assert [label.get_text() for label in axis.get_yticklabels()] == [f"{level:g}" for level in levels]
    assert [label.get_text() for label in axis.get_xticklabels()] == [f"{level:g}" for level in levels]
    assert axis.get_ylim() == (12, 0) and [text.get_text() for text in axis.texts] == ["70"] * 144
    plt.close(figure)


def test_figures_of_the_data(with_data, tmp_path):
    shown = drawn(figures.ARTIFACTS["figure_2"], with_data[:1], tmp_path / "figure_2")
    assert shown.groupby("split").size().to_dict() == dict.fromkeys(["train", "val", "test_id", "test_ood"], 30)
    assert set(shown["domain"][shown["split"] == "test_ood"]) == {"green"} and set(shown["data"]) == {"domain_digits"}
    colors = drawn(figures.ARTIFACTS["figure_3"], with_data[:1], tmp_path / "figure_3")
    assert set(colors["sigma"]) == {25.0, 50.0}
    for row in colors.itertuples():
        assert (row.red, row.green, row.blue) == (row.sample, row.sample // 2, row.sample // 3)
