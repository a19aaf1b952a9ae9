import gzip
import hashlib
import os
import re
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pooch
import pytest
from helpers import read, within

from despur.datasets import cmnist
from despur.datasets.cmnist import read_idx
from despur.datasets.sources import coloring
from despur.datasets.sources.coloring import rgb
from despur.storage.store import InputError

REAL = Path(os.environ.get("DESPUR_DATA_ROOT") or Path(__file__).parents[3] / "shared" / "data")
IMAGES, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"


@cache
def digits(name="colored_digits"):
    return read(name)


def originals(dataset, split):
    return set(dataset.table["original"][dataset.rows(split)])


def aligned(dataset, split="train"):
    """The share of samples in the color of their class, and their number."""
    table = dataset.table.iloc[dataset.rows(split)]
    return (table["y"] == table["a"]).mean(), len(table)


def nearest_colors(images, palette):
    """For each image the palette's color that its most saturated pixel is nearest to."""
    pixels = images.reshape(len(images), -1, 3).astype(int)
    strongest = np.ptp(pixels, axis=2).argmax(axis=1)
    ink = pixels[np.arange(len(pixels)), strongest]
    return np.abs(ink[:, None] - rgb(palette).astype(int)).sum(axis=2).argmin(axis=1)


def assert_well_formed(dataset):
    count = len(dataset.table)
    assert dataset.inputs.shape == (count, 40, 40, 3)
    assert dataset.inputs.dtype == np.uint8
    assert set(dataset.splits) == {"train", "val", "test"}
    assert (dataset.y == dataset.table["digit"] // 2).all()
    assert dataset.groups.shape == (count, 25)
    assert (dataset.groups.argmax(axis=1) == 5 * dataset.y + dataset.table["a"]).all()
    assert (dataset.groups.sum(axis=1) == 1).all()
    assert {dataset.about["select"], dataset.about["headline"]} <= set(dataset.splits)


def assert_splits_share_no_original(dataset):
    parts = [originals(dataset, split) for split in dataset.splits]
    assert sum(map(len, parts)) == len(set.union(*parts))


def test_colored_digits_are_well_formed():
    assert_well_formed(digits())


def test_colored_digits_use_every_scan_in_one_split_only():
    assert_splits_share_no_original(digits())
    assert set(digits().table["original"]) == set(range(1797))


def test_colored_digits_render_held_out_originals_once_in_each_color():
    for split in ("val", "test"):
        table = digits().table.iloc[digits().rows(split)]
        assert len(table) == 5 * len(originals(digits(), split))
        assert not table.duplicated(["original", "a"]).any()
        assert table.groupby("original")["y"].nunique().eq(1).all()


def test_colored_digits_render_training_originals_once():
    assert len(digits().rows("train")) == len(originals(digits(), "train"))


def test_colored_digits_hold_out_the_shares_asked_for():
    dataset = digits("colored_digits+test_fraction=0.4+val_fraction=0.1")
    assert len(originals(dataset, "test")) == pytest.approx(0.4 * 1797, abs=1)
    assert len(originals(dataset, "val")) == pytest.approx(0.1 * 1797, abs=1)


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("colored_digits+p_corr=0.9", 0.9),
        ("colored_digits+minority=any+p_corr=0.5", 0.6),
        ("colored_digits+p_corr=1", 1.0),
        ("colored_digits+p_corr=0", 0.0),
        ("colored_digits+minority=any+p_corr=0", 0.2),
    ],
)
def test_colored_digits_have_the_share_of_aligned_colors_asked_for(name, share):
    found, count = aligned(digits(name))
    assert within(found, share, count)


def test_colored_digits_draw_a_split_and_colors_of_their_own():
    first, second = digits("colored_digits+p_corr=0.9"), digits("colored_digits+draw=1+p_corr=0.9")
    overlap = originals(first, "test") & originals(second, "test")
    assert len(overlap) < 0.5 * len(originals(first, "test"))
    assert within(aligned(second)[0], 0.9, aligned(second)[1])


@pytest.mark.parametrize(
    "other",
    ["colored_digits+p_corr=0", "colored_digits+colors=paper+p_corr=0.9", "colored_digits+minority=any+p_corr=0"],
)
def test_colored_digits_keep_the_split_when_only_colors_differ(other):
    for split in ("train", "val", "test"):
        assert originals(digits(other), split) == originals(digits("colored_digits+p_corr=0.9"), split)


def test_colored_digits_are_the_same_every_time():
    again = read("colored_digits+p_corr=0.9")
    assert again.table.equals(digits("colored_digits+p_corr=0.9").table)
    assert np.array_equal(again.inputs, digits("colored_digits+p_corr=0.9").inputs)


