"""The ledger: arrays as text, records and cards that are read back, and what ``despur ledger check`` finds wrong."""

import json
import shutil

import numpy as np
import pytest
from helpers import quick
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from project import SOURCE
from records import add, git, labels, rewrite, spoil

from despur.cli.ledger import check_ledger
from despur.evidence.ledger import files as ledger
from despur.evidence.ledger import record_checks
from despur.evidence.ledger.cards import make_card, read_card
from despur.evidence.ledger.coding import decode, decode_ids, encode, encode_ids
from despur.evidence.ledger.standing import judge_records
from despur.evidence.runs.sources import find_sources
from despur.metrics.predictions import ACCURACY, Prediction
from despur.specs import declarations
from despur.specs.declarations import list_components, read_declarations, revision
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.respecification import respecify
from despur.specs.settings import SettingError
from despur.storage.digest import revisions
from despur.storage.store import InputError

KINDS = st.sampled_from([np.bool_, np.uint8, np.int16, np.int64, np.uint32, np.float16])


# arrays as text


@quick
@given(
    KINDS.flatmap(
        lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=40))
    )
)
def test_arrays_are_read_back_as_they_were(values):
    text = encode(values)
    found = decode(text)
    assert text.isascii() and "\n" not in text and found.shape == values.shape
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(
    "values", [np.array([5, 1, 9]), np.array([], int), np.array([2**40, 3]), np.array(["b", "a"]), np.array([3, 3])]
)
def test_names_of_originals_are_read_back_as_they_were(values):
    found = json.loads(json.dumps(encode_ids(values)))
    assert decode_ids(found).tolist() == values.tolist()


def test_wrong_texts_are_refused():
    good = encode(np.arange(300))
    kind, shape, data = good.split()
    shapes = [f"{kind} {wrong} {data}" for wrong in (299, 301, -300, f"{10**9}x{10**9}")]
    others = [f"O {shape} {data}", good[:-8], f"{kind} {shape} !!!!", f"u1 {2**40} {data}"]
    for text in (None, 3, "", "x", *shapes, *others):
        with pytest.raises(InputError, match="not an array"):
            decode(text)
    with pytest.raises(ValueError, match="not kept"):
        encode(np.array([0.1]))


# records and cards


@pytest.mark.parametrize("own_groups", [False, True])
def test_a_card_holds_all_that_metrics_of_predictions_need(tmp_path, own_groups):
    dataset = labels(own_groups)
    path = ledger.write(tmp_path, "card", make_card(dataset, "colored_digits"))
    card = read_card(path)
    assert card.test_splits == ["test", "test_ood"] and "secret" not in card.about
    for split in card.test_splits:
        theirs, ours = dataset.rows(split), card.rows(split)
        columns = ["y", "a", "original"]
        known, read = dataset.table.loc[theirs, columns], card.table.loc[ours, columns]
        np.testing.assert_array_equal(read.astype(int), known)
        metrics = ((ACCURACY, ""), ("knn5_accuracy", ""), ("probe_accuracy", "few"))
        guessed = [Prediction(split, *metric, np.arange(len(ours)).astype(np.uint8) % 3) for metric in metrics]
        scores = [record_checks.compute_from_predictions(data, guessed) for data in (card, dataset)]
        np.testing.assert_equal(*scores)


def found(folder):
    """What is wrong with a ledger, a line each."""
    lines = []
    with pytest.raises(SettingError, match=r"\d faults?\. Record these runs again"):
        for line in check_ledger(folder):
            lines.append(line)
    return lines


def test_a_record_is_read_back(tmp_path):
    path = add(tmp_path, seed=1, method="erm+epochs=7")
    (record,), faults = ledger.load(tmp_path)
    assert not faults and record.path == path and record.find_run().key == "colored_digits/erm+epochs=7/s1"
    values = record.metrics()
    assert values["last"] == values["best"] and np.isnan(values["best"]["val", "gap", ""])
    assert set(record.predictions()) == {("test", ACCURACY, ""), ("test_ood", ACCURACY, "")}
    assert record.bootstrap_values()["test", "alignment_loss", ""].mean() == pytest.approx(1.5, abs=1)
    assert record.card.exists()


