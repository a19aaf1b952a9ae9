"""Loaders of data sets with subclasses, sources, regions or categories as groups: miniature folders as published,
whole and faulty."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from helpers import fails, read
from PIL import Image
from tests.datasets.test_loaders import picture
from torchvision import transforms

from despur.datasets import amazon, cifar10
from despur.datasets.sources import breeds, image_files, objects, prompts
from despur.storage.store import InputError, Lazy, load_dataset, save_dataset

RNG = np.random.default_rng


def kept(name, dataset, root):
    """The data set after a round trip; every sample in exactly one class-attribute group, no original in two splits."""
    save_dataset(root / "out", {name: dataset})
    found = load_dataset(root / "out", name)
    pd.testing.assert_frame_equal(found.table, dataset.table)
    assert (found.class_attribute_groups.sum(axis=1) == 1).all() and len(found.inputs) == len(found.table)
    assert found.table.groupby("original")["split"].nunique().eq(1).all()
    assert set(found.splits) == {"train", "val", "test"}
    return found


# BREEDS: entity > thing > (mid > animal, tool); animal > cat > 3 leaves, dog > 2; tool > 2; two leaves more straight
# below thing


LEAVES = {f"n1{i}": f"leaf {i}, synonym" for i in range(9)}
EDGES = [
    *[("n00001740", "nthing"), ("nthing", "nmid"), ("nmid", "nanimal"), ("nthing", "nanimal"), ("nmid", "ntool")],
    *[
        ("nanimal", "ncat"),
        ("nanimal", "ndog"),
        ("ncat", "n10"),
        ("ncat", "n11"),
        ("ncat", "n12"),
        ("ndog", "n13"),
        ("ndog", "n14"),
    ],
    *[("ntool", "n15"), ("ntool", "n16"), ("nthing", "n17"), ("nmid", "n18"), ("nthing", "nempty")],
]
NAMES = {"nanimal": "animal, beast", "ntool": "tool", "ncat": "cat", "ndog": "dog", "nempty": "nothing"}


@pytest.fixture
def imagenet(tmp_path):
    """A hierarchy, 10 training and 3 validation images of each class."""
    folder = tmp_path / "breeds"
    folder.mkdir()
    (folder / "dataset_class_info.json").write_text(
        json.dumps([[i, synset, name] for i, (synset, name) in enumerate(LEAVES.items())])
    )
    (folder / "class_hierarchy.txt").write_text("".join(f"{p} {c}\n" for p, c in EDGES))
    (folder / "node_names.txt").write_text("".join(f"{synset}\t{name}\n" for synset, name in NAMES.items()))
    for number, synset in enumerate(LEAVES):
        for i in range(13):
            picture(
                tmp_path / "imagenet" / ("train" if i < 10 else "val") / synset / f"{i}.JPEG",
                40 + number,
                50,
                13 * number + i,
            )
    return tmp_path


def test_the_hierarchy_knows_levels_and_what_lies_below(imagenet):
    tree = breeds.Hierarchy(imagenet)
    # by the longest way
    assert [tree.level(node) for node in ("n00001740", "nthing", "nanimal", "ncat", "n10")] == [0, 1, 3, 4, 5]
    assert tree.find_classes("nanimal") == {"n10", "n11", "n12", "n13", "n14"} and tree.find_classes("nempty") == set()
    assert "nempty" not in tree.descendants("n00001740")
    assert tree.names["nanimal"] == "animal" and tree.names["n10"] == "leaf 0"


def test_superclasses_have_as_many_subclasses_as_asked_drawn_as_the_authors_do(imagenet):
    tree = breeds.Hierarchy(imagenet)
    assert tree.superclasses(4, "nanimal", 3) == {"ncat": ["n10", "n11", "n12"]}  # the dogs are too few
    rng = np.random.RandomState(2)
    expected = {"ncat": sorted(rng.choice(["n10", "n11", "n12"], 2, replace=False)), "ndog": ["n13", "n14"]}
    assert tree.superclasses(4, "nanimal", 2) == expected
    assert set(tree.superclasses(3, "n00001740", 2)) == {"nanimal", "ntool"}


def test_subclasses_are_groups(imagenet):
    dataset = kept("living17", breeds.build({"size": 32}, imagenet, 4, "nanimal", 2, 2), imagenet)
    assert dataset.about["classes"] == ["cat", "dog"] and len(dataset.about["groups"]) == 4
    assert dataset.about["groups"][2:] == ["leaf 3", "leaf 4"]
    assert [len(dataset.rows(split)) for split in ("train", "val", "test")] == [32, 8, 12]
    assert dataset.groups.sum(axis=0).tolist() == [13] * 4
    assert dataset.groups[dataset.rows("test")].sum(axis=0).tolist() == [3] * 4
    about = {"dataset": "living17", **dataset.about}
    assert prompts.class_prompts(about)[0] == ["This is a picture of a cat."]
    assert prompts.group_prompts(about)[2] == ["This is a picture of a leaf 3."]


@pytest.mark.parametrize("name", ["living17", "nonliving26", "entity13", "entity30"])
def test_benchmarks_say_what_they_need(tmp_path, name):
    fails(name, tmp_path, "breeds", "MadryLab/BREEDS-Benchmarks", "DESPUR_DATA_ROOT")


def test_a_hierarchy_or_images_that_do_not_fit_are_errors(imagenet):
    fails("entity13", imagenet, "class_hierarchy.txt, ", "0 classes of level 3 have 20 subclasses, published are 13")
    for path in (imagenet / "imagenet/train/n13").iterdir():
        path.unlink()
    with pytest.raises(InputError, match="has no images in a folder n13"):
        breeds.build({"size": 32}, imagenet, 4, "nanimal", 2, 2)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("dataset_class_info.json", "{", "does not list ImageNet's classes"),
        ("class_hierarchy.txt", "<html>404</html>", "line 1 has 1 fields, not 2"),
        ("class_hierarchy.txt", "n00001740 a\na b\nb a\n", "is below itself"),
        ("class_hierarchy.txt", "n00001740 a\nb c\n", "b is below nothing"),
        ("node_names.txt", "nanimal\tanimal\n", "has no name for ncat"),
    ],
)
def test_a_changed_file_of_the_hierarchy_is_refused_by_name(imagenet, name, content, words):
    (imagenet / "breeds" / name).write_text(content)
    with pytest.raises(InputError, match=rf"breeds/{name}.*{words}.*MadryLab"):
        breeds.build({"size": 32}, imagenet, 4, "nanimal", 2, 2)


def test_images_are_seen_as_clip_sees_them():
    wide = Image.fromarray(
        np.concatenate([np.zeros((20, 10, 3)), np.full((20, 20, 3), 200), np.zeros((20, 10, 3))], axis=1).astype(
            np.uint8
        )
    )
    found = np.asarray(image_files.as_clip(wide, 20))
    assert found.shape == (20, 20, 3) and (found == 200).all()
    assert image_files.as_clip(wide.transpose(Image.Transpose.ROTATE_90), 33).size == (33, 33)


@pytest.mark.parametrize("shape", [(37, 50), (50, 37), (500, 375), (333, 500), (40, 40), (61, 23), (301, 299)])
def test_images_are_cut_to_the_pixel_as_clip_cuts_them(shape):
    """CLIP's preprocessing is torchvision's Resize and CenterCrop."""
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    cut = transforms.Compose(
        [transforms.Resize(32, interpolation=transforms.InterpolationMode.BICUBIC), transforms.CenterCrop(32)]
    )
    image = Image.fromarray(pixels)
    np.testing.assert_array_equal(np.asarray(image_files.as_clip(image, 32)), np.asarray(cut(image)))


@pytest.mark.parametrize("shape", [(332, 500), (500, 334), (338, 500), (281, 500), (683, 1024), (40, 40)])
def test_imagenet_is_cut_to_the_pixel_as_torchvision_cuts_it(shape):
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8))
    cut = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224)])
    np.testing.assert_array_equal(np.asarray(objects.squared(image, 224)), np.asarray(cut(image)))


# CIFAR-10 and others


def batch(folder, name, content):
    (folder / name).write_bytes(pickle.dumps(content))


@pytest.fixture
def cifar(tmp_path, monkeypatch):
    """CIFAR-10 with 20 images a class in training and 4 in test; 10.1 with 6, 10.2 with 5 and 2. The first pixel says
    from where."""
    monkeypatch.setattr(objects, "verify_checksum", lambda path, md5, remedy: path)
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    names = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    batch(folder, "batches.meta", {"label_names": names})
    sizes = {**dict.fromkeys(cifar10.SPLITS["train"], 40), "test_batch": 40}
    for name, size in sizes.items():
        batch(folder, name, {"data": np.zeros((size, 3072), np.uint8), "labels": (np.arange(size) % 10).tolist()})
    (tmp_path / "cifar-10.1").mkdir()
    np.save(tmp_path / "cifar-10.1/cifar10.1_v6_data.npy", np.full((60, 32, 32, 3), 1, np.uint8))
    np.save(tmp_path / "cifar-10.1/cifar10.1_v6_labels.npy", (np.arange(60) % 10).astype(np.int32))
    (tmp_path / "cifar-10.2").mkdir()
    for part, size in (("train", 50), ("test", 20)):
        images = np.full((size, 32, 32, 3), 2, np.uint8)
        images[:, 1, 0, 0] = np.arange(size)
        np.savez(tmp_path / f"cifar-10.2/cifar102_{part}.npz", images=images, labels=np.arange(size) % 10)
    return tmp_path


@pytest.mark.parametrize(("name", "mark", "pool", "tested"), [("cifar10_02", 2, 3, 2), ("cifar10_001", 1, 3, 3)])
def test_sources_are_groups(cifar, name, mark, pool, tested):
    dataset = kept(name, read(f"{name}+per_class={pool}", cifar), cifar)
    assert len(dataset.about["groups"]) == 20 and dataset.about["groups"][1].startswith("airplane, CIFAR-10.")
    assert (dataset.inputs[:, 0, 0, 0] == mark * dataset.table["a"]).all()
    train_and_val = np.concatenate([dataset.rows("train"), dataset.rows("val")])
    assert dataset.groups[train_and_val].sum(axis=0).tolist() == [20, pool] * 10
    assert dataset.groups[dataset.rows("test")].sum(axis=0).tolist() == [4, tested] * 10
    assert len(dataset.rows("val")) == round(0.2 * len(train_and_val))
    about = {"dataset": name, **dataset.about}
    assert (
        prompts.class_prompts(about)[:2] == [["an airplane"], ["an automobile"]] and prompts.group_prompts(about) == []
    )


def test_no_image_of_cifar_102_is_drawn_twice(cifar):
    dataset = read("cifar10_02+per_class=5", cifar)
    drawn = np.concatenate([dataset.rows("train"), dataset.rows("val")])
    number = dataset.inputs[drawn][dataset.table["a"].to_numpy()[drawn] == 1][:, 1, 0, 0]
    assert sorted(number) == list(range(50))


@pytest.mark.parametrize(
    ("file", "array", "words"),
    [
        ("cifar-10.1/cifar10.1_v6_data.npy", np.zeros((60, 3072), np.uint8), "expected uint8 (N,32,32,3)"),
        ("cifar-10.1/cifar10.1_v6_labels.npy", np.full(60, 10), "cifar10.1_v6_labels.npy: a label is none of 0 to 9"),
        ("cifar-10.1/cifar10.1_v6_labels.npy", np.array([object()]), "cifar10.1_v6_labels.npy is no array of numbers"),
    ],
)
def test_arrays_that_are_not_cifar_101_are_refused(cifar, file, array, words):
    np.save(cifar / file, array)
    fails("cifar10_001", cifar, words, "modestyachts/CIFAR-10.1")


def test_archives_that_are_not_cifar_102_are_refused(cifar):
    np.savez(cifar / "cifar-10.2/cifar102_train.npz", images=np.zeros(3))
    fails("cifar10_02", cifar, "cifar102_train.npz has no images and labels")
    (cifar / "cifar-10.2/cifar102_train.npz").unlink()
    fails("cifar10_02", cifar, "cifar-10.2/cifar102_train.npz", "modestyachts/cifar-10.2")


# FMoW


@pytest.fixture
def satellites(tmp_path):
    """Two images of each split, one too late or too early for it, one sequestered."""
    rows = [
        *[
            ("train", "airport", "USA", "2010-01-01T00:00:00Z"),
            ("train", "lake_or_pond", "FRA", "2012-12-31T23:59:59Z"),
        ],
        *[("val", "airport", "FRA", "2013-01-01T00:00:00Z"), ("val", "lake_or_pond", "USA", "2015-06-01T00:00:00.5Z")],
        *[("test", "airport", "USA", "2016-01-01T00:00:00Z"), ("test", "lake_or_pond", "XXX", "2017-06-01T00:00:00Z")],
        *[("train", "airport", "USA", "2013-01-01T00:00:00Z"), ("test", "airport", "USA", "2015-01-01T00:00:00Z")],
        ("seq", "airport", "USA", "2010-01-01T00:00:00Z"),
    ]
    folder = tmp_path / "fmow_v1.1"
    for i in range(len(rows)):
        picture(folder / f"images/rgb_img_{i}.png", 40, 40, i)
    pd.DataFrame(rows, columns=["split", "category", "country_code", "timestamp"]).to_csv(
        folder / "rgb_metadata.csv", index=False
    )
    pd.DataFrame({"alpha-3": ["USA", "FRA", "ATA"], "region": ["Americas", "Europe", None]}).to_csv(
        folder / "country_code_mapping.csv", index=False
    )
    return tmp_path


def test_fmow_has_wilds_splits_and_regions_as_groups(satellites):
    dataset = kept("fmow", read("fmow+size=32", satellites), satellites)
    assert dataset.table["split"].tolist() == ["train"] * 2 + ["val"] * 2 + ["test"] * 2
    assert dataset.about["groups"] == ["Americas", "Europe"] and dataset.about["attributes"] == [
        "Americas",
        "Europe",
        "Other",
    ]
    assert dataset.groups.tolist() == [
        [True, False],
        [False, True],
        [False, True],
        [True, False],
        [True, False],
        [False, False],
    ]
    assert dataset.y.tolist() == [0, 1] * 3
    expected = np.asarray(
        Image.open(satellites / "fmow_v1.1/images/rgb_img_3.png").resize((32, 32), Image.Resampling.BICUBIC)
    )
    assert (dataset.inputs[3] == expected).all()
    about = {"dataset": "fmow", **dataset.about}
    assert prompts.class_prompts(about) == [["satellite view of the airport."], ["satellite view of the lake or pond."]]


def test_faulty_metadata_of_fmow_is_an_error(satellites):
    path = satellites / "fmow_v1.1/rgb_metadata.csv"
    text = path.read_text()
    path.write_text(text.replace("2012-12-31T23:59:59Z", "soon"))
    fails("fmow", satellites, "rgb_metadata.csv: column timestamp is 'soon' for 2. sample")
    path.write_text(text.replace("test,", "train,"))
    fails("fmow", satellites, "no image of the split test")
    path.write_text(text.replace("train,airport", "train,", 1))
    fails("fmow", satellites, "rgb_metadata.csv: column category is nan for 1. sample", "may not be empty")
    path.write_text(text)
    countries = path.with_name("country_code_mapping.csv")
    countries.write_text(countries.read_text() + "FRA,Asia\n")
    fails("fmow", satellites, "country_code_mapping.csv: column alpha-3 is 'FRA' for 4. sample", "an earlier one")


def test_a_table_of_regions_that_lacks_many_countries_is_an_error(satellites):
    (satellites / "fmow_v1.1/country_code_mapping.csv").write_text("alpha-3,region\nFRA,Europe\n")
    fails("fmow", satellites, "country_code_mapping.csv: 78% of the images are of countries without a region")


# Amazon


@pytest.fixture
def reviews(tmp_path, monkeypatch):
    monkeypatch.setattr(
        amazon,
        "tokenize",
        lambda texts, length, vocabulary: Lazy(
            (len(texts), length), np.int32, lambda rows: tokens(texts, length, rows)
        ),
    )
    folder = tmp_path / "amazon_v2.1"
    (folder / "splits").mkdir(parents=True)
    table = {"reviewText": ["good,\nvery", "", "NA", "bad", "so so", "fine"], "overall": [5.0, 1.0, 3.0, 1.0, 2.0, 4.0]}
    pd.DataFrame({**table, "category": ["Books", "Toys", "Books", "Toys", "Books", "Toys"]}).to_csv(
        folder / "reviews.csv", index=False
    )
    pd.DataFrame({"split": [0, 0, 1, 2, -1, 1]}).to_csv(folder / "splits/category_subpopulation.csv", index=False)
    pd.DataFrame({"split": [0, 2, 1, 3, 4, 1]}).to_csv(folder / "splits/user.csv", index=False)
    return tmp_path


def tokens(texts, length, rows):
    """As many ones as a text has letters."""
    return np.stack([np.arange(length) < len(text) for text in texts[rows]]).astype(np.int32)


def test_amazon_is_negative_or_positive_with_categories_as_groups(reviews):
    dataset = kept("amazon", read("amazon", reviews), reviews)
    assert dataset.table["split"].tolist() == ["train", "train", "test", "val"]  # 3 stars are left out
    assert dataset.y.tolist() == [1, 0, 0, 1] and dataset.about["classes"] == ["negative", "positive"]
    assert dataset.about["groups"] == ["Books", "Toys"]
    assert dataset.groups[:, 1].tolist() == [False, True, True, True]
    assert dataset.inputs.sum(axis=1).tolist() == [10, 0, 3, 4]


def test_a_folder_of_amazon_that_holds_nothing_hides_no_other_one(reviews):
    (reviews / "amazon_v2.1").rename(reviews / "amazon_v2.0")
    (reviews / "amazon_v2.1").mkdir()
    assert len(read("amazon", reviews).table) == 4


def test_amazon_may_have_stars_as_classes(reviews):
    dataset = read("amazon+classes=stars", reviews)
    assert dataset.table["split"].tolist() == ["train", "train", "val", "test", "val"]
    assert dataset.y.tolist() == [4, 0, 2, 0, 3] and len(dataset.about["classes"]) == 5
    about = {"dataset": "amazon", **dataset.about}
    assert prompts.class_prompts(about)[0] == ["This review gives one star."] and prompts.group_prompts(about) == []


def test_amazon_refuses_other_stars(reviews):
    path = reviews / "amazon_v2.1/reviews.csv"
    pd.read_csv(path).replace({"overall": {4.0: 4.5}}).to_csv(path, index=False)
    fails("amazon", reviews, str(path), "column overall is 4.5")
    path.write_text(path.read_text().replace("4.5", "four"))
    fails("amazon", reviews, str(path), "column overall is 'four' for")


def test_wilds_official_split_of_amazon_leaves_known_reviewers_out(reviews):
    assert read("amazon+split=user", reviews).table["split"].tolist() == ["train", "test", "val"]


def test_a_split_of_other_reviews_is_an_error(reviews):
    (reviews / "amazon_v2.1/splits/category_subpopulation.csv").write_text("split\n0\n1\n2\n")
    fails("amazon", reviews, "category_subpopulation.csv has 3 rows, but", "reviews.csv 6")


def test_a_review_without_a_split_is_an_error(reviews):
    (reviews / "amazon_v2.1/splits/category_subpopulation.csv").write_text("split,\n0,\n0,\n,\n2,\n1,\n1,\n")
    fails("amazon", reviews, "category_subpopulation.csv: column split is nan for 3. sample", "may not be empty")
