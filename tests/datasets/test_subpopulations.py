"""Loaders of data sets of spurious correlations: miniature folders as published, whole and faulty."""

import json
import shutil
from itertools import product

import pytest
from helpers import fails, read, well_formed
from tests.datasets.test_loaders import picture, rows_of

from despur.datasets import imagenet_bg, spawrious, urbancars
from despur.datasets.sources import prompts
from despur.storage import published_sizes

# MultiNLI: pairs of the three parts of the corpus, in their order; those without a label are not listed.
PAIRS = {
    "train": [("contradiction", "hello world", "no"), ("-", "hello", "world"), ("neutral", "hello world", "hello")],
    "dev_matched": [("entailment", "hello, world", "hello world"), ("contradiction", "world", "never hello")],
    "dev_mismatched": [("neutral", "no", "never"), ("entailment", "world", "world")],
}
LISTED = [(0, 0, 1, 0), (2, 2, 0, 0), (3, 1, 0, 1), (4, 0, 1, 1), (5, 2, 1, 2), (6, 1, 0, 2)]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "world", "no", "never", ","]


@pytest.fixture
def multinli(tmp_path, monkeypatch):
    for part, pairs in PAIRS.items():
        rows = [[json.dumps(dict(zip(("gold_label", "sentence1", "sentence2"), pair, strict=True)))] for pair in pairs]
        rows_of(tmp_path / f"multinli_1.0/multinli_1.0_{part}.jsonl", rows)
    header = ("", "gold_label", "sentence2_has_negation", "split")
    rows_of(tmp_path / "multinli/data/metadata_random.csv", [header, *LISTED])
    rows_of(tmp_path / "weights/bert-base-uncased/vocab.txt", [[word] for word in WORDS])
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(tmp_path / "weights"))
    return tmp_path


def test_pairs_have_the_listed_splits_and_negations(multinli):
    dataset = read("multinli+tokens=8", multinli)
    well_formed(dataset)
    assert dataset.table["split"].tolist() == ["train", "train", "val", "val", "test", "test"]
    assert dataset.y.tolist() == [0, 2, 1, 0, 2, 1] and dataset.a.tolist() == [1, 0, 0, 1, 1, 0]
    assert dataset.table["original"].tolist() == [0, 2, 3, 4, 5, 6]
    assert dataset.about["groups"][1:3] == ["contradiction, negation", "entailment, no negation"]


def test_a_pair_is_separated_and_its_longer_sentence_is_cut(multinli):
    tokens = read("multinli+tokens=8", multinli).inputs
    assert tokens[0:3].tolist() == [[2, 5, 6, 3, 7, 3, 0, 0], [2, 5, 6, 3, 5, 3, 0, 0], [2, 5, 9, 6, 3, 5, 6, 3]]


def test_a_list_of_another_corpus_is_refused(multinli):
    path = multinli / "multinli/data/metadata_random.csv"
    path.write_text(path.read_text().replace("3,1,0,1", "3,2,0,1"))
    fails("multinli", multinli, str(path), "column gold_label is 2 for 3. sample", "has entailment", "nyu.edu")
    path.write_text(path.read_text().replace("3,2,0,1", "30,1,0,1"))
    fails("multinli", multinli, str(path), "for 3. sample", "multinli_1.0_dev_matched.jsonl", "has nan")


@pytest.mark.parametrize("line", ["", "[]", '{"gold_label": "neutral"}', "{"])
def test_a_line_that_is_no_pair_is_an_error_that_names_it(multinli, line):
    path = multinli / "multinli_1.0/multinli_1.0_dev_matched.jsonl"
    path.write_text(path.read_text() + f"{line}\n")
    fails("multinli", multinli, str(path), "line 3 is no pair of sentences", "DESPUR_DATA_ROOT")


# MetaShift: images by group; one of a cat and a dog.
IMAGES = {
    "train/cat/cat(indoor)": 20,
    "train/dog/dog(outdoor)": 16,
    "test/cat/cat(outdoor)": 3,
    "test/dog/dog(indoor)": 4,
}
FOLDER = "MetaShift-Cat-Dog-indoor-outdoor"


@pytest.fixture(params=["metashift/", ""])
def metashift(tmp_path, request):
    folder = tmp_path / f"{request.param}{FOLDER}"
    number = 0
    for group, count in IMAGES.items():
        for _ in range(count):
            picture(folder / group / f"{number}.jpg", 50, 40, number)
            number += 1
    picture(folder / "test/dog/dog(indoor)/0.jpg", 50, 40, 0)
    return tmp_path, folder


