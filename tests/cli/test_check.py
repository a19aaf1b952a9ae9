"""What despur check calls right is right."""

import re
from argparse import Namespace

import numpy as np
import pytest
from helpers import result, tiny_dataset
from PIL import Image

from despur import data
from despur.cli import check, data_checks, data_doubts
from despur.cli.rows import Row
from despur.specs.declarations import list_components, read_declarations
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage import published_sizes
from despur.storage.store import InputError


def write_birds(root, sizes, images=True):
    """Waterbirds with so many samples in each group of each split."""
    folder, rows = root / "waterbirds_v1.0", ["img_filename,y,place,split"]
    (folder / "a").mkdir(parents=True)
    for code, counts in enumerate(sizes.values()):
        for group, count in enumerate(counts):
            rows += [f"a/{len(rows) + i}.jpg,{group // 2},{group % 2},{code}" for i in range(count)]
    (folder / "metadata.csv").write_text("\n".join([*rows, ""]))
    for number, row in enumerate(rows[1:]):
        path = folder / row.partition(",")[0]
        Image.new("RGB", (40, 40), (9 * number, 0, 0)).save(path) if images else path.touch()
    return folder


@pytest.fixture
def few_birds(tmp_path, monkeypatch):
    """Published sizes that a test can write."""
    sizes = {"train": [4, 2, 1, 3], "val": [1, 1, 1, 1], "test": [2, 2, 1, 1]}
    monkeypatch.setattr(published_sizes, "read_declarations", lambda *_: {"PUBLISHED_SIZES": sizes})
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path))
    return sizes


def test_splits_stand_in_the_order_of_their_use():
    dataset = tiny_dataset()
    dataset.table = dataset.table.iloc[::-1].reset_index(drop=True)
    assert dataset.splits[0] != "train" and data_checks.order_splits(dataset) == ["train", "val", "test"]


def test_a_whole_copy_is_right(few_birds, tmp_path, monkeypatch):
    write_birds(tmp_path, few_birds)
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(tmp_path))
    lines = [*check.check_dataset("waterbirds+size=32")]
    (line,) = (line for line in lines if isinstance(line, Row) and line.table == "datasets")
    weights = {line.values["name"]: line.values["state"] for line in lines if getattr(line, "table", "") == "encoders"}
    assert weights["resnet50"] == weights["clip"] == "download"
    assert "right; 10 train, 4 val, 6 test" in line
    assert line.values["samples"] == {"train": 10, "val": 4, "test": 6} and line.values["gaps"] == []

    shown = [text.split() for text in lines[lines.index(line) + 1 : -len(weights)]]
    assert shown == [
        ["group", "train", "val", "test"],
        ["landbird,", "land", "4", "1", "2"],
        ["landbird,", "water", "2", "1", "2"],
        ["waterbird,", "land", "1", "1", "1"],
        ["waterbird,", "water", "3", "1", "1"],
    ]
    assert line.values["groups"]["landbird, water"] == {"train": 2, "val": 1, "test": 2}


def test_a_table_that_was_cut_off_is_not_right_and_the_message_says_what_was_published(few_birds, tmp_path):
    write_birds(tmp_path, few_birds | {"test": [2, 2, 1, 0]})
    with pytest.raises(InputError, match=r"test, waterbird, water has 0 samples, published are 1.*Parts are missing"):
        [*check.check_dataset("waterbirds+size=32")]


def test_what_lacks_a_part_is_not_built_and_nothing_is_written(few_birds, tmp_path):
    write_birds(tmp_path, few_birds | {"train": [4, 2, 0, 3]})
    made = result(tmp_path / "results", "data/waterbirds+size=32")
    with pytest.raises(InputError, match=r"train, waterbird, land has 0 samples, published are 1.*your_own_data"):
        data.build(made, Namespace(data_root=tmp_path))
    assert not made.folder.exists()


def test_every_image_is_read(few_birds, tmp_path):
    folder = write_birds(tmp_path, few_birds)
    image = folder / "a/7.jpg"
    image.write_bytes(image.read_bytes()[:-90])
    with pytest.raises(InputError, match=r"7\.jpg cannot be used"):
        [*check.check_dataset("waterbirds+size=32")]


