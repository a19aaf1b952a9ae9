"""Loaders of data that users bring: miniature folders in the layouts seen in the wild, and the faults found in them."""

import re
import shutil

import numpy as np
import pandas as pd
import pooch
import pytest
from helpers import fails, read
from PIL import Image

from despur.specs.declarations import list_components, read_declarations
from despur.specs.resolution import resolve
from despur.storage.store import InputError, load_dataset, save_dataset

SPLITS = ["train", "val", "test"]
RNG = np.random.default_rng


def picture(path, width, height, seed=0):
    """A smooth random image, so that JPEG hardly changes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    coarse = Image.fromarray(RNG(seed).integers(0, 256, (3, 3, 3), dtype=np.uint8))
    coarse.resize((width, height), Image.Resampling.BICUBIC).save(path, quality=95)
    return path


def rows_of(path, rows, separator=",", end="\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(end.join([*(separator.join(map(str, row)) for row in rows), ""]).encode())
    return path


# Waterbirds: four birds in each split, one of each group.
BIRDS = [(i, f"bird_{i}/{i}.jpg", i % 2, i // 4, i // 2 % 2, "/o/ocean/1.jpg") for i in range(12)]
HEADER = ("img_id", "img_filename", "y", "split", "place", "place_filename")


def waterbirds(root, folder="waterbird_complete95_forest2water2", header=HEADER, birds=BIRDS, end="\n"):
    for bird in BIRDS:
        picture(root / folder / bird[1], 40 + bird[0], 30, bird[0])
    return rows_of(root / folder / "metadata.csv", [header, *birds], end=end)


def changed(birds, row, column, value):
    """The same rows, with one value changed."""
    at = HEADER.index(column)
    return [(*bird[:at], value, *bird[at + 1 :]) if i == row else bird for i, bird in enumerate(birds)]


@pytest.mark.parametrize(
    "folder", ["waterbird_complete95_forest2water2", "waterbirds_v1.0", "cub/data/waterbird_complete95_forest2water2"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_waterbirds_are_read_from_the_layouts_that_people_have(tmp_path, folder, end):
    waterbirds(tmp_path, folder, end=end)
    dataset = read("waterbirds+size=32", tmp_path)
    assert dataset.table["split"].tolist() == [SPLITS[bird[3]] for bird in BIRDS]
    assert dataset.table["y"].tolist() == [bird[2] for bird in BIRDS]
    assert dataset.table["a"].tolist() == [bird[4] for bird in BIRDS]
    assert dataset.about["groups"] == ["landbird, land", "landbird, water", "waterbird, land", "waterbird, water"]
    assert dataset.groups.sum(axis=0).tolist() == [3, 3, 3, 3]
    assert len(dataset.about["sha256"]["metadata.csv"]) == 64


def test_waterbirds_keep_their_shape_where_clip_sees_them(tmp_path):
    waterbirds(tmp_path)
    found = read("waterbirds+fit=clip+size=32", tmp_path).inputs[3:4]
    with Image.open(tmp_path / "waterbird_complete95_forest2water2" / BIRDS[3][1]) as image:  # 43 x 30
        assert (found[0] == np.asarray(image.resize((45, 32), Image.Resampling.BICUBIC))[:, 6:38]).all()


def test_waterbirds_are_enlarged_by_256_over_224_and_cut_in_the_middle(tmp_path):
    waterbirds(tmp_path)
    dataset = read("waterbirds", tmp_path)
    assert dataset.inputs.shape == (12, 224, 224, 3)
    for i in (0, 7):
        with Image.open(tmp_path / "waterbird_complete95_forest2water2" / BIRDS[i][1]) as image:
            expected = np.asarray(image.resize((256, 256), Image.Resampling.BILINEAR))[16:240, 16:240]
        assert np.array_equal(dataset.inputs[i : i + 1][0], expected)


def test_gray_and_transparent_images_become_three_channels(tmp_path):
    waterbirds(tmp_path)
    folder = tmp_path / "waterbird_complete95_forest2water2"
    Image.new("L", (50, 50), 77).save(folder / BIRDS[0][1])
    Image.new("RGBA", (50, 50), (1, 2, 3, 4)).save(folder / BIRDS[1][1], format="png")
    made = read("waterbirds+size=32", tmp_path).inputs[0:2]
    assert (made[0] == 77).all() and (made[1] == (1, 2, 3)).all()


def test_a_data_set_that_is_not_there_is_an_error_that_says_where_it_was_looked_for(tmp_path):
    fails("waterbirds", tmp_path, str(tmp_path), "waterbirds_v1.0/metadata.csv", "nlp.stanford.edu", "DESPUR_DATA_ROOT")
    fails("celeba", tmp_path, str(tmp_path), "celeba", "mmlab", "DESPUR_DATA_ROOT")


def test_a_missing_column_is_an_error_that_names_it_and_what_is_there(tmp_path):
    path = waterbirds(tmp_path, header=("img_id", "img_filename", "label", "split", "place", "place_filename"))
    fails("waterbirds", tmp_path, str(path), "no column y", "label", "unpack it (again) into")


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [
        (5, "split", 3, ["column split is 3 for 6. sample", "2 (test)"]),
        (0, "split", "train", ["column split is 'train' for 1. sample"]),
        (11, "y", 2, ["column y is 2 for 12. sample", "1 (waterbird)"]),
        (4, "place", -1, ["column place is -1 for 5. sample", "0 (land)"]),
        (4, "place", "", ["column place is nan for 5. sample", "may not be empty"]),
        (3, "img_filename", "", ["column img_filename is nan for 4. sample", "may not be empty"]),
        (3, "img_filename", BIRDS[1][1], ["column img_filename is 'bird_1/1.jpg' for 4. sample", "an earlier one"]),
    ],
)
def test_a_wrong_code_is_an_error_that_names_column_sample_and_codes(tmp_path, row, column, value, words):
    path = waterbirds(tmp_path, birds=changed(BIRDS, row, column, value))
    fails("waterbirds", tmp_path, str(path), "unpack it (again) into", *words)


def test_an_empty_split_is_an_error(tmp_path):
    path = waterbirds(tmp_path, birds=BIRDS[:8])
    fails("waterbirds", tmp_path, str(path), "split test empty")


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe" * 50])
def test_a_file_that_is_no_table_is_an_error(tmp_path, content):
    path = waterbirds(tmp_path)
    path.write_bytes(content)
    fails("waterbirds", tmp_path, str(path), "unpack it (again) into")


def test_a_missing_image_is_an_error_before_any_is_decoded(tmp_path):
    path = waterbirds(tmp_path)
    for i in (3, 8):
        (path.parent / BIRDS[i][1]).unlink()
    fails("waterbirds", tmp_path, str(path.parent / BIRDS[3][1]), "2 of 12", "unpack it (again) into")


@pytest.mark.parametrize(
    "spoil", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"<html>404</html>"]
)
def test_an_unreadable_image_is_an_error_that_names_it_and_nothing_is_written(tmp_path, spoil):
    path = waterbirds(tmp_path)
    image = path.parent / BIRDS[5][1]
    image.write_bytes(spoil(image.read_bytes()))
    fails("waterbirds", tmp_path, str(image), "unpack it (again) into", make=True)
    assert not list((tmp_path / "out").iterdir())


# CelebA: six images, two in each split.
FACES = [f"{i:06d}.jpg" for i in range(1, 7)]
BLOND, MALE, PARTITION = [1, -1, 1, -1, -1, 1], [-1, -1, 1, 1, -1, -1], [0, 0, 1, 1, 2, 2]
ATTRIBUTES = ["5_o_Clock_Shadow", "Blond_Hair", "Male", "Young"]


def celeba(
    root,
    kind="txt",
    folder="celeba",
    images="img_align_celeba",
    end="\n",
    attributes=ATTRIBUTES,
    partition=PARTITION,
    blond=BLOND,
):
    for i, face in enumerate(FACES):
        picture(root / folder / images / face, 178, 218, i)
    rows = [(face, -1, b, m, 1) for face, b, m in zip(FACES, blond, MALE, strict=True)]
    splits = list(zip(FACES, partition, strict=True))
    if kind == "txt":  # as the authors write them: a blank after the last title, two where there is no minus
        heads = [[len(FACES)], [*attributes, ""]]
        aligned = [[row[0], *(f"{value:2d}" for value in row[1:])] for row in rows]
        rows_of(root / folder / "list_attr_celeba.txt", [*heads, *aligned], " ", end)
        rows_of(root / folder / "list_eval_partition.txt", splits, " ", end)
    else:
        rows_of(root / folder / "list_attr_celeba.csv", [["image_id", *attributes], *rows], ",", end)
        rows_of(root / folder / "list_eval_partition.csv", [["image_id", "partition"], *splits], ",", end)
    return root / folder


@pytest.mark.parametrize("kind", ["txt", "csv"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("folder", "images"),
    [
        ("celeba", "img_align_celeba"),
        ("celebA/data", "img_align_celeba/img_align_celeba"),
        ("celebA_v1.0", "img_align_celeba"),
    ],
)
def test_celeba_is_read_from_both_spellings(tmp_path, kind, end, folder, images):
    celeba(tmp_path, kind, folder, images, end)
    dataset = read("celeba+size=32", tmp_path)
    assert dataset.table["split"].tolist() == [SPLITS[code] for code in PARTITION]
    assert dataset.table["y"].tolist() == [1, 0, 1, 0, 0, 1]
    assert dataset.table["a"].tolist() == [0, 0, 1, 1, 0, 0]
    assert dataset.about["groups"] == ["not blond, female", "not blond, male", "blond, female", "blond, male"]
    assert set(dataset.about["sha256"]) == {f"list_attr_celeba.{kind}", f"list_eval_partition.{kind}"}
    assert dataset.inputs[1:3].shape == (2, 32, 32, 3)


def test_celeba_may_be_sorted_into_the_authors_folders(tmp_path):
    folder = celeba(tmp_path, images="Img/img_align_celeba")
    for sub, name in (("Anno", "list_attr_celeba.txt"), ("Eval", "list_eval_partition.txt")):
        (folder / sub).mkdir()
        (folder / name).rename(folder / sub / name)
    assert read("celeba+size=32", tmp_path).table["y"].tolist() == [1, 0, 1, 0, 0, 1]


def test_a_folder_of_celeba_that_holds_nothing_hides_no_other_one(tmp_path):
    celeba(tmp_path, folder="CelebA")
    (tmp_path / "celeba").mkdir()
    (tmp_path / "celeba/list_attr_celeba.csv").write_text("image_id,Blond_Hair,Male\n")
    fails("celeba", tmp_path, "celeba/list_attr_celeba.csv holds no list")  # the one that counts
    (tmp_path / "celeba/list_attr_celeba.csv").unlink()
    assert len(read("celeba+size=32", tmp_path).table) == len(FACES)


def test_celeba_is_cut_to_its_central_square_and_enlarged(tmp_path):
    folder = celeba(tmp_path)
    dataset = read("celeba", tmp_path)
    assert dataset.inputs.shape == (6, 224, 224, 3)
    with Image.open(folder / "img_align_celeba" / FACES[2]) as image:
        middle = Image.fromarray(np.asarray(image)[20:198])
    assert np.array_equal(dataset.inputs[2:3][0], np.asarray(middle.resize((224, 224), Image.Resampling.BILINEAR)))


def test_celeba_may_be_as_clip_sees_it(tmp_path):
    folder = celeba(tmp_path)
    found = read("celeba+fit=clip+size=32", tmp_path).inputs[2:3][0]
    with Image.open(folder / "img_align_celeba" / FACES[2]) as image:
        assert (found == np.asarray(image.resize((32, 39), Image.Resampling.BICUBIC))[4:36]).all()
    picture(folder / "img_align_celeba" / FACES[3], 409, 687)
    fails("celeba+fit=clip", tmp_path, "409x687, not 178x218", make=True)


def test_a_split_list_in_another_order_is_matched_by_name(tmp_path):
    folder = celeba(tmp_path)
    lines = (folder / "list_eval_partition.txt").read_text().splitlines()
    rows_of(folder / "list_eval_partition.txt", [[line] for line in reversed(lines)])
    assert read("celeba+size=32", tmp_path).table["split"].tolist() == [SPLITS[code] for code in PARTITION]


@pytest.mark.parametrize("kind", ["txt", "csv"])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            {"attributes": ["5_o_Clock_Shadow", "Blond", "Male", "Young"]},
            ["list_attr_celeba", "no column Blond_Hair", "Blond, Male"],
        ),
        ({"partition": [0, 0, 1, 1, 2, 3]}, ["list_eval_partition", "column partition is 3 for 6. sample", "2 (test)"]),
        ({"partition": [0, 0, 0, 0, 2, 2]}, ["list_eval_partition", "split val empty"]),
        ({"blond": [1, -1, 1, 7, -1, 1]}, ["list_attr_celeba", "column Blond_Hair is 7 for 4. sample"]),
    ],
)
def test_a_fault_in_a_list_is_an_error_that_names_it(tmp_path, kind, fault, words):
    folder = celeba(tmp_path, kind, **fault)
    fails("celeba", tmp_path, str(folder), kind, "mmlab", *words)


def test_a_list_that_is_cut_off_is_an_error_where_its_first_line_counts(tmp_path):
    folder = celeba(tmp_path)
    for name in ("list_attr_celeba.txt", "list_eval_partition.txt"):
        lines = (folder / name).read_text().splitlines()
        rows_of(folder / name, [[line] for line in lines[:-1]])
    fails("celeba", tmp_path, "list_attr_celeba.txt", "lists 5 images, but its first line says 6", "mmlab")


@pytest.mark.parametrize("kind", ["txt", "csv"])
@pytest.mark.parametrize("name", ["list_attr_celeba", "list_eval_partition"])
def test_an_image_that_a_list_has_twice_is_an_error(tmp_path, kind, name):
    path = celeba(tmp_path, kind) / f"{name}.{kind}"
    lines = path.read_text().splitlines()
    rows_of(path, [[line] for line in [*lines[:-1], lines[-2]]])
    fails("celeba", tmp_path, str(path), "column image is '000005.jpg' for 6. sample", "an earlier one", "mmlab")


def test_lists_of_different_images_are_an_error(tmp_path):
    folder = celeba(tmp_path)
    rows_of(folder / "list_eval_partition.txt", list(zip(FACES[:-1], PARTITION[:-1], strict=True)), " ")
    fails("celeba", tmp_path, "list_attr_celeba.txt", "list_eval_partition.txt", FACES[-1])


@pytest.mark.parametrize("name", ["list_attr_celeba.txt", "list_eval_partition.txt"])
def test_a_missing_or_empty_list_is_an_error(tmp_path, name):
    folder = celeba(tmp_path)
    (folder / name).write_text("202599\n")
    fails("celeba", tmp_path, name, "mmlab")
    (folder / name).unlink()
    fails("celeba", tmp_path, name, name.replace("txt", "csv"), "mmlab")


def test_images_that_are_not_the_aligned_ones_are_an_error(tmp_path):
    folder = celeba(tmp_path)
    path = picture(folder / "img_align_celeba" / FACES[3], 409, 687)
    fails("celeba", tmp_path, str(path), "409x687, not 178x218", make=True)


def test_images_are_written_a_few_at_a_time_and_read_back(tmp_path, monkeypatch):
    celeba(tmp_path)
    dataset = read("celeba+size=32", tmp_path)
    asked = []
    make = dataset.inputs.make
    monkeypatch.setattr("despur.storage.store.ROWS", 4)
    object.__setattr__(dataset.inputs, "make", lambda rows: asked.append(rows) or make(rows))
    save_dataset(tmp_path / "out", {"celeba": dataset})
    again = load_dataset(tmp_path / "out", "celeba")
    assert asked == [slice(0, 4), slice(4, 8)]
    assert np.array_equal(again.inputs, make(slice(0, 6)))
    assert again.table.equals(dataset.table) and again.about == dataset.about


def test_points_of_different_sizes_are_an_error(tmp_path):
    celeba(tmp_path)
    points = {f"celeba+size={size}": read(f"celeba+size={size}", tmp_path) for size in (32, 40)}
    with pytest.raises(InputError, match=re.escape(str(tmp_path / "out"))):
        save_dataset(tmp_path / "out", points)


# CivilComments: in each split, five comments: about no identity, one, several; the last one toxic, too.
NAMES = ["male", "female", "LGBTQ", "christian", "muslim", "other_religions", "black", "white"]
COMMENTS = [
    ("hello, world", 0.0, []),
    ("NA", 0.49, ["male"]),
    ('She said "hello"\nand left', 0.5, ["female", "white"]),
    ("hello hello world", 0.2, ["black", "muslim", "white"]),
    ("HELLO", 1.0, ["black"]),
]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "world", "na", ",", '"', "she"]


def civilcomments(root, monkeypatch, change=lambda table: table, end="\n"):
    """Both files that the data set needs; ``change`` spoils the table."""
    rows = [
        {
            "id": i,
            "comment_text": text,
            "split": split,
            "toxicity": toxic,
            **{name: 0.6 if name in about else 0.4 for name in NAMES},
        }
        for split in SPLITS
        for i, (text, toxic, about) in enumerate(COMMENTS)
    ]
    path = root / "civilcomments_v1.0" / "all_data_with_identities.csv"
    path.parent.mkdir(parents=True)
    change(pd.DataFrame(rows)).to_csv(path, lineterminator=end)
    vocabulary = rows_of(root / "weights/bert-base-uncased/vocab.txt", [[word] for word in WORDS])
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(root / "weights"))
    return path, vocabulary


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_are_in_the_groups_of_all_identities_that_they_mention(tmp_path, monkeypatch, end):
    civilcomments(tmp_path, monkeypatch, end=end)
    dataset = read("civilcomments+tokens=12", tmp_path)
    assert dataset.table["split"].tolist() == [split for split in SPLITS for _ in COMMENTS]
    assert dataset.table["y"].tolist() == [0, 0, 1, 0, 1] * 3
    assert dataset.table["a"].tolist() == [0, 1, 1, 1, 1] * 3
    for row, (_, toxic, about) in enumerate(COMMENTS):
        found = [name for name, inside in zip(dataset.about["groups"], dataset.groups[row], strict=True) if inside]
        assert sorted(found) == sorted(f"{'toxic' if toxic >= 0.5 else 'not toxic'}, {name}" for name in about)
    assert len(dataset.about["groups"]) == 16
    assert read("civilcomments+attribute=black", tmp_path).table["a"].tolist() == [0, 0, 0, 1, 1] * 3


def test_a_comment_may_be_a_sample_of_each_identity_that_it_mentions(tmp_path, monkeypatch):
    civilcomments(tmp_path, monkeypatch)
    dataset = read("civilcomments+attribute=identity+tokens=12", tmp_path)
    rows = dataset.rows("val")
    assert [NAMES[a] for a in dataset.a[rows]] == ["male", "female", "white", "muslim", "black", "white", "black"]
    assert dataset.table["original"].iloc[rows].tolist() == [6, 7, 7, 8, 8, 8, 9]
    assert dataset.y[rows].tolist() == [0, 1, 1, 0, 0, 0, 1]
    assert (dataset.groups == dataset.class_attribute_groups).all() and dataset.about["groups"][9] == "toxic, female"
    comments = read("civilcomments+tokens=12", tmp_path)
    original = dataset.table["original"].to_numpy()
    assert (dataset.inputs[0:21] == comments.inputs[0:15][original]).all()
    assert (dataset.groups.sum(axis=0) == comments.groups.sum(axis=0)).all()


def test_an_empty_identity_is_not_mentioned(tmp_path, monkeypatch):
    """WILDS reads it as not a number, which is not at least a half."""
    civilcomments(tmp_path, monkeypatch, lambda table: table.assign(black=table["black"].where(table["black"] > 0.5)))
    assert read("civilcomments+attribute=black", tmp_path).table["a"].tolist() == [0, 0, 0, 1, 1] * 3


def test_comments_are_tokenised_cut_and_padded(tmp_path, monkeypatch):
    civilcomments(tmp_path, monkeypatch)
    tokens = read("civilcomments+tokens=8", tmp_path).inputs
    assert tokens.shape == (15, 8)
    assert tokens[0:5].dtype == np.int32
    assert tokens[0:5].tolist() == [
        [2, 5, 8, 6, 3, 0, 0, 0],
        [2, 7, 3, 0, 0, 0, 0, 0],
        [2, 10, 1, 9, 5, 9, 1, 3],
        [2, 5, 5, 6, 3, 0, 0, 0],
        [2, 5, 3, 0, 0, 0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda t: t.rename(columns={"LGBTQ": "homosexual_gay_or_lesbian"}),
            ["no column LGBTQ", "homosexual_gay_or_lesbian"],
        ),
        (
            lambda t: t.replace({"split": {"val": "validation"}}),
            ["column split is 'validation' for 6. sample", "val (val)"],
        ),
        (lambda t: t[t["split"] != "test"], ["split test empty"]),
        (
            lambda t: t.assign(toxicity=t["toxicity"].where(t.index != 7)),
            ["column toxicity is '' for 8. sample", "may not be empty"],
        ),
        (lambda t: t.assign(white=3), ["column white is 3 for 1. sample"]),
        (lambda t: t[(t["split"] != "val") | (t["id"] == 0)], ["no comment of the split val mentions an identity"]),
    ],
)
def test_a_fault_in_the_comments_is_an_error_that_names_it(tmp_path, monkeypatch, change, words):
    path, _ = civilcomments(tmp_path, monkeypatch, change)
    fails("civilcomments", tmp_path, str(path), "unpack it (again) into", "DESPUR_DATA_ROOT", *words)


@pytest.mark.parametrize("content", ["", "<html>404</html>\n", "hello\nworld\n"])
def test_a_file_that_is_no_vocabulary_is_an_error(tmp_path, monkeypatch, content):
    _, vocabulary = civilcomments(tmp_path, monkeypatch)
    vocabulary.write_text(content)
    fails("civilcomments", tmp_path, str(vocabulary), "huggingface.co", "DESPUR_WEIGHTS_ROOT")


def test_a_missing_vocabulary_is_downloaded_or_an_error_that_says_how_to_get_it(tmp_path, monkeypatch):
    _, vocabulary = civilcomments(tmp_path, monkeypatch)
    vocabulary = vocabulary.rename(tmp_path / "weights/elsewhere.txt")
    asked = []

    def retrieve(url, checksum, name, folder, **options):
        asked.append(url)
        shutil.copy(vocabulary, folder / name)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert read("civilcomments+tokens=8", tmp_path).inputs[4:5].tolist() == [[2, 5, 3, 0, 0, 0, 0, 0]]
    assert asked == ["https://huggingface.co/google-bert/bert-base-uncased/resolve/main/vocab.txt"]
    (tmp_path / "weights/bert-base-uncased/vocab.txt").unlink()
    monkeypatch.delattr(pooch, "retrieve")
    fails(
        "civilcomments",
        tmp_path,
        str(tmp_path / "weights/bert-base-uncased/vocab.txt"),
        asked[0],
        "DESPUR_WEIGHTS_ROOT",
    )


@pytest.mark.parametrize("dataset", ["waterbirds", "celeba", "civilcomments"])
def test_what_is_published_can_be_asked_for(dataset):
    named = set(read_declarations("datasets", dataset)["PAPER_HYPERPARAMETERS"]) - {"*", "stage1/erm", "groups/george"}
    assert named <= set(list_components("methods"))
    encoder = "bert" if dataset == "civilcomments" else "resnet50"
    for method in list_components("methods"):
        point = resolve("methods", method, dataset).points[0]
        assert point.changes == {}
        stated = read_declarations("datasets", dataset)["PAPER_HYPERPARAMETERS"].get(method, {})
        # which methods without labels take
        if "encoder" in point.components and point.components["encoder"].base_name != "convnet":
            assert point.components["encoder"].base_name == stated.get("encoder", encoder)
        # those: test_datasets.py
        assert {key for key in stated if not key.startswith("stage1.")} <= point.settings.keys()