def test_a_right_ledger_is_right(tmp_path):
    for seed in range(3):
        add(tmp_path, seed)
    assert list(check_ledger(tmp_path)) == [f"{tmp_path}: 3 records, 1 cards, no fault"]
    assert list(check_ledger(tmp_path / "empty")) == [f"{tmp_path / 'empty'}: 0 records, 0 cards, no fault"]


def without(key):
    return lambda content: content.pop(key)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (spoil("schema", value=2), "schema 2"),
        (without("commit"), "commit missing"),
        (spoil("machine", value={"machine": "x", "device": "cpu"}), "peak_memory_mb missing in machine and run"),
        (spoil("seed", value="0"), "seed missing or of another type"),
        (spoil("seed", value=5), "lies elsewhere"),
        (spoil("metrics", "best", "test", "average_accuracy", "", value=0.5), "average_accuracy  is 0.5, but"),
        (spoil("metrics", "best", "test", "accuracy", "x, 0", value=0.123), "accuracy x, 0 is 0.123, but"),
        (spoil("metrics", "best", "val", "worst_group_accuracy", value={"": 1.2}), "no share"),
        (spoil("metrics", "best", "val", "leakage_logits", value={"": -0.1}), "no share"),
        (spoil("metrics", "best", "val", value=3), "not values by split, metric and group"),
        (spoil("metrics", "best", "val", "gap", value={"": "high"}), "not values by split, metric and group"),
        (spoil("metrics", value={}), "no metrics of the selection best"),
        (
            spoil("predictions", "test", ACCURACY, "", value=encode(np.zeros(39, np.uint8))),
            "39 predictions of average_accuracy  for 40 samples",
        ),
        (
            spoil("predictions", "test", "knn9_accuracy", value={"": encode(np.zeros(40, np.uint8))}),
            "which metrics do not have",
        ),
        (spoil("predictions", "test", ACCURACY, "", value="u1 40 abc"), "not an array"),
        (spoil("draws", "test", "alignment_loss", "", value=encode(np.array([np.inf], np.float16))), "not finite"),
        (spoil("card", value="card-000000000000"), "card-000000000000.json: not there, truncated"),
        (spoil("card", value=None), "has predictions and names no card"),
        (lambda content: content.update(card=None, predictions={}), "names no card"),
        (spoil("seed", value=True), "seed True is no whole number"),
        (spoil("machine", "precision", value="bf16"), "was trained in bf16"),
        (spoil("method", value="erm+epochs=1~2"), "are several runs"),
        (spoil("metrics", "best", "test", "alignment_loss", "", value=-1.0), "is -1.0, below 0"),
        (spoil("draws", value={}), "has no bootstrap values of test alignment_loss"),
        (
            lambda content: content.update(predictions={}, draws={}, metrics={"best": {}}),
            "has none of average_accuracy",
        ),
        (spoil("dataset", value="colored_digits+draw=1"), "its specification does not say draw=1"),
        (spoil("dataset", value="colored_digits+draw=1"), "its card is that of colored_digits"),
        (spoil("predictions", value={}), "no predictions for test average_accuracy"),
        (spoil("commit", value="main"), "commit 'main' is no full commit hash"),
        (spoil("finished", value="yesterday"), "finished 'yesterday' is no time"),
        (spoil("finished", value="2026-01-01T00:00:00"), "is no time with its zone"),
        (spoil("revisions", value={"methods/erm": "2"}), "revisions of methods/erm are no whole numbers"),
        (spoil("metrics", "best", "val", "gap", value={"": 10**400}), "not values by split, metric and group"),
        (spoil("draws", "test", "alignment_loss", "", value=encode(np.zeros((2, 10), np.float16))), "one dimension"),
        (spoil("draws", "test", "nothing", value={"": encode(np.zeros(20, np.float16))}), "have no metric"),
        (spoil("machine", "device", value=3), "device 3 is no name"),
        (spoil("upstream", value={"stage1": 3}), "upstream is not what made each run"),
        (spoil("run", "seconds", value="long"), "seconds is 'long', not a number"),
        (spoil("machine", "peak_memory_mb", value=-1.0), "peak_memory_mb is -1.0, not a number"),
    ],
)
def test_each_fault_names_its_file_and_the_other_records_are_still_read(tmp_path, change, told):
    good, bad = add(tmp_path), rewrite(add(tmp_path, seed=1), change)
    lines = found(tmp_path)
    assert any(line.startswith(str(bad)) and told in line for line in lines), lines
    assert not any(str(good) in line for line in lines)
    assert good in [record.path for record in ledger.load(tmp_path)[0]]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (spoil("specification", "method", "epochz", value=1), "epochz"),
        (spoil("specification", "method", "learning_rate", value=-1.0), "learning_rate=-1"),
        (spoil("specification", "method", "encoder", value={}), "not settings by name"),
        (spoil("specification", "dataset", "oldsetting", value=1), "oldsetting"),
    ],
)
def test_a_specification_that_is_unknown_today_is_no_fault_and_does_not_count(tmp_path, change, told):
    rewrite(add(tmp_path), change)
    assert "no fault" in "".join(check_ledger(tmp_path))
    ((_, key, reason),) = judge_records(record_checks.load_sound(tmp_path)[0])
    assert not key and reason.startswith("its specification is unknown to the present code: ") and told in reason


