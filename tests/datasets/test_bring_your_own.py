"""Your own data, in one file: what is read, refused or warned of."""

import os
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from helpers import OPTIONS, read, result, some, tiny_dataset, well_formed

from despur import groups
from despur.cli.check import check
from despur.cli.rows import Row
from despur.datasets.sources import own_labels
from despur.evaluate import evaluate
from despur.metrics.rows import measure_accuracies, measure_leakage
from despur.orchestration.jobs import list_missing
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.dataset_checks import build_dataset, name_form
from despur.storage.store import Dataset, InputError, load_dataset, save_dataset
from despur.training.inputs import RunInputs
from despur.training.runs import train_all

RNG = np.random.default_rng


def own(count=12, **changes):
    split = np.array(["train", "train", "val", "test"] * (count // 4))
    y, a = np.array(["no", "yes"] * (count // 2)), np.arange(count) // 4 % 2
    return {"features": RNG(0).normal(size=(count, 3)), "y": y, "a": a, "split": split, **changes}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bring_your_own").mkdir()
    return tmp_path / "bring_your_own"


def test_your_own_npz_parquet_and_columns_are_the_same(folder):
    arrays = own()
    np.savez(folder / "one.npz", **arrays)
    pd.DataFrame({**arrays, "features": list(arrays["features"])}).to_parquet(folder / "two.parquet")
    columns = {f"x{i}": arrays["features"][:, i] for i in range(3)}
    pd.DataFrame({**columns, **{name: arrays[name] for name in ("y", "a", "split")}}).to_parquet(
        folder / "three.parquet"
    )
    datasets = [well_formed(read(f"bring_your_own+name={name}", folder.parent)) for name in ("one", "two", "three")]
    for dataset in datasets:
        np.testing.assert_array_equal(dataset.inputs, arrays["features"].astype(np.float32))
        assert dataset.about["classes"] == ["no", "yes"] and dataset.about["attributes"] == ["0", "1"]
        assert dataset.table.equals(datasets[0].table)
    save_dataset(folder / "kept", {"own": datasets[0]})
    assert load_dataset(folder / "kept", "own").about == datasets[0].about


def test_your_own_images(folder):
    np.savez(
        folder / "task.npz",
        **own(features=np.arange(12 * 40 * 36 * 3, dtype=np.uint32).astype(np.uint8).reshape(12, 40, 36, 3)),
    )
    dataset = well_formed(read("bring_your_own", folder.parent))
    assert dataset.inputs.dtype == np.uint8 and dataset.about["size"] == 36
    assert read("bring_your_own+size=32", folder.parent).about["size"] == 32


@pytest.mark.parametrize("shape", [(12, 9, 8), (12, 9, 8, 1)])
def test_your_own_gray_images_have_three_equal_channels(folder, shape):
    gray = RNG(0).integers(0, 256, shape, dtype=np.uint8)
    np.savez(folder / "task.npz", **own(features=gray))
    dataset = well_formed(read("bring_your_own", folder.parent))
    assert (
        name_form(dataset.inputs) == "image"
        and (dataset.inputs == gray.reshape(12, 9, 8, 1)).all()
        and dataset.inputs.shape[3] == 3
    )


def test_words_for_splits_have_no_case(folder):
    np.savez(folder / "task.npz", **own(split=np.array(["Train", "TRAIN", "Valid", "Test"] * 3)))
    assert well_formed(read("bring_your_own", folder.parent)).table["split"][:4].tolist() == [
        "train",
        "train",
        "val",
        "test",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"features": np.zeros((11, 3))}, ["11 inputs", "12 labels"]),
        ({"features": np.zeros((12, 3, 2))}, ["(12, 3, 2)", "(N,D)"]),
        ({"features": np.zeros((12, 3, 8, 8), np.uint8)}, ["uint8 (12, 3, 8, 8)", "(N,H,W,3)"]),
        ({"features": np.zeros((12, 8, 8, 3))}, ["float64 (12, 8, 8, 3)", "uint8"]),
        ({"class_embeddings": np.zeros((3, 3))}, ["class_embeddings are (3, 3)", "2 classes"]),
        ({"features": np.full((12, 3), np.nan)}, ["sample 0", "finite"]),
        ({"features": np.array([["a"]] * 12)}, ["numbers"]),
        ({"a": np.zeros(12, int)}, ["same attribute"]),
        ({"y": np.zeros(12, int)}, ["same class"]),
        ({"y": np.array([0.0, np.nan] * 6)}, ["y of sample 1"]),
        ({"a": np.zeros(5, int)}, ["different lengths"]),
        ({"y": np.linspace(0, 1, 12)}, ["y has 12 values (0.09", "of sample 1, 12 samples)", "seems continuous"]),
        ({"count": 60, "a": np.arange(60)}, ["a has 60 values (60 samples)", "seems continuous"]),
        ({"split": np.array(["train", "train", "test"] * 4)}, ["no sample of the split val"]),
        ({"original": np.zeros(12, int)}, ["original 0", "several splits"]),
        ({"y": np.eye(2)[[0, 1] * 6]}, ["y is float64 (12, 2)", "one whole number or text for each sample"]),
        ({"y": np.array(1)}, ["y is int64 ()", "(N,)"]),
        ({"y": np.array([0j, 1j] * 6)}, ["y is complex128 (12,)"]),
        ({"y": np.zeros(12, [("b", int)])}, ["y is [('b', '<i8')] (12,)"]),
        ({"original": np.zeros((12, 2))}, ["original is float64 (12, 2)"]),
        ({"split": np.array([["train"]] * 12)}, ["split is <U5 (12, 1)"]),
        ({"features": np.zeros((12, 0))}, ["features are float64 (12, 0)", "(N,D)"]),
        ({"class_embeddings": np.array([["a"], ["b"]])}, ["class_embeddings are <U1 (2, 1)", "(C,D)"]),
        ({"class_embeddings": np.zeros((2, 3), complex)}, ["class_embeddings are complex128 (2, 3)"]),
        ({"class_embeddings": np.zeros((2, 0))}, ["class_embeddings are float64 (2, 0)"]),
    ],
)
def test_faults_of_your_own_file_are_named(folder, changes, words):
    np.savez(folder / "task.npz", **own(**changes))
    with pytest.raises(InputError) as error:
        read("bring_your_own", folder.parent)
    assert all(word in str(error.value) for word in ["task.npz", *words])


LISTS = [[1.0, 2.0]]  # features of one sample


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"features": [1.0] * 12}, ["features of sample 0 is 1.0;", "a list of numbers for each sample"]),
        ({"features": LISTS + [None] + LISTS * 10}, ["features of sample 1 is None"]),
        ({"features": LISTS + [[1.0]] + LISTS * 10}, ["features have 1 to 2 values"]),
        ({"features": [["a", "b"]] * 12}, ["features are object (12, 2)"]),
        ({"y": [[0], [1]] * 6}, ["y of sample 0 is array([0]);", "one whole number or text for each sample"]),
        ({"a": [{"b": 1}] * 12}, ["a of sample 0 is {'b': 1}"]),
        ({"split": [["train"]] * 12}, ["split of sample 0 is array(['train'], dtype=object)"]),
        ({"y": [None, "b"] * 6}, ["y of sample 0 is missing"]),
        ({"features": pd.array([1.0, None] * 6, "Float64")}, ["features of sample 0"]),
    ],
)
def test_faults_of_your_own_table_are_named(folder, changes, words):
    pd.DataFrame(own() | {"features": LISTS * 12} | changes).to_parquet(folder / "task.parquet")
    with pytest.raises(InputError) as error:
        read("bring_your_own", folder.parent)
    assert all(word in str(error.value) for word in ["task.parquet", *words]) and "\n" not in str(error.value)


