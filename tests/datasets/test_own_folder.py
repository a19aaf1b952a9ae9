"""A folder of your own: metadata.csv with images or texts, read, refused or warned of."""

import os
import struct
import zlib

import numpy as np
import pandas as pd
import pytest
from helpers import read, well_formed
from PIL import Image

from despur.cli.check import check
from despur.cli.rows import Row
from despur.datasets.sources.image_files import LISTED, MOST_PIXELS
from despur.encoders import base, mlp
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage import raw_files
from despur.storage.store import InputError, load_dataset, save_dataset

NAME, COUNT = "bring_your_own+name=mine+resize=16", 12
SPLITS = ("train", "train", "val", "test") * 3


def lines(head="path,y,a,split", names=None, splits=SPLITS):
    """metadata.csv: classes cat and dog, places land and sea, in all splits."""
    rows = [(f"a/{i}.png", ("cat", "dog")[i % 2], ("land", "sea")[i // 4 % 2], splits[i]) for i in range(COUNT)]
    named = [(names or {}).get(i, row[0]) for i, row in enumerate(rows)]
    return [head, *(",".join(map(str, (name, *row[1:]))) for name, row in zip(named, rows, strict=True))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Twelve images of two colors, side by side, each a little brighter, and their table."""
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path))
    own = tmp_path / "bring_your_own/mine"
    (own / "a").mkdir(parents=True)
    for i in range(COUNT):
        image = Image.new("RGB", (40, 20), (0, 0, 100 + i))
        image.paste((100 + i, 0, 0), (0, 0, 15, 20))  # left of the central square: columns 10 to 29
        image.save(own / f"a/{i}.png")
    write(own, lines())
    return own


def write(folder, rows, encoding="utf-8", end="\n"):
    (folder / "metadata.csv").write_bytes(end.join([*rows, ""]).encode(encoding))


def make(folder, name=NAME):
    """The data set as it is kept on disk: all images are decoded."""
    found = read(name, folder.parents[1])
    save_dataset(folder.parents[1] / "kept", {"own": found})
    return load_dataset(folder.parents[1] / "kept", "own")


def refuse(folder, name=NAME):
    """What the error says, in one line."""
    with pytest.raises(InputError) as error:
        make(folder, name)
    assert str(folder) in str(error.value) and "\n" not in str(error.value)
    return str(error.value)


def test_images_are_cut_or_stretched_and_the_names_of_classes_and_attributes_are_kept(folder):
    dataset = well_formed(make(folder))
    assert dataset.inputs.shape == (COUNT, 16, 16, 3) and dataset.about["size"] == 16
    assert dataset.inputs[3, 8].tolist() == pytest.approx(
        np.where(np.arange(16)[:, None] < 4, [103, 0, 0], [0, 0, 103]), abs=30
    )
    stretched = make(folder, f"{NAME}+fit=stretch").inputs[3, 8]
    assert (stretched[:5, 0] > 90).all() and (stretched[7:, 0] < 10).all()
    assert dataset.about["classes"] == ["cat", "dog"] and dataset.about["attributes"] == ["land", "sea"]
    assert dataset.y.tolist() == [0, 1] * 6 and dataset.a.tolist() == [0, 0, 0, 0, 1, 1, 1, 1] + [0] * 4
    assert make(folder, f"{NAME}+size=12").about["size"] == 12


def test_photographs_are_upright_and_transparent_or_gray_ones_have_three_channels(folder):
    turned = Image.new("RGB", (20, 20), (200, 0, 0))
    turned.paste((0, 0, 200), (0, 10, 20, 20))  # below; held upright (6: turned by 90 degrees), to the left
    exif = Image.Exif()
    exif[0x0112] = 6
    turned.save(folder / "a/0.png", exif=exif)
    Image.new("L", (9, 9), 7).save(folder / "a/1.png")
    Image.new("RGBA", (9, 9), (1, 2, 3, 200)).save(folder / "a/2.png")
    inputs = make(folder).inputs
    assert inputs[0, 8, 2].tolist() == [0, 0, 200] and inputs[0, 8, 13].tolist() == [200, 0, 0]
    assert (inputs[1] == 7).all() and (inputs[2] == [1, 2, 3]).all()


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda row: row, {"encoding": "utf-8-sig"}),
        (lambda row: row, {"end": "\r\n"}),
        (lambda row: row.replace(",", ";"), {"encoding": "utf-8-sig", "end": "\r\n"}),
        (lambda row: row.replace(",", "\t"), {}),
        (lambda row: row.replace(",", " , "), {"end": "\n\n"}),
        (lambda row: ",".join(f'"{value}"' for value in row.split(",")), {}),
        (lambda row: row.replace("/", "\\"), {}),
        (lambda row: f"7,{row}", {}),
        (lambda row: row.replace("path,y,a,split", "filename,label,group,split"), {}),
        (lambda row: row.replace("path,y,a,split", "img_filename,y,place,Split"), {}),
        (lambda row: row.replace("train", "0").replace("val", "1").replace("test", "2"), {}),
        (lambda row: row.replace("val", "Valid"), {}),
    ],
)
def test_tables_of_any_spelling_are_read_alike(folder, change, options):
    expected = make(folder)
    write(folder, [change(row) for row in lines()], **options)
    found = make(folder)
    assert found.table.equals(expected.table) and found.about["classes"] == ["cat", "dog"]
    assert (found.inputs == expected.inputs).all()
    written = (folder / "metadata.csv").read_text("utf-8-sig")
    assert found.about["attribute"] == next((name for name in ("place", "group") if name in written), "a")


def test_numbers_are_sorted_as_numbers_and_other_texts_stay_as_they_are(folder):
    rows = [row.replace("cat", "10").replace("dog", "9") for row in lines()]
    write(folder, [row.replace("land", "007").replace("sea", "NA") for row in rows])
    about = make(folder).about
    assert about["classes"] == ["9", "10"] and about["attributes"] == ["007", "NA"]


def test_an_attribute_may_be_missing_in_training(folder):
    for missing in ("", "-1"):
        rows = lines()
        for number in (1, 2):
            rows[number] = rows[number].replace("land", missing)
        write(folder, rows)
        assert make(folder).a.tolist() == [-1, -1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]
        gap = next(line for line in check(NAME) if "attribute of 2 of 6 training samples is missing" in line)
        assert "gdro" in gap


# Hostile and broken files


def png(width, height):
    """A file that says it has so many pixels."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(bytes(99)))]
    chunks = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def truncate(file):
    file.write_bytes(file.read_bytes()[:60])


def write_deep(file):
    Image.fromarray(np.full((9, 9), 40_000, np.uint16)).save(file)


def make_pipe(file):
    file.unlink()
    os.mkfifo(file)


def make_folder(file):
    file.unlink()
    file.mkdir()


def make_dangling(file):
    file.unlink()
    file.symlink_to("nowhere.png")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (truncate, "cannot be used (image file is truncated"),
        (lambda file: file.write_bytes(b""), "cannot be used (cannot identify"),
        (lambda file: file.write_bytes(b"GIF89a" + bytes(9)), "cannot be used"),
        (lambda file: file.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>"), "cannot be used (cannot identify"),
        (
            lambda file: file.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"),
            "cannot be used (cannot identify",
        ),
        (
            lambda file: file.write_bytes(png(10_000, 10_000)),
            f"10000x10000 pixels; at most {MOST_PIXELS:,} are decoded",
        ),
        (lambda file: file.write_bytes(png(60_000, 60_000)), "decompression bomb"),
        (write_deep, "save it with 8 bits a channel"),
        (lambda file: file.unlink(), "not there (2 of 12 images are not)"),
        (make_dangling, "not there (2 of 12 images are not)"),
        (make_folder, "not there (2 of 12 images are not)"),
        (make_pipe, "not there (2 of 12 images are not)"),
    ],
)
def test_all_images_that_cannot_be_used_are_named_together(folder, spoil, words):
    for number in (4, 11):
        spoil(folder / f"a/{number}.png")
    said = refuse(folder)
    assert words in said and f"{folder}/a/4.png" in said and f"{folder}/a/11.png" in said
    assert "metadata.csv lists" in said and not (folder.parents[1] / "kept/inputs.npy").exists()


def test_of_many_missing_images_the_first_are_named_and_all_are_counted(folder):
    for file in folder.glob("a/*.png"):
        file.unlink()
    said = refuse(folder)
    assert said.count(".png") == LISTED and "and 2 more are not there (12 of 12 images are not)" in said


@pytest.mark.parametrize(
    "name",
    ["../0.png", "a/../../../0.png", "..\\0.png", "/etc/passwd", "C:\\0.png", "\\\\host\\0.png", "a/0.png\0", ".."],
)
def test_names_that_lead_out_of_the_folder_are_refused(folder, name):
    (folder.parent / "0.png").write_bytes((folder / "a/0.png").read_bytes())
    write(folder, lines(names={0: name, 5: name}))
    said = refuse(folder)
    assert said.count(repr(name)) == 2 and "may lie outside" in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no sample"),
        ("\n".join(lines()[:1]).encode(), "has no sample"),
        (b"\xff\xfe" + "\n".join(lines()).encode("utf-16-le"), "in UTF-8"),
        ("\n".join(lines()).replace("dog", "größer").encode("cp1252"), "in UTF-8"),
        ("\n".join([*lines(), 'a/0.png,cat,"land']).encode(), "cannot be read"),
        ("\n".join([*lines(), "a/0.png,cat,sea,blue,train"]).encode(), "line 14 has 5 values, the first line names 4"),
        ("\n".join([*lines(), "a/0.png,cat"]).encode(), "line 14 has 2 values"),
        ("\n".join(lines("path,y,a,y")).encode(), "y, y are columns of one meaning"),
        ("\n".join(lines("path,y,a,place")).encode(), "a, place are columns of one meaning"),
        ("\n".join(lines("path,y,b,fold")).encode(), "no column a or place or group; split; it has path, y, b, fold"),
        ("\n".join(lines("file,y,a,split")).encode(), "no column path (of an image), or text"),
        ("\n".join(lines(names={3: ""})).encode(), "path of sample 3 is missing"),
        ("\n".join(lines()).replace("0.png,cat", "0.png,").encode(), "y of sample 0 is missing"),
        ("\n".join(lines()).replace("2.png,cat", "2.png,Cat").encode(), "'Cat' and 'cat'"),
        ("\n".join(lines(splits=(*SPLITS[:11], "trian"))).encode(), "split of sample 11 is 'trian'"),
        ("\n".join(lines()).replace("dog", "0.5").replace("cat", "1.5").encode(), "seems continuous"),
        ("\n".join(lines()).replace("land", "sea").encode(), "same attribute"),
    ],
)
def test_tables_that_cannot_be_right_are_refused(folder, content, words):
    (folder / "metadata.csv").write_bytes(content)
    assert words in refuse(folder)


def test_check_warns_of_images_that_occur_twice_and_names_an_encoder(folder):
    (folder / "a/3.png").write_bytes((folder / "a/0.png").read_bytes())
    write(folder, lines(names={4: "a/5.png"}))
    (row,) = (line for line in check(NAME) if isinstance(line, Row) and line.table == "datasets")
    said = " ".join(row.values["gaps"])
    assert "1 of 6 samples of the split train have the inputs of another one" in said
    assert "1 of 3 samples of the split test have the inputs of a training sample" in said
    assert "+encoder=convnet" in said


def test_a_changed_image_is_noticed(folder):
    def identify():
        return raw_files.identify_files(resolve("datasets", NAME).points[0], folder.parents[1])

    before = identify()
    assert before == identify() and "bring_your_own/mine" in before
    Image.new("RGB", (40, 20)).save(folder / "a/3.png")
    changed = identify()
    assert (
        changed != before and changed["bring_your_own/mine/metadata.csv"] == before["bring_your_own/mine/metadata.csv"]
    )
    (folder / "a/new.png").symlink_to("nowhere")
    assert identify() != changed


# Texts

TEXTS = ["good film, good cast", "a bad film", "", "unheard words"]


def test_texts_of_a_folder_and_of_a_parquet_are_words_of_training(folder):
    table = [
        row.replace(f"a/{i - 1}.png", TEXTS[(i - 1) % 2] + " " + "x" * (i % 4 == 3), 1)
        for i, row in enumerate(lines("text;y;a;split"))
    ]
    write(folder, [row.replace(", ", "@").replace(",", ";").replace("@", ", ") for row in table])
    dataset = well_formed(make(folder, "bring_your_own+name=mine+tokens=6"))
    assert dataset.about["words"][:2] == ["film", "good"] or dataset.about["words"][0] == "good"
    assert dataset.inputs.shape == (COUNT, 6) and "x" not in dataset.about["words"]
    known = {word: 2 + i for i, word in enumerate(dataset.about["words"])}
    assert dataset.inputs[0].tolist() == [known[w] for w in ("good", "film", ",", "good", "cast")] + [0]
    assert dataset.inputs[2].tolist()[5] == 1
    texts = pd.read_csv(folder / "metadata.csv", sep=";")
    texts.to_parquet(folder.parent / "other.parquet")
    other = read("bring_your_own+name=other+tokens=6", folder.parents[1])
    assert (other.inputs == dataset.inputs).all() and other.table["y"].equals(dataset.table["y"])
    (row,) = (line for line in check("bring_your_own+name=other") if isinstance(line, Row) and line.table == "datasets")
    assert "+encoder=bigru" in " ".join(row.values["gaps"])


def test_a_missing_text_is_refused_and_vectors_alone_are_no_texts(folder):
    write(folder, [row.replace("path", "text").replace("a/4.png", "") for row in lines()])
    assert "text of sample 4 is missing" in refuse(folder)
    network = mlp.build({"hidden": 3, "layers": 1, "activation": "tanh", "dropout": 0.0}, (6,))
    with pytest.raises(SettingError, match=r"holds texts, but the encoder reads vectors: \+encoder=bigru"):
        base.check_vocabulary(network, {}, tokens=True)
    base.check_vocabulary(network, {}, tokens=False)