def test_images_are_split_at_random_and_folders_are_groups(metashift):
    dataset = read("metashift+size=32", metashift[0])
    table = dataset.table
    assert dict(zip(dataset.about["groups"], dataset.groups.sum(axis=0), strict=True)) == {
        "dog, outdoor": 16,
        "dog, indoor": 5,
        "cat, outdoor": 3,
        "cat, indoor": 20,
    }
    split = table.drop_duplicates("original")["split"].value_counts()
    assert split.to_dict() == {"train": 29, "test": 10, "val": 4}  # a quarter and a tenth of 43 images
    assert table.groupby("original")["split"].nunique().eq(1).all() and len(table) == 44
    other = read("metashift+draw=1+size=32", metashift[0]).table
    assert (other["split"] != table["split"]).any() and other["y"].equals(table["y"])
    assert dataset.inputs[0:2].shape == (2, 32, 32, 3)
    about = dataset.about | {"dataset": "metashift"}
    assert prompts.class_prompts(about) == [["a photo of a dog."], ["a photo of a cat."]]
    assert prompts.group_prompts(about)[:2] == [["an outdoor photo of a dog."], ["an indoor photo of a dog."]]


def test_a_group_without_images_is_an_error(metashift):
    root, folder = metashift
    for image in (folder / "test/cat/cat(outdoor)").iterdir():
        image.unlink()
    fails("metashift", root, str(folder / "test/cat/cat(outdoor)"), "has no images", "dropbox.com")


def test_without_a_folder_it_is_said_where_it_comes_from(tmp_path):
    fails("metashift", tmp_path, FOLDER, "dropbox.com", "DESPUR_DATA_ROOT")
    fails("multinli", tmp_path, "multinli_1.0_train.jsonl", "kohpangwei/group_DRO", "DESPUR_DATA_ROOT")


# NICO++: images by context and class; a group of few images, and one without.
CONTEXTS = ("autumn", "dim", "grass", "outdoor", "rock", "water")


@pytest.fixture
def nicopp(tmp_path):
    folder = tmp_path / "nicopp"
    counts = dict.fromkeys(product(CONTEXTS, ("cat", "hot air balloon")), 9) | {("dim", "cat"): 4}
    del counts["water", "hot air balloon"]
    for (context, name), count in counts.items():
        for number in range(count):
            picture(folder / "public_dg_0416/train" / context / name / f"{number}.jpg", 40, 36, number)
    (folder / "dg_label_id_mapping.json").write_text(json.dumps({"hot air balloon": 1, "cat": 0}))
    return folder


def test_each_group_is_held_out_alike_and_small_ones_do_not_train(nicopp):
    dataset = read("nicopp+held_out=6+size=32", nicopp.parent)
    assert dataset.about["classes"] == ["cat", "hot air balloon"] and dataset.about["attributes"] == list(CONTEXTS)
    counts = dataset.table.groupby(["y", "a", "split"]).size().unstack(fill_value=0)[["train", "val", "test"]]
    assert counts.loc[(0, 0)].tolist() == counts.loc[(1, 5 - 1)].tolist() == [3, 2, 4]
    assert counts.loc[(0, 1)].tolist() == [0, 1, 3] and (1, 5) not in counts.index
    other = read("nicopp+draw=1+held_out=6+size=32", nicopp.parent).table
    assert (other["split"] != dataset.table["split"]).any() and other["y"].equals(dataset.table["y"])


def test_nicopp_names_what_is_missing(nicopp, tmp_path):
    mapping = nicopp / "dg_label_id_mapping.json"
    for text in ("", "[]", "{}", '{"cat": 0, "dog": 2}', '{"cat": "first"}'):
        mapping.write_text(text)
        fails("nicopp", tmp_path, str(mapping), "does not number the classes from 0", "dropbox.com")
    mapping.write_text('{"cat": 0, "dog": 1}')
    fails("nicopp", tmp_path, "no context has images of the class dog", str(nicopp), "dropbox.com")
    mapping.write_text('{"dog": 0}')
    fails("nicopp", tmp_path, "train/autumn has no images in folders of the classes")
    mapping.write_text('{"cat": 0}')
    shutil.rmtree(nicopp / "public_dg_0416/train/rock")
    fails("nicopp", tmp_path, "train/rock", "DESPUR_DATA_ROOT")


