"""Data sets that no paper publishes settings for: training ends by validation data, and what it leaves of groups is
checked."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from helpers import OPTIONS, finish_run, result

from despur import groups
from despur.cli.show import show_runs
from despur.datasets import bring_your_own
from despur.evaluate import evaluate
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.tables import append_warnings
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.finished_runs import read_metrics
from despur.storage.group_warnings import find_remedy, find_warnings, load_warnings
from despur.storage.store import InputError, save_dataset
from despur.training.runs import train_all

DATA = "bring_your_own+name=mine"


@pytest.fixture
def brought(tmp_path):
    """Results of :func:`bring`."""
    return bring(tmp_path)


def bring(tmp_path, lacking=""):
    """Results of 240 training samples with 200 features, of which few say anything, and some wrong labels: a network
    can learn each sample by heart. The split ``lacking`` has no sample of class 1 with attribute 0."""
    rng = np.random.default_rng(0)
    y = np.arange(720) % 2
    a = np.where(rng.random(720) < 0.8, y, 1 - y)
    features = rng.normal(size=(720, 200))
    features[:, :5] += y[:, None]
    features[:, 5:10] += a[:, None]
    y = np.where(rng.random(720) < 0.15, 1 - y, y)
    split = np.repeat(["train", "val", "test"], 240)
    kept = (split != lacking) | (y == 0) | (a == 1)
    folder = tmp_path / "raw/bring_your_own"
    folder.mkdir(parents=True)
    np.savez(folder / "mine.npz", features=features[kept], y=y[kept], a=a[kept], split=split[kept])
    dataset = bring_your_own.build(resolve("datasets", DATA).points[0].settings, tmp_path / "raw")
    save_dataset(tmp_path / "results/data" / DATA, {DATA: dataset})
    return tmp_path / "results"


def run(results, method):
    """Stage 1, groups and stage 2 of a method; its result path."""
    name = resolve("methods", method, "bring_your_own").name
    at = result(results, f"runs/{DATA}/{name}/s0")
    for part, stage in (("stage1", train_all), ("groups", groups.infer)):
        source = at if part == "groups" else at.upstream("groups")[0]
        for upstream in source.upstream(part):
            stage(upstream, OPTIONS)
    train_all(at, OPTIONS)
    evaluate(at, OPTIONS)
    return at, json.loads((at.folder / "about.json").read_text())["runs"][at.runs()[0].key]


def test_stage_1_ends_before_it_has_learned_every_sample_by_heart_and_both_stages_end_early(brought):
    at, about = run(brought, "jtt+learning_rate=0.01+stage1.learning_rate=0.01")
    assert about["wrong_in_stage_1"] > 0 and list(load_warnings(at)) == []
    (first,) = at.upstream("groups")[0].upstream("stage1")
    (stage_1,) = json.loads((first.folder / "about.json").read_text())["runs"].values()
    assert 0 < stage_1["best_step"] < stage_1["steps"] < 100 * 8 and about["steps"] < 100 * 8


def test_groups_that_leave_nothing_to_work_with_are_warned_of(brought, capsys):
    settings = "stage1.epochs=60+stage1.learning_rate=0.1+stage1.evaluate_every=0+stage1.patience=0"
    at, about = run(brought, f"jtt+epochs=2+{settings}")
    assert about["wrong_in_stage_1"] == 0
    *_, last = (line for line in capsys.readouterr().out.splitlines() if line)
    warning = r"warning: .*the inferred attribute is the class of every sample: stage 1 is wrong nowhere; "
    warning += r"try stage1\.epochs=[1-9]\d? instead of 60"
    assert re.fullmatch(warning, last)
    assert any(re.fullmatch(warning, line) for line in show_runs([at.folder]))


def test_a_method_that_changes_images_is_refused_on_vectors(brought):
    with pytest.raises(SettingError, match="simclr changes images, but bring_your_own"):
        train_all(result(brought, f"runs/{DATA}/simclr/s0"), OPTIONS)


@pytest.mark.parametrize("lacking", ["train", "val"])
@pytest.mark.parametrize(
    "method",
    [f"{name}+epochs=2" for name in ("gdro", "con", "adv", "lisa", "coral", "irm", "resample", "reweight", "subg")]
    + [f"{name}+stage1.epochs=2" for name in ("dfr", "dfr_held_out", "leace", "inlp")],
)
def test_a_group_that_training_or_validation_lacks_is_left_out_there_and_tested(tmp_path, method, lacking):
    at = finish_run(bring(tmp_path, lacking), f"runs/{DATA}/{method}/s0")
    rows = read_metrics(at.folder / "metrics.csv")
    accuracies = rows[(rows["metric"] == "accuracy") & (rows["selection"] == "best")].dropna(subset="value")
    assert set(accuracies[accuracies["split"] == "test"]["group"]) >= {"0, 0", "0, 1", "1, 0", "1, 1"}
    assert "1, 0" not in set(accuracies[accuracies["split"] == lacking]["group"])
    assert np.isfinite(rows[(rows["metric"] == "worst_group_accuracy") & (rows["split"] != "train")]["value"]).all()


@pytest.mark.parametrize("content", [bytes(100), b"epoch,step\n", b""], ids=["zeros", "columns", "empty"])
def test_a_damaged_history_of_stage_1_is_named(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    inference = locate_result("results/groups/colored_digits/predictions/s0")
    file = inference.upstream("stage1")[0].folder / "history.csv"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with pytest.raises(InputError, match=rf"{file} is broken .*: delete .*, then: snakemake {file}"):
        groups.suggest_remedy(inference, inference.runs()[0], np.zeros(4), np.zeros(4))


@pytest.mark.parametrize(
    ("inferred", "warning"),
    [
        ([0, 1, 0, 1], ""),
        ([0, 1, 1, 1], "one inferred attribute in all samples of class b"),
        ([0, 0, 1, 1], "stage 1 is wrong nowhere"),
        ([1, 1, 1, 1], "each class is one group"),
        ([3, 3, 4, 4], "one inferred attribute in all samples of class a, b"),
    ],
)
def test_what_is_degenerate(inferred, warning):
    found = find_warnings(np.array(inferred), np.array([0, 0, 1, 1]), ["a", "b"])
    assert len(found) == bool(warning) and all(warning in each for each in found)


def make_history(losses, accuracies):
    """Rows of history.csv: a loss and a validation accuracy for each epoch."""
    rows = [(epoch, "loss", value) for epoch, value in enumerate(losses, start=1)]
    rows += [(epoch, "val_average_accuracy", value) for epoch, value in enumerate(accuracies, start=1)]
    return pd.DataFrame(rows, columns=["epoch", "name", "value"])


@pytest.mark.parametrize(
    ("inferred", "losses", "accuracies", "remedy"),
    [
        ([0, 0, 1, 1], [0.6, 0.3, 0.1, 0.01], [0.55, 0.8, 0.9, 0.9], "try stage1.epochs=2 instead of 4"),
        ([0, 1, 1, 1], [0.6, 0.3, 0.1, 0.01], [0.9, 0.9, 0.9, 0.9], "try stage1.epochs=1 instead of 4"),
        ([0, 0, 1, 1], [0.01], [0.9], "try stage1.learning_rate=0.001"),  # fits all in its first epoch
        ([1, 1, 1, 1], [0.7, 0.6], [0.5, 0.5], "try stage1.epochs=4: its loss still falls"),
        ([1, 1, 1, 1], [0.7, 0.7], [0.5, 0.5], "try stage1.learning_rate=0.001: its loss no longer falls"),
        ([1, 1, 0, 1], [0.7, 0.6], [0.5, 0.5], "try stage1.epochs=4: its loss still falls"),
    ],
)
def test_a_warning_ends_with_what_to_try(inferred, losses, accuracies, remedy):
    found = find_remedy(np.array(inferred), np.array([0, 0, 1, 1]), make_history(losses, accuracies), 0.01)
    assert found == remedy


def test_tables_say_what_is_degenerate_below_the_numbers(brought, tmp_path):
    at, _ = run(
        brought, "jtt+epochs=1+stage1.epochs=60+stage1.evaluate_every=0+stage1.learning_rate=0.1+stage1.patience=0"
    )
    for suffix in (".md", ".csv"):
        (tmp_path / f"table{suffix}").write_text("numbers\n")
    runs = [ArtifactRun(DATA, DATA, "jtt", (str(at.folder),))]
    append_warnings(tmp_path / "table", [*runs, *runs])
    numbers, _, *warnings = (tmp_path / "table.md").read_text().splitlines()
    assert numbers == "numbers" and len(warnings) == 1 and "stage 1 is wrong nowhere" in warnings[0]
    assert (tmp_path / "table.csv").read_text() == "numbers\n" and not (tmp_path / "table.html").exists()