def test_a_table_without_samples_is_refused(folder):
    pd.DataFrame(own() | {"features": LISTS * 12})[:0].to_parquet(folder / "task.parquet")
    with pytest.raises(InputError, match=r"task\.parquet: features have no sample"):
        read("bring_your_own", folder.parent)


def test_columns_of_several_kinds_of_numbers_are_features_and_a_missing_one_is_named(folder):
    columns = {"b": [True, False] * 6, "x": pd.array([0.5, 2.0] * 6, "Float64"), "n": np.arange(12)}
    table = pd.DataFrame({key: column for key, column in own().items() if key != "features"} | columns)
    table.to_parquet(folder / "task.parquet")
    inputs = read("bring_your_own", folder.parent).inputs
    assert inputs.tolist() == [[1 - row % 2, (0.5, 2.0)[row % 2], row] for row in range(12)]
    table.assign(x=pd.array([0.5, None] * 6, "Float64")).to_parquet(folder / "task.parquet")
    with pytest.raises(InputError, match=r"task\.parquet: sample 1 holds a value that is not a finite number"):
        read("bring_your_own", folder.parent)


@pytest.mark.parametrize("kind", [np.float16, np.longdouble])
def test_labels_of_any_kind_of_float_are_kept(folder, kind):
    np.savez(folder / "task.npz", **own(split=np.array([0, 0, 1, 2] * 3, kind), original=np.arange(12, dtype=kind)))
    save_dataset(folder / "kept", {"own": read("bring_your_own", folder.parent)})
    table = load_dataset(folder / "kept", "own").table
    assert (
        table["original"].tolist() == [*range(12)] and table["split"].tolist() == ["train", "train", "val", "test"] * 3
    )