@pytest.mark.parametrize(
    ("palette", "name"),
    [("released", "colored_digits+p_corr=0.9"), ("paper", "colored_digits+colors=paper+p_corr=0.9")],
)
def test_colored_digits_are_painted_in_their_palette(palette, name):
    images, a = digits(name).inputs[::9], digits(name).table["a"][::9]
    assert (nearest_colors(images, palette) == a).mean() > 0.99


def test_renderings_of_an_original_differ_in_color_only():
    dataset = digits()
    rows = dataset.rows("test")
    same = rows[dataset.table["original"][rows] == dataset.table["original"][rows[0]]]
    black = (dataset.inputs[same] == 0).all(axis=3)
    assert len(same) == 5
    assert (black == black[0]).all()
    assert 0 < black[0].mean() < 1


def idx(array):
    """An idx file of bytes, gzipped."""
    return gzip.compress(struct.pack(f">4B{array.ndim}i", 0, 0, 8, array.ndim, *array.shape) + array.tobytes())


@pytest.fixture
def mnist(tmp_path, monkeypatch, no_network):
    """A folder with four small made-up MNIST files."""
    rng = np.random.default_rng(0)
    content = {}
    for part, count in (("train", 1000), ("t10k", 300)):
        content[f"{part}-images-idx3-ubyte.gz"] = idx(rng.integers(0, 256, (count, 28, 28), dtype=np.uint8))
        content[f"{part}-labels-idx1-ubyte.gz"] = idx(rng.integers(0, 10, count, dtype=np.uint8))
    (tmp_path / "mnist").mkdir()
    for name, data in content.items():
        (tmp_path / "mnist" / name).write_bytes(data)
    monkeypatch.setattr(cmnist, "SHA256", {name: hashlib.sha256(data).hexdigest() for name, data in content.items()})
    return tmp_path


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 5)])
@pytest.mark.parametrize("folder", ["mnist", "MNIST/raw"])
def test_idx_files_are_read_in_their_shape(tmp_path, monkeypatch, shape, folder):
    array = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / IMAGES).write_bytes(idx(array))
    monkeypatch.setitem(cmnist.SHA256, IMAGES, hashlib.sha256(idx(array)).hexdigest())
    assert np.array_equal(read_idx(tmp_path, IMAGES), array)


def test_a_missing_raw_file_is_an_error_that_says_which_where_and_how_to_get_it(tmp_path, no_network):
    with pytest.raises(InputError) as error:
        read("cmnist", tmp_path)
    path = str(tmp_path / "mnist" / IMAGES)
    for word in (path, "no route to host", cmnist.SOURCE, "DESPUR_DATA_ROOT"):
        assert word in str(error.value)


def test_a_missing_raw_file_is_downloaded_with_its_checksum_from_the_mirror_if_need_be(tmp_path, monkeypatch):
    array = np.arange(12, dtype=np.uint8).reshape(3, 4)
    checksum = hashlib.sha256(idx(array)).hexdigest()
    monkeypatch.setitem(cmnist.SHA256, LABELS, checksum)
    asked = []

    def retrieve(url, known, name, folder, **_):
        asked.append((url, known))
        if url.startswith(cmnist.SOURCE):
            raise OSError("no route to host")
        folder.mkdir()
        (folder / name).write_bytes(idx(array))

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert np.array_equal(read_idx(tmp_path, LABELS), array)
    (download,) = (each for each in cmnist.DOWNLOADS if each["file"] == f"mnist/{LABELS}")
    assert asked == [(url, f"sha256:{checksum}") for url in (download["url"], *download["mirrors"])]


@pytest.mark.parametrize("name", [IMAGES, LABELS])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:50] + bytes([data[50] ^ 1]) + data[51:],
        lambda data: b"",
    ],
    ids=["half", "one byte short", "one bit off", "empty"],
)
def test_a_spoilt_raw_file_is_an_error_that_names_it_and_keeps_it(mnist, name, spoil):
    path = mnist / "mnist" / name
    spoilt = spoil(path.read_bytes())
    path.write_bytes(spoilt)
    with pytest.raises(InputError, match="checksum") as error:
        read("cmnist", mnist)
    assert str(path) in str(error.value)
    assert cmnist.SOURCE + name in str(error.value)
    assert path.read_bytes() == spoilt


