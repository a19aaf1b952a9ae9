"""Recording finished runs: what a record says, what it may weigh, what is refused."""

import hashlib
import json
import re
import shutil
from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import OPTIONS, tiny_dataset
from records import git

from despur import evaluate
from despur.cli.record import record_folders, record_runs
from despur.evidence.ledger import files as ledger
from despur.evidence.ledger import measuring, record_checks
from despur.evidence.ledger import recorded as recorded_rows
from despur.evidence.ledger import recording as record
from despur.evidence.ledger.cards import read_card
from despur.evidence.runs import run_files
from despur.metrics.codes import TOP_CLASSES, encode_logits, encode_predicted
from despur.metrics.predictions import ACCURACY, Prediction
from despur.metrics.resampling import counts
from despur.specs import declarations
from despur.specs.paths import Run, locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage import commits
from despur.storage.containers import Container
from despur.storage.store import Dataset, InputError, load_dataset, save_dataset
from despur.training import runs

ERM = "runs/colored_digits/erm+batch_size=20+epochs=2/s0-1"
SIMCLR = "runs/colored_digits/simclr+batch_size=20+epochs=1+temperature=0.1~0.2/s0"
COMMIT = "c" * 40


def clean(patch, **state):
    """Let git say that the code is as committed, or what else is said."""
    patch.setattr(commits, "state", lambda: {"commit": COMMIT, "clean": True, **state})


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    clean(monkeypatch)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Evaluated runs on made-up data, a part of whose training samples has labels: with logits, and without."""
    root = tmp_path_factory.mktemp("results")
    dataset = tiny_dataset(held_out=40)
    dataset.table["label_rank"] = np.where(dataset.table["split"] == "train", np.arange(len(dataset.y)), -1)
    dataset.about |= {"label_fractions": {"few": 30, "all": 60}, "licence": "CC0", "sha256": {"raw.gz": "ab12"}}
    save_dataset(root / "data/colored_digits", {"colored_digits": dataset})
    with pytest.MonkeyPatch.context() as patch:
        clean(patch)
        for path in (ERM, SIMCLR):
            runs.train_all(locate_result(root / path), OPTIONS)
            evaluate.evaluate(locate_result(root / path), Namespace())
    return root


@pytest.fixture
def copy(finished, tmp_path):
    """Results that a test may spoil."""
    return shutil.copytree(finished, tmp_path / "results")


def recorded(root, path, folder):
    """The records of a folder."""
    lines = list(record_folders([root / path], folder=folder))
    assert all(line.startswith("recorded") for line in lines)
    records, faults = ledger.load(folder)
    assert not faults and len(lines) == len(records)
    return records


def edit_about(root, path, **changes):
    file = root / path / "about.json"
    about = {key: value for key, value in json.loads(file.read_text()).items() if key != "checksum"}
    file.write_text(json.dumps(about | changes))


@pytest.mark.parametrize("path", [ERM, SIMCLR])
def test_a_record_holds_all_metrics_of_a_run_and_what_made_it(finished, tmp_path, path):
    result = locate_result(finished / path)
    table = record.read_metrics(result.folder / "metrics.csv")
    about = json.loads((result.folder / "about.json").read_text())
    records = recorded(finished, path, tmp_path)
    assert sorted(each.find_run().key for each in records) == sorted(run.key for run in result.runs())
    for each in records:
        run, content = each.find_run(), each.content
        own = table[(table["method"] == run.spec.name) & (table["seed"] == run.seed)]
        for selection, part in own.groupby("selection"):
            expected = part.set_index(["split", "metric", "group"])["value"].to_dict()
            np.testing.assert_equal(each.metrics()[selection], expected)
        assert content["commit"] == COMMIT and content["code"] == about["specification"]["code"]
        assert content["checksums"] == {"raw.gz": "ab12"}
        assert content["run"] == about["runs"][run.key] and content["versions"] == about["versions"]
        assert content["machine"]["processor"] and content["machine"]["peak_memory_mb"] > 1
        assert each.path.stat().st_size < 60_000


def test_a_record_names_the_weights_that_its_run_was_made_with(copy, tmp_path, monkeypatch):
    assert all("weights" not in each.content for each in recorded(copy, ERM, tmp_path / "without"))
    weights = {"hf/me--dinov2/model.safetensors": 64 * "a"}
    about = json.loads((copy / ERM / "about.json").read_text())
    edit_about(copy, ERM, specification=about["specification"] | {"weights": weights})
    monkeypatch.setattr(record, "means_the_same", lambda *_: True)
    assert all(each.content["weights"] == weights for each in recorded(copy, ERM, tmp_path / "with"))


@pytest.mark.parametrize(("method", "applied"), [("wise_ft+alpha=0", True), ("linear_classifier", False)])
def test_a_record_names_the_features_that_a_frozen_encoder_gave(method, applied, tmp_path):
    result = locate_result(tmp_path / f"results/runs/waterbirds+fit=clip/{method}/s0")
    assert not record.identify_features(result, result.runs()[0])
    (base,) = result.upstream("stage1")
    base.folder.mkdir(parents=True)
    (base.folder / "outputs.safetensors").write_bytes(b"features")
    features = {f"stage1/{base.runs()[0].key}": hashlib.sha256(b"features").hexdigest()}
    assert record.identify_features(result, result.runs()[0]) == (features if applied else {})


def test_predictions_are_those_of_the_kept_outputs(finished, tmp_path):
    dataset = load_dataset(finished / "data/colored_digits", "colored_digits")
    outputs = Container(finished / ERM / "outputs.safetensors")
    rows = dataset.rows("test")
    for each in recorded(finished, ERM, tmp_path):
        labels = read_card(each.card)
        assert (labels.y[labels.rows("test")] == dataset.y[rows]).all()
        assert (labels.groups[labels.rows("test")] == dataset.groups[rows]).all() and labels.test_splits == ["test"]
        predicted = (dataset.y[rows] + each.predictions()["test", ACCURACY, ""]) % 5
        assert (predicted == outputs[f"{each.find_run().key}/best/logits"][rows].argmax(axis=1)).all()


def test_metrics_on_bootstrap_samples_follow_from_predictions_or_are_drawn(finished, tmp_path):
    result = locate_result(finished / SIMCLR)
    dataset = load_dataset(result.data.folder, "colored_digits")
    drawn = pd.read_parquet(result.folder / "resamples.parquet")
    for path in (SIMCLR, ERM):
        drawn = pd.read_parquet(finished / path / "resamples.parquet")
        columns = [name for name in drawn if name.isdigit()]
        originals = dataset.table["original"].to_numpy()[dataset.rows("test")]
        weights = counts("colored_digits", originals, len(columns))
        for each in recorded(finished, path, tmp_path / path):
            run, labels = each.find_run(), read_card(each.card)
            own = drawn[(drawn["method"] == run.spec.name) & (drawn["seed"] == run.seed)]
            own = own.set_index(["split", "metric", "group"])[columns]
            found = each.bootstrap_values()
            for key, codes in each.predictions().items():
                for metric, group, values in record_checks.score(labels, Prediction(*key, codes), weights):
                    if metric != "samples":
                        found["test", metric, group] = values[1:]
            read = [key for key in own.index if measuring.is_read(key, 5)]
            assert read and set(read) <= set(found)
            for key in found:
                np.testing.assert_allclose(found[key], own.loc[key], rtol=2e-3, atol=2e-3, err_msg=str(key))


@pytest.mark.parametrize(
    ("metric", "group", "classes", "read"),
    [
        ("gap", "", 100, True),
        ("accuracy", "3 on red", 5, False),
        ("probe_accuracy", "10%", 100, True),
        ("class_average_accuracy", "3", TOP_CLASSES, True),
        ("class_average_accuracy", "3", TOP_CLASSES + 1, False),
    ],
)
def test_bootstrap_values_are_kept_of_what_tables_read(metric, group, classes, read):
    assert measuring.is_read(("test", metric, group), classes) == read


def test_what_is_best_and_last_is_kept_once(finished, tmp_path):
    kept = {tuple(each.content["metrics"]) for each in recorded(finished, SIMCLR, tmp_path)}
    assert kept == {("best",)}


def test_the_same_run_gives_the_same_file_and_a_card_is_shared(finished, tmp_path):
    for folder in ("one", "other", "other"):
        recorded(finished, ERM, tmp_path / folder)
    folders = (tmp_path / "one", tmp_path / "other")
    first, second = ({file.relative_to(each): file.read_bytes() for file in each.rglob("*.json")} for each in folders)
    assert first == second and sum(file.name.startswith("card-") for file in first) == 1 and len(first) == 3


def test_where_labels_are_withheld_there_are_draws_only(finished, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "withholds_labels", lambda data: True)
    for each in recorded(finished, ERM, tmp_path):
        assert each.card is None and not each.predictions()
        kept = {key[1:] for key in each.bootstrap_values() if key[0] == "test"}
        assert {("worst_group_accuracy", ""), ("probe_accuracy", "few"), ("gap", "")} <= kept
    assert not list(tmp_path.rglob("card-*"))


@pytest.mark.parametrize("name", ["celeba", "hate_speech", "hate_speech_tweets", "bring_your_own"])
def test_some_licenses_forbid_to_pass_labels_on(name):
    assert record.withholds_labels(name)
    assert not record.withholds_labels("cmnist_3v5")


# what is refused


def refused(root, path, folder, match, **options):
    with pytest.raises(SettingError, match="1 of 1 folders were refused"):
        lines = []
        for line in record_folders([root / path], folder=folder, **options):
            lines.append(line)
    assert len(lines) == 1 and match in lines[0] and lines[0].startswith("refused"), lines
    assert not list(folder.rglob("s*.json"))


@pytest.mark.parametrize("file", record.FILES)
def test_an_unfinished_folder_is_refused(copy, tmp_path, file):
    (copy / ERM / file).unlink()
    refused(copy, ERM, tmp_path / "ledger", f"is not finished: it has no {file}")


def test_a_folder_that_is_refused_does_not_stop_the_others(copy, tmp_path):
    (copy / ERM / "metrics.csv").unlink()
    lines = []
    with pytest.raises(SettingError, match="1 of 2"):
        for line in record_folders([copy / ERM, copy / SIMCLR], folder=tmp_path / "ledger"):
            lines.append(line)
    assert [line.split()[0] for line in lines] == ["refused", "recorded", "recorded"]


def test_code_that_is_in_no_commit_is_refused_where_it_trained_and_where_it_records(copy, tmp_path, monkeypatch):
    edit_about(copy, ERM, clean=False)
    refused(copy, ERM, tmp_path / "ledger", "code that is in no commit")
    for state, told in (({"clean": False}, "commit or stash"), ({"commit": None, "clean": False}, "no git repository")):
        clean(monkeypatch, **state)
        with pytest.raises(SettingError, match=told):
            list(record_folders([copy / SIMCLR], folder=tmp_path / "ledger"))
    assert not (tmp_path / "ledger").exists()


def test_an_earlier_stage_whose_code_is_in_no_commit_is_refused(copy, tmp_path, monkeypatch):
    earlier = copy / "stage1/colored_digits/erm/s0"
    earlier.mkdir(parents=True)
    (earlier / "about.json").write_text(json.dumps({"commit": COMMIT, "clean": False}))
    monkeypatch.setattr(record, "list_upstream", lambda result, run: [("stage1", earlier, "colored_digits/erm/s0")])
    refused(copy, ERM, tmp_path / "ledger", "stage1/colored_digits/erm/s0 was made by code that is in no commit")


def test_code_of_extensions_and_older_evaluations_are_refused(copy, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "list_code", lambda result: {tmp_path / "methods/mine.py"})
    refused(copy, ERM, tmp_path / "ledger", "methods/mine.py is an extension")
    monkeypatch.undo()
    clean(monkeypatch)
    monkeypatch.setattr(record, "digest_evaluation", lambda result: "another")
    refused(copy, ERM, tmp_path / "ledger", "evaluate it anew")


def test_metrics_of_other_outputs_are_refused(copy, tmp_path):
    file = copy / ERM / "metrics.csv"
    table = record.read_metrics(file)
    chosen = (table["metric"] == "worst_group_accuracy") & (table["split"] == "test") & (table["selection"] == "best")
    table.loc[chosen, "value"] += 1e-6
    table.to_csv(file, index=False)
    refused(copy, ERM, tmp_path / "ledger", "metrics.csv is broken (its content is not what was written")
    resamples = pd.read_parquet(file.with_name("resamples.parquet"))
    resamples.attrs = {}  # as those of before that keep no checksum
    resamples.to_parquet(file.with_name("resamples.parquet"), index=False)
    refused(copy, ERM, tmp_path / "ledger", "evaluate it anew")


def test_a_name_that_has_another_meaning_by_now_is_refused(copy, tmp_path):
    about = json.loads((copy / ERM / "about.json").read_text())
    about["specification"]["points"][0]["momentum"] = 0.123
    edit_about(copy, ERM, specification=about["specification"])
    refused(copy, ERM, tmp_path / "ledger", "had another meaning")


def test_what_was_trained_in_bf16_is_refused(copy, tmp_path):
    edit_about(copy, ERM, precision="bf16")
    refused(copy, ERM, tmp_path / "ledger", "was trained in bf16")


def test_only_runs_are_recorded(finished, tmp_path):
    refused(finished, "data/colored_digits", tmp_path, "only results/runs/")


def test_of_a_configuration_what_is_finished_on_real_data_is_recorded(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    datasets = "{cmnist: cmnist, waterbirds: scene_digits}"
    Path("own.yaml").write_text(f"papers: [cnc]\nmethods: [erm]\nseeds: 1\ndatasets: {datasets}\n")
    first, second = record_runs([], Path("own.yaml"), None)
    assert re.fullmatch(r"0 of [1-9]\d* folders of runs are finished", first)
    assert re.fullmatch(r"[1-9]\d* more are of bundled data and left out", second)
    for paths, configfile in (([], None), ([Path(ERM)], Path("own.yaml"))):
        with pytest.raises(SettingError, match="name folders"):
            list(record_runs(paths, configfile, None))


@pytest.mark.skipif(not shutil.which("git"), reason="no git here")
def test_a_run_that_names_no_commit_is_of_the_commit_whose_code_made_it(copy, tmp_path, monkeypatch):
    package = tmp_path / "project/workflow/despur"
    shutil.copytree(declarations.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))

    git(package, "init", "-q"), git(package, "add", "."), git(package, "commit", "-qm", "as it is")
    monkeypatch.setattr(commits, "PACKAGE", package)
    edit_about(copy, SIMCLR, commit=None)
    refused(copy, SIMCLR, tmp_path / "ledger", "names no commit")
    for path in (SIMCLR, ERM):  # the second names the commit that made it
        with pytest.raises(SettingError, match="no such commit"):
            list(record_folders([copy / path], "nonsense", tmp_path / "ledger"))
    assert len(list(record_folders([copy / SIMCLR], "HEAD", tmp_path / "ledger"))) == 2
    commit = git(package, "rev-parse", "HEAD")
    assert {each.content["commit"] for each in ledger.load(tmp_path / "ledger")[0]} == {commit}
    (package / "training/runs.py").write_text((package / "training/runs.py").read_text() + "\nOTHER = 1\n")
    git(package, "commit", "-aqm", "other code")
    refused(copy, SIMCLR, tmp_path / "other", "was not made by", commit="HEAD")


@pytest.mark.skipif(not shutil.which("git"), reason="no git here")
def test_code_is_clean_when_git_has_all_of_the_package(tmp_path, monkeypatch):
    package = tmp_path / "workflow/despur"
    package.mkdir(parents=True)
    (package / "code.py").write_text("x = 1\n")
    monkeypatch.undo()
    monkeypatch.setattr(commits, "PACKAGE", package)
    ask = commits.state.__wrapped__

    assert ask() == {"commit": None, "clean": False}
    git(tmp_path, "init", "-q"), git(tmp_path, "commit", "-q", "--allow-empty", "-m", "nothing yet")
    assert ask() == {"commit": None, "clean": False}  # a repository that does not hold the package
    git(tmp_path, "add", "."), git(tmp_path, "commit", "-qm", "code")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/new.json").touch()
    (package / "README.md").touch()  # makes nothing
    assert ask()["clean"] and len(ask()["commit"]) == 40
    (package / "method.py").touch()
    assert not ask()["clean"]
    (package / "method.py").unlink()
    (package / "code.py").write_text("x = 2\n")
    assert not ask()["clean"]


# what a record may weigh


def large(samples, classes, attributes, own_groups=0):
    """A data set of so many test samples, of which nothing but labels is made up."""
    rng = np.random.default_rng(0)
    split = np.repeat(["train", "val", "test"], [2 * classes * attributes, classes, samples])
    y, a = np.arange(len(split)) % classes, np.arange(len(split)) // classes % attributes
    table = pd.DataFrame({"split": split, "y": y, "a": a, "original": np.arange(len(split))})
    names = {"class": classes, "attribute": attributes, "group": own_groups}
    lists = (("classes", "class"), ("attributes", "attribute"), ("groups", "group"))
    about = {key: [f"{name} {i}" for i in range(names[name])] for key, name in lists}
    about |= {"select": "val", "headline": "test"}
    groups = rng.random((len(split), own_groups)) < 0.1 if own_groups else None
    return Dataset(np.zeros((len(split), 0), np.float32), table, about, groups)


CELEBA, CIVILCOMMENTS, IMAGENET = large(19_962, 2, 2), large(133_782, 2, 2, own_groups=16), large(50_000, 1000, 1)
COLUMNS = ["split", "metric", "group", "selection", "value"]
OVERALL = [f"mutual_information_{of}{kind}" for of in ("class", "attribute") for kind in ("", "_half")]
OVERALL += [f"mutual_information_{of}_standardized_half" for of in ("class", "attribute")]
OVERALL += [f"leakage_representations{kind}" for kind in ("", "_nonlinear", "_standardized")]
OVERALL += ["leakage_logits", "alignment_loss", "cosine_similarity"]


def tables(dataset, predictions, draws):
    """metrics.csv and resamples.parquet as evaluation writes them, with the metrics of predictions and made-up
    others."""
    rng = np.random.default_rng(1)
    found = record_checks.compute_from_predictions(dataset, predictions)
    by_class = [
        (f"class_{kind}", name)
        for kind in ("average_loss", "worst_group_loss", "bound", "bound_alignment", "loss_ceiling")
        for name in dataset.about["classes"]
    ]
    others = {("test", metric, group): rng.random() for metric, group in [*((name, "") for name in OVERALL), *by_class]}
    every = found if dataset is IMAGENET else others | found
    every |= {(split, *key[1:]): rng.random() for key in found for split in ("train", "val")}
    rows = [
        (*key, selection, value + (selection == "last") * rng.random())
        for key, value in every.items()
        for selection in ("best", "last")
    ]
    metrics = pd.DataFrame(rows, columns=["split", "metric", "group", "selection", "value"])
    drawn = [key for key in every if key[0] == "test"]
    values = pd.DataFrame(rng.normal(size=(len(drawn), draws)) / 10, columns=[str(i) for i in range(draws)])
    keys = pd.DataFrame(drawn, columns=["split", "metric", "group"])
    return metrics, pd.concat([keys.assign(selection="best"), values], axis=1)


def guess(rng, dataset, metric, shares):
    """Predictions of the test split whose codes have these shares; none left over is wrong in the last way."""
    return Prediction("test", metric, "", rng.choice(len(shares), len(dataset.rows("test")), p=shares).astype(np.uint8))


@pytest.mark.parametrize(
    ("dataset", "withheld", "shares"),
    [
        (CELEBA, False, {ACCURACY: [0.9, 0.1]}),
        (CELEBA, True, {}),
        (CIVILCOMMENTS, False, {ACCURACY: [0.9, 0.1]}),
        (CIVILCOMMENTS, False, {ACCURACY: [0.5, 0.5]}),  # no array of two codes is larger
        pytest.param(
            IMAGENET,
            False,
            {ACCURACY: [0.5, 0.12, 0.08, 0.05, 0.05, 0.2], "knn200_accuracy": [0.5, 0.5]},
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_record_weighs_at_most_60_kb(dataset, withheld, shares, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    guessed = [guess(rng, dataset, metric, own) for metric, own in shares.items()]
    all_known = guessed or [guess(rng, dataset, ACCURACY, [0.9, 0.1])]
    monkeypatch.setattr(measuring, "predict", lambda *_: guessed)
    run = Run(resolve("datasets", "celeba").points[0], resolve("methods", "cnc", "celeba").points[0], 0)
    measured = measuring.measure(dataset, run, {}, *tables(dataset, all_known, 200), withheld)
    assert bool(measured["predictions"]) != withheld and bool(measured["draws"]) == (dataset is not IMAGENET)
    specification = {"dataset": run.data.resolved(), "method": run.spec.resolved()}
    text = {"specification": specification, "other": "x" * 2_000, **measured}
    assert 1_000 < ledger.write(tmp_path, "s0", text).stat().st_size < 60_000
    predictions = ledger.Record(tmp_path, measured).predictions()
    np.testing.assert_equal(predictions, {each[:3]: each.codes for each in guessed})


def test_codes_of_more_classes_than_a_few_tell_the_rank_up_to_the_fifth():
    logits = np.tile(np.arange(9.0), (9, 1))  # the ninth class is first, the first last
    assert encode_logits(logits, np.arange(9)).tolist() == [TOP_CLASSES] * 4 + [4, 3, 2, 1, 0]
    assert encode_logits(np.zeros((2, 9)), np.array([0, 3])).tolist() == [0, 1]  # of equals the first is predicted
    assert encode_predicted(np.array([7, 2]), np.array([7, 3]), 9).tolist() == [0, 1]
    assert encode_logits(np.eye(3)[[0, 2, 1]], np.array([0, 0, 2])).tolist() == [0, 2, 2]


def test_draws_that_are_too_far_from_the_value_are_no_silent_infinity():
    with pytest.raises(InputError, match="float16"):
        measuring.encode_bootstrap_values(np.array([1e9]), 0.0)


def test_a_run_that_metrics_do_not_have_is_named(finished):
    run = locate_result(finished / ERM).runs()[0]
    dataset, none = load_dataset(finished / "data/colored_digits", "colored_digits"), pd.DataFrame(columns=COLUMNS)
    with pytest.raises(InputError, match="no rows of colored_digits/erm"):
        measuring.measure(dataset, run, {}, none, none, False)


def test_what_rules_select_besides_changes_nothing_in_a_record(finished, tmp_path):
    ruled = ERM.replace("/s0-1", "+selections=rules/s0-1")
    runs.train_all(locate_result(finished / ruled), OPTIONS)
    evaluate.evaluate(locate_result(finished / ruled), Namespace())
    kept = set(pd.read_parquet(finished / ruled / "resamples.parquet")["selection"])
    assert len(kept) > 2  # of more than the best step
    for plain, more in zip(*(recorded(finished, path, tmp_path / path) for path in (ERM, ruled)), strict=True):
        for part in ("predictions", "resampling", "draws"):
            assert plain.content[part] == more.content[part]
        tables = [pd.DataFrame(each.metrics()) for each in (plain, more)]
        pd.testing.assert_frame_equal(*tables, rtol=1e-12, atol=1e-12)  # sums over bootstrap samples round otherwise


def test_paths_are_not_in_records(finished, tmp_path):
    for each in recorded(finished, ERM, tmp_path):
        assert str(Path(finished)) not in each.path.read_text()


@pytest.mark.parametrize("path", [ERM, SIMCLR])
def test_a_record_gives_the_tables_that_its_folder_has(finished, tmp_path, path):
    metrics = run_files.read_metrics(finished / path / "metrics.csv")
    resamples = pd.read_parquet(finished / path / "resamples.parquet")
    for each in recorded(finished, path, tmp_path):
        run = each.find_run()
        found = recorded_rows.load_metrics(str(each.path)).set_index(recorded_rows.METRIC_COLUMNS).sort_index()["value"]
        own = run_files.rows_of(metrics, run).set_index(recorded_rows.METRIC_COLUMNS).sort_index()["value"]
        pd.testing.assert_series_equal(found[found.index.isin(own.index)], own, check_exact=True)
        found = recorded_rows.load_resamples(str(each.path)).set_index(recorded_rows.METRIC_COLUMNS).sort_index()
        own = run_files.rows_of(resamples, run).set_index(recorded_rows.METRIC_COLUMNS).sort_index()[found.columns]
        kept = found.index[found.index.isin(own.index)]
        assert len(kept) == len(found) > 3
        np.testing.assert_allclose(found.loc[kept], own.loc[kept], rtol=2e-3, atol=1e-5)
        first = next(key for key in kept if key[2] in ("average_accuracy", "probe_accuracy"))
        np.testing.assert_array_equal(found.loc[first], own.loc[first])


def test_a_record_holds_curves_over_epochs(finished, tmp_path):
    kept = ERM.replace("/s0-1", "+snapshots=1/s0-1")
    runs.train_all(locate_result(finished / kept), OPTIONS)
    evaluate.evaluate(locate_result(finished / kept), Namespace())
    metrics = run_files.read_metrics(finished / kept / "metrics.csv")
    for each in recorded(finished, kept, tmp_path):
        own = run_files.rows_of(metrics, each.find_run()).set_index(recorded_rows.METRIC_COLUMNS)["value"]
        for epoch in ("epoch=1", "epoch=2"):
            values = each.metrics()[epoch]
            assert {metric for _, metric, _ in values} == {*measuring.OF_EPOCHS}
            assert all(own[split, epoch, metric, ""] == value for (split, metric, _), value in values.items())