def test_one_array_in_the_place_of_several_is_refused(folder):
    with (folder / "task.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(InputError, match=r"task\.npz cannot be read .* save it with numpy\.savez"):
        read("bring_your_own", folder.parent)


def test_missing_parts_of_your_own_file_are_named(folder):
    with pytest.raises(InputError, match=r"task.parquet or task.npz.*docs/your_own_data.md"):
        read("bring_your_own", folder.parent)
    np.savez(folder / "task.npz", y=np.zeros(3))
    with pytest.raises(InputError, match="no array features, a, split"):
        read("bring_your_own", folder.parent)
    pd.DataFrame({"y": [0], "a": [1], "split": ["train"], "name": ["x"]}).to_parquet(folder / "table.parquet")
    with pytest.raises(InputError, match="name cannot be a feature"):
        read("bring_your_own+name=table", folder.parent)
    np.savez(folder / "other.npz", **own(y=np.array([{}] * 12)))
    with pytest.raises(InputError, match=r"other.npz"):
        read("bring_your_own+name=other", folder.parent)


# Missing attributes

MISSING_FORMS = {
    "empty": ["", "blue", "red"],
    "blank": [" ", "blue", "red"],
    "nan among texts": ["nan", "blue", "red"],
    "minus one": [-1, 3, 7],
    "minus one, float": [-1.0, 3.0, 7.0],
    "not a number": [np.nan, 3.0, 7.0],
    "minus one among texts": ["-1", "3", "7"],
}


def half_known(values, count=24):
    """Attributes of which half of the training samples have none."""
    return own(count) | {"a": np.array(values)[np.where(np.arange(count) % 4 == 0, 0, 1 + np.arange(count) // 4 % 2)]}


@pytest.mark.parametrize("form", MISSING_FORMS)
def test_a_missing_attribute_of_a_training_sample_is_no_group(folder, form):
    arrays = half_known(MISSING_FORMS[form])
    np.savez(folder / "one.npz", **arrays)
    pd.DataFrame({**arrays, "features": list(arrays["features"])}).to_parquet(folder / "two.parquet")
    for name in ("one", "two"):
        dataset = well_formed(read(f"bring_your_own+name={name}", folder.parent))
        assert len(dataset.about["attributes"]) == 2 and (dataset.a[::4] == -1).all()
        assert (dataset.a[1::4] == [0, 1] * 3).all() and dataset.about["attributes"] in (["3", "7"], ["blue", "red"])
        assert not dataset.groups[::4].any() and dataset.groups.sum() == 18


def test_what_selects_or_tests_has_an_attribute(folder):
    a = half_known(["", "blue", "red"])["a"]
    a[[2, 6, 11]] = ""
    np.savez(folder / "task.npz", **own(24, a=a))
    with pytest.raises(InputError, match=r"task\.npz: the attribute a is missing .*: 2 of val, 1 of test\."):
        read("bring_your_own", folder.parent)


@pytest.mark.parametrize("values", [["", "yes"], ["nan", "yes"], [np.nan, 1.0], ["None", "yes"]])
def test_a_missing_class_is_refused_with_the_number_of_them(folder, values):
    np.savez(folder / "task.npz", **own(y=np.array(values * 6)))
    with pytest.raises(InputError, match=r"task\.npz: y of sample 0 is missing \(6 samples are at fault\)"):
        read("bring_your_own", folder.parent)


def test_check_says_how_many_attributes_are_missing_and_which_methods_need_them(folder, monkeypatch):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(folder.parent))
    np.savez(folder / "task.npz", **half_known(["", "blue", "red"]))
    (row,) = (line for line in check("bring_your_own") if isinstance(line, Row))
    (gap,) = (gap for gap in row.values["gaps"] if "attribute of" in gap)
    assert "the attribute of 6 of 12 training samples is missing: all methods run except " in gap
    needing = gap.partition("except ")[2].partition(", which")[0].split(", ")
    assert {"gdro", "dfr", "con"} <= set(needing) and not {"erm", "jtt", "cnc", "dfr_held_out"} & set(needing)


@pytest.mark.parametrize("known", [0, 0.5])
def test_methods_that_need_no_attribute_run_without_it_and_others_refuse(tmp_path, folder, known):
    y = np.arange(180) % 2
    a = (y + (RNG(1).random(180) < 0.3)) % 2
    a[:60] = np.where(RNG(0).random(60) < known, a[:60], -1)
    features = RNG(0).normal(size=(180, 3)) + np.stack([y, a, y], axis=1)
    np.savez(folder / "task.npz", features=features, y=y, a=a, split=np.repeat(["train", "val", "test"], 60))
    save_dataset(tmp_path / "results/data/bring_your_own", {"bring_your_own": read("bring_your_own", tmp_path)})
    at = result(tmp_path / "results", "runs/bring_your_own/erm+epochs=2/s0")
    train_all(at, OPTIONS)
    evaluate(at, OPTIONS)
    metrics = pd.read_csv(at.folder / "metrics.csv").query("selection == 'best' and split == 'test'")
    values = metrics[metrics["group"].isna()].set_index("metric")["value"]
    assert np.isfinite(values[["worst_group_accuracy", "average_accuracy", "gap", "alignment_loss"]]).all()
    of_training = ["weighted_average_accuracy", "leakage_representations", "leakage_representations_nonlinear"]
    assert (np.isfinite(values[of_training]) == bool(known)).all()
    groups.infer(result(tmp_path / "results", "groups/bring_your_own/oracle/s0"), OPTIONS)
    needing, held_out = (
        (RunInputs(where, torch.device("cpu")), where.runs()[0])
        for where in (
            result(tmp_path / "results", f"runs/bring_your_own/{name}/s0") for name in ("gdro", "dfr_held_out")
        )
    )
    refused = rf"gdro trains on .* train, but to {(a[:60] == -1).sum()} of 60 oracle gives no attribute"
    with pytest.raises(SettingError, match=refused):
        needing[0].build_task(needing[1], needing[0].load_dataset(needing[1]))
    dataset = held_out[0].load_stored("bring_your_own")
    given = held_out[0].load_inferred_attribute(held_out[1], dataset.rows("val"))
    assert given is not None and (given == a[60:120]).all()


def test_attributes_that_are_missing_count_nowhere():
    whole = tiny_dataset()
    z, lacking = RNG(0).normal(size=(120, 4)), np.arange(60) % 3 == 0
    kept = np.flatnonzero(~np.append(lacking, np.zeros(60, bool)))
    less = replace(whole, inputs=whole.inputs[kept], table=whole.table.iloc[kept].reset_index(drop=True), groups=None)
    a = np.where(np.append(lacking, np.zeros(60, bool)), -1, whole.a)
    given = Dataset(whole.inputs, whole.table.assign(a=a), whole.about)
    tested, weights = given.rows("test"), np.ones((1, 30))
    assert measure_leakage(given, tested, z, weights) == measure_leakage(less, less.rows("test"), z[kept], weights)
    codes = RNG(1).integers(0, 2, 120)
    for split in ("train", "test"):
        values = []
        for dataset, own_codes in ((given, codes), (less, codes[kept])):
            rows = dataset.rows(split)
            measured = measure_accuracies(dataset, rows, own_codes[rows], np.ones((1, len(rows))))
            values.append({name: float(value[0]) for name, group, value in measured if not group})
        for name in ("worst_group_accuracy", "weighted_average_accuracy", "gap", "largest_gap"):
            assert values[0][name] == values[1][name]
    inferred = whole.y[:60]
    agreement = groups.compare_with_truth(inferred, whole.y[:60], a[:60])
    expected = groups.compare_with_truth(inferred[~lacking], whole.y[:60][~lacking], whole.a[:60][~lacking])
    assert agreement["best_match"] == expected["best_match"]
    assert np.isnan(groups.compare_with_truth(inferred, whole.y[:60], np.full(60, -1))["best_match"])


def test_check_says_which_methods_lack_class_embeddings(folder, monkeypatch):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(folder.parent))
    np.savez(folder / "task.npz", **own())
    (line,) = (line for line in check("bring_your_own") if "class_embeddings" in line)
    assert {"zero_shot", "adapter"} <= set(
        re.search("which (.*) need", line)[1].split(", ")
    ) and "classes=means" in line
    np.savez(folder / "task.npz", **own(class_embeddings=np.ones((2, 3))))
    assert not [line for line in check("bring_your_own") if "class_embeddings" in line]


@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_a_run_that_lacks_class_embeddings_is_refused_before_anything_is_made(folder, monkeypatch, kind):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(folder.parent))
    monkeypatch.chdir(folder.parent)
    of_class = [locate_result(f"results/{name}/s0") for name in ("stage1/bring_your_own/zero_shot",)]
    others = [locate_result(f"results/runs/bring_your_own/{name}/s0") for name in ("erm", "zero_shot+classes=means")]
    (line,) = list_missing(of_class[0])
    assert re.search(
        r"bring_your_own cannot be built: .* not in .*DESPUR_DATA_ROOT.* despur check bring_your_own", line
    )
    (line,) = list_missing(locate_result("results/runs/bring_your_own+name=mine+size=8/erm/s0"))
    assert line.endswith("See despur check bring_your_own+name=mine+size=8")
    if kind == "npz":
        np.savez(folder / "task.npz", **own())
    else:
        pd.DataFrame({"x": [0.0], "y": [0], "a": [0], "split": ["train"]}).to_parquet(folder / "task.parquet")
    with pytest.raises(
        InputError, match=r"bring_your_own has no class_embeddings, which zero_shot needs .*classes=means"
    ):
        [*list_missing(of_class[0])]
    assert not [line for other in others for line in list_missing(other)]
    if kind == "npz":
        np.savez(folder / "task.npz", **own(class_embeddings=np.ones((2, 3))))
        assert not [*list_missing(of_class[0])]


# Sloppy and hostile files

BASE = {"features": RNG(0).normal(size=(24, 3)), "y": np.arange(24) % 2, "a": np.arange(24) // 2 % 2}
BASE["split"] = np.repeat(["train", "val", "test"], 8)
LEFT = {key: value for key, value in BASE.items() if key != "features"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"features": some(BASE["features"], (3, 1), np.inf)}, ["sample 3", "not a finite number"]),
        ({"features": some(BASE["features"], (3, 1), 1e300)}, ["sample 3", "single precision"]),
        ({"features": BASE["features"].astype(object)}, ["Object arrays"]),
        ({"y": BASE["y"].astype(object)}, ["Object arrays", "not as objects"]),
        ({"y": BASE["y"] + 0.5}, ["seems continuous"]),
        ({"y": (BASE["y"] + 1) * 1e300}, ["y of sample 0 is 1e+300", "too large for float64"]),
        ({"y": (BASE["y"] + 2**24).astype(np.float32)}, ["too large for float32"]),  # which has one number for both
        ({"a": some(BASE["a"].astype(float), 3, np.inf)}, ["a of sample 3 is inf: too large"]),
        ({"y": some(BASE["y"], slice(0, 8), 0)}, ["no training sample of class 1", "the split val"]),
        ({"y": np.array(["cat", "Cat "] * 12)}, ["y has 'Cat ' and 'cat'", "spell them alike"]),
        ({"a": np.array(["red", "blue", "RED", "blue"] * 6)}, ["a has 'RED' and 'red'"]),
        ({"split": some(BASE["split"], slice(4, 7), "trian")}, ["sample 4 is 'trian' (3 samples", "train, val"]),
        ({"split": some(BASE["split"], 7, "nan")}, ["split of sample 7 is missing"]),
        ({"split": some(BASE["split"], 7, "unlabelled")}, ["split of sample 7 is 'unla"]),
        ({"original": np.array(["", *map(str, range(23))])}, ["original of sample 0 is missing"]),
        ({"original": np.arange(24) % 8}, ["original 0 is in several splits"]),
        ({"orignal": np.arange(24)}, ["nothing reads orignal", "original, class_embeddings"]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_sloppy_arrays_are_refused_by_name(folder, changes, words):
    np.savez(folder / "task.npz", **BASE | changes)
    with pytest.raises(InputError) as error:
        read("bring_your_own", folder.parent)
    assert all(word in str(error.value) for word in [str(folder / "task.npz"), *words])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"features": some(BASE["features"], slice(9, 12), BASE["features"][:3])}, "3 of 8 samples of the split val"),
        ({"features": some(BASE["features"], slice(1, 4), BASE["features"][0])}, "3 of 8 samples of the split train"),
        ({"features": np.zeros((24, 3))}, "8 of 8 samples of the split test have the inputs of a training sample"),
        ({"features": np.column_stack([BASE["features"], BASE["y"]])}, "feature 3 says the class of every sample"),
        ({"features": np.column_stack([5 - BASE["a"], BASE["features"]])}, "feature 0 says the a of every sample"),
        ({"features": np.column_stack([BASE["features"], np.arange(7, 31)])}, "feature 3 numbers the samples"),
        ({"a": some(BASE["a"], [1, 5, 3, 7], [0, 0, 1, 1])}, ""),
        ({"a": some(BASE["a"], slice(3, 8, 4), 0)}, "the split train has no sample of the group 1, 1"),
        ({"a": some(BASE["a"], slice(11, 16, 4), 0)}, "the split val has no sample of the group 1, 1"),
        ({"a": some(BASE["a"], 20, 2)}, "the split train has no sample of a 2"),
        ({"y": some(BASE["y"], slice(None, None, 5), -1)}, "-1 is a class here"),
        ({"a": BASE["y"]}, "a says the class of every sample"),
        ({"y": some(BASE["y"], [0, 8, 16], 2)}, "one training sample of the class 2: bring more of it"),
    ],
)
def test_check_warns_of_what_may_not_be_as_it_is_believed(folder, monkeypatch, changes, words):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(folder.parent))
    np.savez(folder / "task.npz", **BASE | changes)
    (row,) = (line for line in check("bring_your_own") if isinstance(line, Row) and line.table == "datasets")
    gaps = [gap for gap in row.values["gaps"] if "class_embeddings" not in gap]
    assert any(words in gap for gap in gaps) if words else not gaps