def test_the_data_stage_says_in_one_line_what_is_wrong_and_writes_nothing(tmp_path):
    (tmp_path / "raw" / "mnist").mkdir(parents=True)
    for name in cmnist.SHA256:
        (tmp_path / "raw" / "mnist" / name).write_bytes(b"half a file")
    done = subprocess.run(
        [sys.executable, "-m", "despur.data", "results/data/cmnist"],
        cwd=tmp_path,
        env=os.environ | {"DESPUR_DATA_ROOT": str(tmp_path / "raw")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert re.fullmatch(rf"error: {re.escape(str(tmp_path / 'raw' / 'mnist'))}\S+: wrong checksum.*\n", done.stderr)
    assert not list(tmp_path.glob("results/data/*/*"))


def test_cmnist_is_well_formed(mnist):
    dataset = read("cmnist", mnist)
    assert_well_formed(dataset)
    assert dataset.about["sha256"] == cmnist.SHA256


@pytest.mark.parametrize(("name", "held_out"), [("cmnist", 200), ("cmnist+val_fraction=0.1", 100)])
def test_cmnist_holds_validation_out_of_the_training_files(mnist, name, held_out):
    dataset = read(name, mnist)
    assert_splits_share_no_original(dataset)
    assert len(originals(dataset, "val")) == len(dataset.rows("val")) == held_out
    assert originals(dataset, "val") | originals(dataset, "train") == set(range(1000))
    assert originals(dataset, "test") == set(range(1000, 1300))


def test_cmnist_colors_pixels_from_the_threshold_on(mnist):
    usual, brighter = (read(name, mnist) for name in ("cmnist", "cmnist+threshold=200"))

    def gray(images):
        return (images == images[..., :1]).all(axis=-1).mean()

    assert gray(brighter.inputs) > gray(usual.inputs) + 0.01 and usual.table.equals(brighter.table)


def test_cmnist_labels_belong_to_their_images(mnist):
    dataset = read("cmnist", mnist)
    labels = np.concatenate([read_idx(mnist, f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k")])
    gray = np.concatenate([read_idx(mnist, f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")])
    order = dataset.table["original"].to_numpy()
    assert np.array_equal(dataset.table["digit"], labels[order])
    darkness = (gray[order] < 120).mean(axis=(1, 2))
    colorless = (np.ptp(dataset.inputs, axis=3) == 0).mean(axis=(1, 2))
    assert np.corrcoef(darkness, colorless)[0, 1] > 0.5


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("cmnist+p_corr=0", 0.0),
        ("cmnist+minority=any+p_corr=0", 0.2),
        ("cmnist+p_corr=0.8", 0.8),
        ("cmnist+p_corr=1", 1.0),
    ],
)
def test_cmnist_correlates_training_colors_only(mnist, name, share):
    dataset = read(name, mnist)
    found, count = aligned(dataset)
    assert within(found, share, count)
    for split in ("val", "test"):
        assert within(aligned(dataset, split)[0], 0.2, len(dataset.rows(split)))
        shares = np.bincount(dataset.table["a"][dataset.rows(split)], minlength=5) / len(dataset.rows(split))
        assert all(within(found, 0.2, len(dataset.rows(split))) for found in shares)


def test_cmnist_draws_a_split_of_its_own(mnist):
    first, second, again = (read(name, mnist) for name in ("cmnist", "cmnist+draw=1", "cmnist"))
    assert len(originals(first, "val") & originals(second, "val")) < 100
    assert first.table.equals(again.table)
    assert np.array_equal(first.inputs, again.inputs)


@pytest.mark.parametrize("palette", ["paper", "released"])
def test_cmnist_is_painted_in_its_palette(mnist, palette):
    dataset = read(f"cmnist+colors={palette}", mnist)
    expected = rgb(palette).astype(int)[dataset.table["a"]]
    nearest = np.abs(dataset.inputs.reshape(1300, -1, 3).astype(int) - expected[:, None]).sum(axis=2).min(axis=1)
    assert nearest.max() <= 6


@pytest.fixture(scope="module")
def real():
    """CMNIST* from the real files, not enlarged (which is most of the work)."""
    if not (REAL / "mnist" / IMAGES).exists():
        pytest.skip(f"no MNIST under {REAL}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coloring, "resize", lambda images, size: images)
        return read("cmnist", REAL)


def test_real_mnist_has_its_known_counts(real):
    train, test = real.table.query("split != 'test'"), real.table.query("split == 'test'")
    assert train["digit"].value_counts().sort_index().tolist() == [
        5923,
        6742,
        5958,
        6131,
        5842,
        5421,
        5918,
        6265,
        5851,
        5949,
    ]
    assert test["digit"].value_counts().sort_index().tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def test_real_cmnist_is_split_80_to_20_without_sharing_an_original(real):
    assert [len(real.rows(split)) for split in ("train", "val", "test")] == [48_000, 12_000, 10_000]
    assert_splits_share_no_original(real)


def test_real_cmnist_has_the_papers_half_percent_of_minority_samples(real):
    share, count = aligned(real)
    assert within(share, 0.995, count)


def test_real_cmnist_has_no_empty_group_on_held_out_data(real):
    for split in ("val", "test"):
        sizes = real.groups[real.rows(split)].sum(axis=0)
        assert sizes.min() > 0.6 * len(real.rows(split)) / 25