def test_of_one_data_set_and_one_model_records_have_the_same_files(tmp_path):
    first = add(tmp_path, checksums={"raw.gz": "ab"}, weights={"model.pt": "cd"})
    for seed, changes in enumerate(({"checksums": {}}, {"checksums": {"raw.gz": "ef"}}), start=1):
        add(tmp_path, seed, **{"weights": {"model.pt": "cd"}} | changes)
    add(tmp_path, 3, checksums={"raw.gz": "ab"}, weights={"model.pt": "ef"})
    add(tmp_path, 4, checksums={"raw.gz": "ab"}, weights={"model.pt": "cd", "other.pt": "ef"})
    reasons = {judged.key[-2:]: judged.reason for judged in judge_records(record_checks.load_sound(tmp_path)[0])}
    other = f"its raw files are others than those of {first}"
    assert reasons == {"s0": "", "s1": other, "s2": other, "s3": other.replace("raw files", "model.pt"), "s4": ""}


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"schema": NaN}', '{"schema": 1e999}', '{"schema": 1}'])
def test_broken_files_are_named_and_the_others_read(tmp_path, text):
    good, bad = add(tmp_path), add(tmp_path, seed=1)
    bad.write_text(text)
    (line,) = found(tmp_path)
    assert line.startswith(f"{bad}: ")
    assert [record.path for record in ledger.load(tmp_path)[0]] == [good]