# ImageNet-9: photos of in9l/, one of them among those that are tested; variants of the latter.
@pytest.fixture
def backgrounds(tmp_path, monkeypatch):
    monkeypatch.setattr(published_sizes, "read_declarations", lambda *_: {})
    for y, name in enumerate(imagenet_bg.CLASSES):
        photos = {
            "in9l/train": [f"n0000000{y}_1", f"n0000000{y}_2"],
            "in9l/val": [f"n0000000{y}_3", f"ILSVRC2012_val_0000000{y}"],
            "bg_challenge/original/val": [f"ILSVRC2012_val_0000000{y}"],
            "bg_challenge/mixed_same/val": [f"fg_ILSVRC2012_val_0000000{y}_bg_ILSVRC2012_val_00000099"],
            "bg_challenge/mixed_rand/val": [f"fg_ILSVRC2012_val_0000000{y}_bg_n0000000{y}_1"],
            "bg_challenge/only_fg/val": [f"fg_ILSVRC2012_val_0000000{y}"],
            "bg_challenge/no_fg/val": [f"ILSVRC2012_val_0000000{y}"],
        }
        for folder, stems in photos.items():
            for stem in stems:
                picture(tmp_path / "backgrounds_challenge" / folder / f"{y:02d}_{name}" / f"{stem}.JPEG", 40, 36, y)
    return tmp_path


def test_a_photo_and_its_variants_are_one_original_and_what_is_tested_does_not_select(backgrounds):
    dataset = read("imagenet_bg+size=32", backgrounds)
    table = dataset.table
    sizes = {"train": 18, **dict.fromkeys(("val", "test"), 9)}
    variants = [f"test_{name}" for name in ("mixed_same", "mixed_rand", "only_fg", "no_fg")]
    assert table["split"].value_counts().to_dict() == sizes | dict.fromkeys(variants, 9)
    assert dataset.test_splits == ["test", *variants]
    tested = table[table["split"].str.startswith("test")]
    assert tested.groupby("original").size().eq(5).all() and tested.groupby("original")["y"].nunique().eq(1).all()
    assert dataset.groups.shape[1] == 9 and dataset.inputs.shape == (len(table), 32, 32, 3)


def test_a_photo_that_trains_and_selects_is_refused(backgrounds):
    folder = backgrounds / "backgrounds_challenge/in9l"
    shutil.copy(folder / "train/01_bird/n00000001_1.JPEG", folder / "val/02_wheeled vehicle/n00000001_1.JPEG")
    fails("imagenet_bg", backgrounds, "train/01_bird/n00000001_1.JPEG trains, and a photo of this name selects")


def test_a_photo_whose_name_does_not_tell_which_it_is_is_refused(backgrounds):
    photo = backgrounds / "backgrounds_challenge/bg_challenge/original/val/00_dog/ILSVRC2012_val_00000000.JPEG"
    variant = backgrounds / "backgrounds_challenge/bg_challenge/only_fg/val/00_dog/fg_ILSVRC2012_val_00000000.JPEG"
    variant.rename(variant.with_name("7.JPEG"))
    original = read("imagenet_bg+size=32", backgrounds).table["original"]
    assert original.value_counts().iloc[-1] == 1  # a variant of whatever photo
    photo.rename(photo.with_name("7.JPEG"))
    fails("imagenet_bg", backgrounds, "00_dog/7.JPEG: its name is not of ImageNet")


def test_a_class_without_images_is_named(backgrounds):
    folder = backgrounds / "backgrounds_challenge/bg_challenge/only_fg/val"
    shutil.rmtree(folder / "04_carnivore")
    fails("imagenet_bg", backgrounds, str(folder), "04_carnivore", "MadryLab/backgrounds_challenge")
    shutil.rmtree(folder)
    fails("imagenet_bg", backgrounds, "bg_challenge/only_fg/val", "DESPUR_DATA_ROOT")


# Spawrious: of 40 images, 97 % are 38 and 87 % are 34.
@pytest.fixture
def dogs(tmp_path, monkeypatch):
    monkeypatch.setattr(spawrious, "PER_GROUP", 40)
    groups = product((0, 1), spawrious.PLACES, spawrious.BREEDS)
    for environment, place, breed in groups:
        folder = tmp_path / f"spawrious224/{environment}/{place}/{breed}"
        picture(folder / "0.png", 32, 32, 0)
        for number in range(1, 40):
            (folder / f"{number}.png").hardlink_to(folder / "0.png")
    return tmp_path