def test_labels_of_any_spelling_of_bytes_are_read_alike(folder):
    np.savez(folder / "plain.npz", **BASE | {"y": np.array(["nö", "ja"])[BASE["y"]]})
    np.savez(
        folder / "other.npz",
        features=np.asfortranarray(BASE["features"].astype(">f8")),
        y=np.char.encode(np.array(["nö", "ja"]), "utf-8")[BASE["y"]],
        a=BASE["a"].astype(">f4"),
        split=np.char.add(np.char.upper(BASE["split"]), " ").astype("S"),
    )
    plain, other = (read(f"bring_your_own+name={name}", folder.parent) for name in ("plain", "other"))
    assert plain.table.equals(other.table) and np.array_equal(plain.inputs, other.inputs)
    assert plain.about["classes"] == other.about["classes"] == ["ja", "nö"]
    assert plain.about["attributes"] == other.about["attributes"] == ["0", "1"]


def test_what_is_no_file_of_its_own_is_refused(folder):
    np.savez(folder / "there.npz", **BASE)
    (folder / "link.npz").symlink_to(folder / "there.npz")
    assert len(read("bring_your_own+name=link", folder.parent).table) == 24
    (folder / "dangling.npz").symlink_to(folder / "gone.npz")
    (folder / "folder.npz").mkdir()
    os.mkfifo(folder / "pipe.npz")
    pd.DataFrame(LEFT | {"x": BASE["features"][:, 0]}).to_parquet(folder / "there.parquet")
    (folder / "cut.npz").write_bytes((folder / "there.npz").read_bytes()[:999])
    (folder / "empty.parquet").touch()
    for name, words in {
        "dangling": r"dangling\.npz is a link to .*gone\.npz, which is not there",
        "folder": r"folder\.npz is no file",
        "pipe": r"pipe\.npz is no file",
        "there": r"holds there\.parquet and there\.npz: keep one of them",
        "cut": r"cut\.npz cannot be read",
        "empty": r"empty\.parquet cannot be read",
    }.items():
        with pytest.raises(InputError, match=words):
            build_dataset(resolve("datasets", f"bring_your_own+name={name}").points[0], folder.parent)


def test_columns_beside_a_column_of_features_are_refused(folder):
    pd.DataFrame(LEFT | {"features": list(BASE["features"]), "x": 1.0}).to_parquet(folder / "task.parquet")
    with pytest.raises(InputError, match=r"task\.parquet: nothing reads x; it may hold features, y, a, split"):
        read("bring_your_own", folder.parent)


def test_whole_numbers_keep_their_names_whatever_their_size():
    column = pd.Series(np.array([1, 2**63 + 5], np.uint64))
    assert own_labels.number_values(column, np.zeros(2, bool))[1] == ["1", str(2**63 + 5)]