def test_a_truncated_or_edited_file_is_seen(tmp_path):
    bad = add(tmp_path)
    whole = bad.read_text()
    bad.write_text(whole[: len(whole) // 2])
    assert "truncated" in found(tmp_path)[0]
    bad.write_text(whole.replace("2026", "2025"))
    assert "changed since it was written" in found(tmp_path)[0]


def test_a_broken_card_is_named_with_the_records_that_need_it(tmp_path):
    record = add(tmp_path)
    (card,) = tmp_path.rglob("card-*")
    content = json.loads(card.read_text())
    card.unlink()
    content["splits"]["test"]["y"] = "u1 3 abc"
    broken = ledger.write(card.parent, "card", content)
    lines = found(tmp_path)
    assert {line.split(": ")[0] for line in lines} == {str(record), str(broken)}


def test_a_copy_under_another_seed_and_strange_files_are_seen(tmp_path):
    first = add(tmp_path)
    copy = rewrite(add(tmp_path, seed=1), lambda content: content.update(json.loads(first.read_text()), seed=1))
    (tmp_path / "notes.txt").touch()
    lines = found(tmp_path)
    assert any(line.startswith(f"{copy}: says the same as {first}") for line in lines)
    assert any("notes.txt: neither" in line for line in lines) and len(lines) == 2


@pytest.mark.parametrize(("shallow", "faults"), [("false", 1), ("true", 0)])
def test_a_commit_is_one_of_the_history_where_all_of_it_is_here(tmp_path, monkeypatch, shallow, faults):
    add(tmp_path), add(tmp_path, 1, commit="d" * 40)
    asked = {"rev-parse": lambda *words: shallow, "merge-base": lambda *words: "" if "c" * 40 in words else None}
    monkeypatch.setattr(record_checks, "git", lambda command, *words: asked[command](*words))
    assert sum("is none of this history" in fault for fault in record_checks.check_files(tmp_path)[2]) == faults


def test_a_run_that_was_made_again_is_no_copy(tmp_path):
    first = add(tmp_path)
    again = json.loads(first.read_text()) | {"finished": "2026-02-01T00:00:00+00:00"}
    ledger.write(first.parent, "s0", again)
    assert "no fault" in "".join(check_ledger(tmp_path))
    reasons = [judged.reason for judged in judge_records(record_checks.load_sound(tmp_path)[0])]
    assert reasons == ["", f"{first} is of the same run, and earlier"]


def test_a_record_of_withheld_labels_has_bootstrap_values_of_accuracies(tmp_path):
    path = add(tmp_path, data="hate_speech", card=None, predictions={}, draws={})
    faults = record_checks.check_files(tmp_path)[2]
    assert f"{path}: has no bootstrap values of test average_accuracy " in faults


# specifications and revisions


@pytest.mark.parametrize("dataset", ["cmnist", "waterbirds", "hate_speech", "domain_digits"])
def test_a_specification_is_found_again_by_its_settings_alone(dataset):
    (data,) = resolve("datasets", dataset).points
    assert respecify("datasets", data.base_name, data.resolved()) == data
    for method in list_components("methods"):
        (point,) = resolve("methods", method, dataset).points
        assert respecify("methods", method, point.resolved(), dataset) == point


PARTS = ("cnc+groups=oracle+groups.noise=0.2", "jtt+stage1.epochs=7", "cnc+groups.algorithm=gmm+lambda=0.5")


@pytest.mark.parametrize("name", [*PARTS, "gdro+encoder=mlp+encoder.layers=3"])
def test_settings_of_parts_are_found_again(name):
    (point,) = resolve("methods", name, "cmnist").points
    assert respecify("methods", point.base_name, point.resolved(), "cmnist").name == name


def test_a_setting_that_was_added_since_is_found_at_its_default_whatever_a_data_set_states():
    (point,) = resolve("methods", "erm", "cmnist").points
    older = {key: value for key, value in point.resolved().items() if key != "patience"}
    assert respecify("methods", "erm", {**older, "encoder": {"name": "lenet"}}, "cmnist") == point
    # the data set's file states learning rate and epochs
    (stated,) = resolve("methods", "erm", "colored_digits").points
    unsaid = {key: value for key, value in stated.resolved().items() if key not in ("learning_rate", "patience")}
    found = respecify("methods", "erm", unsaid, "colored_digits")
    default = read_declarations("methods", "erm")["SETTINGS"]
    assert found.settings["learning_rate"] == default["learning_rate"].default != stated.settings["learning_rate"]


@pytest.mark.parametrize("lacking", ["momentum", "encoder", "augment"])
def test_a_setting_that_a_record_lacks_has_its_default(lacking):
    (point,) = resolve("methods", "simclr+temperature=0.2", "cmnist_3v5").points
    stated = {key: value for key, value in point.resolved().items() if key != lacking}
    assert respecify("methods", "simclr", stated, "cmnist_3v5") == point


def test_a_setting_that_was_added_has_the_value_of_before_or_its_record_is_not_used(package):
    (point,) = resolve("methods", "cnc+groups.algorithm=gmm", "cmnist").points
    stated = point.resolved()
    text = package.read("inference/clusters.py")
    for said, found in (("added(int_(5, 'ours'), before=9)", "9"), ("int_(5, 'ours')", None)):
        package.write("inference/clusters.py", text.replace("SETTINGS = {", f"SETTINGS = {{'extra': {said},"))
        assert respecify("methods", "cnc", stated, "cmnist").changes.get("groups.extra") == found
    package.write("inference/clusters.py", text.replace("SETTINGS = {", "SETTINGS = {'extra': added(int_(5, '')),"))
    with pytest.raises(SettingError, match="clusters: extra was added since, and nothing says"):
        respecify("methods", "cnc", stated, "cmnist")


def test_a_data_set_may_have_a_setting_that_is_called_name():
    (data,) = resolve("datasets", "bring_your_own+name=mine+size=3").points
    assert respecify("datasets", "bring_your_own", data.resolved()) == data


def test_a_revision_above_1_is_part_of_every_run_whose_code_it_is_in(package):
    paths = ("results/runs/cmnist/cnc/s0", "results/runs/cmnist/lff/s0", "results/data/cmnist")
    before = [revisions(locate_result(path)) for path in paths]
    package.write("losses/contrastive.py", "REVISION = 3\n" + package.read("losses/contrastive.py"))
    package.write("datasets/cmnist.py", package.read("datasets/cmnist.py") + "\nREVISION = 2\n")
    package.write("inference/clusters.py", package.read("inference/clusters.py") + "\nREVISION = 4\n")
    of_data = {"datasets/cmnist": 2}
    of_cnc = {**of_data, "inference/clusters": 4, "losses/contrastive": 3}
    assert before == [{}, {}, {}] and [revisions(locate_result(path)) for path in paths] == [of_cnc, of_data, of_data]


@pytest.mark.parametrize("value", ["0", "-1", "'2'", "True", "1 + 1", "x"])
def test_a_revision_is_a_whole_number(tmp_path, value):
    (tmp_path / "a.py").write_text(f"REVISION = {value}\n")
    with pytest.raises(SettingError, match="whole number"):
        revision(tmp_path / "a.py")


def test_a_revision_changes_no_digest(package):
    from despur.storage.digest import cache_key

    result = locate_result("results/runs/cmnist/cnc/s0")
    before = cache_key(result)
    package.write("methods/cnc.py", package.read("methods/cnc.py") + "\nREVISION = 2\n")
    assert cache_key(result) == before and revision(declarations.PACKAGE / "methods/cnc.py") == 2


@pytest.mark.skipif(not shutil.which("git"), reason="no git here")
def test_ledgers_of_two_clones_that_ran_different_seeds_are_merged_by_git_alone(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    git(one, "init", "-q")
    add(one / ledger.LEDGER)
    git(one, "add", "."), git(one, "commit", "-qm", "seed 0")
    git(tmp_path, "clone", "-q", "one", "other")
    for clone, seeds in ((one, (1, 2)), (other, (2, 3))):  # both have seed 2, from the same results, and the same card
        for seed in seeds:
            add(clone / ledger.LEDGER, seed)
        git(clone, "add", "."), git(clone, "commit", "-qm", "more seeds")
    git(one, "pull", "-q", "--no-rebase", "../other", "HEAD")
    (line,) = check_ledger(one / ledger.LEDGER)
    assert line.endswith("4 records, 1 cards, no fault")
    sources = find_sources(results=tmp_path, folder=one / ledger.LEDGER)
    assert sorted(sources.where) == [f"colored_digits/erm/s{seed}" for seed in range(4)]


def test_the_ledger_of_this_project_has_no_fault():
    assert list(check_ledger(SOURCE / ledger.LEDGER))[-1].endswith(" no fault")