def count_places(dataset, *splits):
    """Images of each breed in each place."""
    table = dataset.table[dataset.table["split"].isin(splits)]
    counts = table.groupby(["y", "a"]).size()
    return {(spawrious.BREEDS[y], spawrious.PLACES[a]): count for (y, a), count in counts.items()}


def test_a_breed_trains_in_its_own_place_and_the_shared_one_and_is_tested_in_anothers(dogs):
    dataset = read("spawrious+size=32", dogs)
    own = {("bulldog", "jungle"), ("dachshund", "mountain"), ("labrador", "snow"), ("corgi", "desert")}
    trained = dict.fromkeys(own, 38 + 34) | {(breed, "beach"): 2 + 6 for breed in spawrious.BREEDS}
    assert count_places(dataset, "train", "val") == trained
    tested = {("bulldog", "mountain"), ("dachshund", "snow"), ("labrador", "desert"), ("corgi", "jungle")}
    assert count_places(dataset, "test") == dict.fromkeys(tested, 80)
    assert dataset.table["split"].value_counts().to_dict() == {"train": 256, "val": 64, "test": 320}
    other = read("spawrious+draw=1+size=32", dogs).table
    assert not other["split"].equals(dataset.table["split"])


@pytest.mark.parametrize("challenge", spawrious.CHALLENGES)
def test_no_breed_is_tested_where_it_trains(dogs, challenge):
    spelled = "" if challenge == "o2o_hard" else f"challenge={challenge}+"
    dataset = read(f"spawrious+{spelled}size=32", dogs)
    trained, tested = count_places(dataset, "train", "val"), count_places(dataset, "test")
    assert not set(trained) & set(tested) and len(trained) == 8
    assert sum(trained.values()) == sum(tested.values()) == 320
    if challenge.startswith("m2m"):
        assert set(trained.values()) == set(tested.values()) == {40}
        for first, second in (("bulldog", "dachshund"), ("labrador", "corgi")):  # two breeds share two places
            assert {place for breed, place in trained if breed == first} == {p for b, p in trained if b == second}


def test_a_folder_with_too_few_dogs_is_named(dogs):
    folder = dogs / "spawrious224/0/jungle/bulldog"
    (folder / "7.png").unlink()
    (folder / "8.png").unlink()
    (folder / "9.png").unlink()
    fails("spawrious", dogs, str(folder), "37 images; o2o_hard needs 38", "aengusl/spawrious")
    shutil.rmtree(dogs / "spawrious224/1")
    fails("spawrious", dogs, "spawrious224/1", "DESPUR_DATA_ROOT")


# UrbanCars: as many images in a folder as its number.
@pytest.fixture
def cars(tmp_path, monkeypatch):
    monkeypatch.setattr(published_sizes, "read_declarations", lambda *_: {})
    for number, pattern in enumerate(urbancars.RAW):
        for image in range(1 + number % 8):
            picture(tmp_path / pattern.removesuffix("**") / f"{image}.jpg", 40, 36, number)
            picture(tmp_path / pattern.removesuffix("**") / f"{image}_mask.png", 40, 36, number)  # not read
    return tmp_path


def test_groups_are_of_background_and_object_or_of_one_of_them(cars):
    both = read("urbancars+size=32", cars)
    assert both.about["groups"][1] == "urban car, urban background, country object"
    for split in ("train", "val", "test"):
        assert both.groups[both.rows(split)].sum(axis=0).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    background = read("urbancars+attribute=background+size=32", cars)
    assert background.groups[background.rows("test")].sum(axis=0).tolist() == [3, 7, 11, 15]
    assert read("urbancars+attribute=object+size=32", cars).groups.sum(axis=0).tolist() == [12, 18, 36, 42]


def test_a_group_of_cars_without_images_is_named(cars):
    folder = cars / urbancars.RAW[9].removesuffix("/**")
    for image in folder.iterdir():
        image.rename(image.with_suffix(".txt"))
    fails("urbancars", cars, str(folder), "has no images", "Whac-A-Mole")
    shutil.rmtree(cars / "urbancars/bg-0.95_co_occur_obj-0.95")
    fails("urbancars", cars, "bg-0.95_co_occur_obj-0.95/train", "DESPUR_DATA_ROOT")