def test_rounded_sizes_tolerate_what_releases_differ_by():
    found = {size: [*published_sizes.compare_size("train", 257e3, size)] for size in (255_710, 250_000)}
    assert found[255_710] == [] and "published are 257,000" in found[250_000][0]
    assert [*published_sizes.compare_size("train", 100, 100)] == [] != [*published_sizes.compare_size("train", 100, 99)]


def test_published_sizes_name_splits_and_groups_that_there_are():
    stated = {name: read_declarations("datasets", name).get("PUBLISHED_SIZES") for name in list_components("datasets")}
    for name, sizes in stated.items():
        assert sizes is None or set(sizes) <= {"train", "val", "test"}, name
    assert sum(map(sum, stated["waterbirds"].values())) == 11_788
    assert sum(stated["cifar10_001"].values()) == 60_000 + 2_000
    assert sum(stated["cifar10_02"].values()) == 60_000 + 10 * 556 + 2_000
    assert sum(map(sum, stated["celeba"].values())) == 202_599


def test_with_fewer_samples_only_the_other_splits_are_compared(monkeypatch):
    dataset = tiny_dataset()
    monkeypatch.setattr(published_sizes, "read_declarations", lambda *_: {"PUBLISHED_SIZES": {"train": 1, "test": 1}})
    points = {text: resolve("datasets", text).points[0] for text in ("waterbirds", "waterbirds+samples=30")}
    names = {
        text: [line.split(" has")[0] for line in published_sizes.compare_sizes(point, dataset)]
        for text, point in points.items()
    }
    assert names == {"waterbirds": ["train", "test"], "waterbirds+samples=30": ["test"]}


@pytest.mark.parametrize("text", ["bios+professions=nurse_surgeon", "imagenet100+synsets=own.txt"])
def test_published_sizes_are_not_those_of_other_classes(text):
    other, published = (resolve("datasets", name).points[0] for name in (text, text.partition("+")[0]))
    assert [*published_sizes.compare_sizes(other, tiny_dataset())] == []
    assert [*published_sizes.compare_sizes(published, tiny_dataset())] != []


def test_what_a_split_lacks_is_said():
    dataset = tiny_dataset()
    assert [*data_checks.list_gaps(dataset)] == []
    test = dataset.rows("test")
    dataset.table.loc[test, "a"] = 0
    dataset.table.loc[test[dataset.y[test] == 1], "y"] = 0
    classes, attributes = dataset.about["classes"], dataset.about["attributes"]
    assert [*data_checks.list_gaps(dataset)] == [
        f"the split test has no sample of class {classes[1]}",
        f"the split test has no sample of {dataset.about['attribute']} {', '.join(attributes[1:])}",
    ]


def test_samples_of_one_original_may_be_the_same_and_published_ones_are_left_as_they_are():
    dataset = tiny_dataset()
    keys = np.arange(len(dataset.y))
    first, second = dataset.rows("train")[:2]
    keys[second] = keys[first]
    said = {own: " ".join(data_doubts.list_duplicates(dataset, keys, own)) for own in (True, False)}
    assert re.fullmatch(r"1 of .* have the inputs of another one of it: keep one of each", said[True])
    assert said[False] == said[True].removesuffix(": keep one of each")
    dataset.table.loc[second, "original"] = dataset.table.loc[first, "original"]
    assert [*data_doubts.list_duplicates(dataset, keys, True)] == []


def test_a_split_that_selects_and_has_no_sample_is_said():
    dataset = tiny_dataset()
    dataset.about["select"] = "vall"
    doubts = [*data_doubts.list_doubts(dataset, np.arange(len(dataset.y)), own=True)]
    assert any(doubt.startswith("no sample of the split vall, which selects; there are train, val") for doubt in doubts)


def test_a_name_or_a_configuration_is_needed():
    with pytest.raises(SettingError, match="name a data set"):
        [*check.check()]
