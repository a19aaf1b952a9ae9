"""Digits in domains of color: splits, colors, labels."""

import gzip
import hashlib
import struct
from functools import cache

import numpy as np
import pytest
from helpers import read

from despur.datasets import cmnist
from despur.datasets.sources.domain_coloring import DOMAINS, OF_SPLIT, inks, paint

RNG = np.random.default_rng
MU = np.array(list(DOMAINS.values()))


@pytest.fixture(scope="module")
def mnist(tmp_path_factory):
    """A folder with a made-up training set that has as many threes and fives as MNIST's; each image tells its
    number."""
    root = tmp_path_factory.mktemp("raw")
    digits = RNG(0).permutation(np.repeat([3, 5, 7], [6131, 5421, 300])).astype(np.uint8)
    images = np.zeros((len(digits), 28, 28), np.uint8)
    images[:, 4:20, 8:20] = RNG(1).integers(1, 256, (len(digits), 16, 12))
    images[:, 10, 10] = 255
    files = {"train-images-idx3-ubyte.gz": images, "train-labels-idx1-ubyte.gz": digits}
    content = {
        name: gzip.compress(struct.pack(f">4B{a.ndim}i", 0, 0, 8, a.ndim, *a.shape) + a.tobytes(), 1)
        for name, a in files.items()
    }
    (root / "mnist").mkdir()
    for name, data in content.items():
        (root / "mnist" / name).write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        for name, data in content.items():
            patch.setitem(cmnist.SHA256, name, hashlib.sha256(data).hexdigest())
        yield cache(lambda name="cmnist_3v5": read(name, root)), images, digits


@cache
def digits(name="domain_digits"):
    return read(name)


def assert_well_formed(dataset):
    assert dataset.splits == ["train", "val", "test_id", "test_ood"]
    assert dataset.about["select"] == "val" and dataset.about["headline"] == "test_ood"
    a, y, table = dataset.table["a"].to_numpy(), dataset.y, dataset.table
    for split, domains in OF_SPLIT.items():
        counts = np.bincount(a[dataset.rows(split)], minlength=4)
        assert set(np.flatnonzero(counts)) == set(domains) and np.ptp(counts[list(domains)]) <= 1
    assert (y == (table["digit"] == 5)).all() and set(table["digit"]) == {3, 5}
    originals = [set(table["original"][dataset.rows(split)]) for split in dataset.splits]
    assert sum(map(len, originals)) == len(set.union(*originals))
    train = table["split"] == "train"
    assert sorted(table["label_rank"][train]) == list(range(train.sum())) and (table["label_rank"][~train] == -1).all()
    for count in list(dataset.about["label_fractions"].values())[:2]:
        held = np.bincount(y[(table["label_rank"] >= 0) & (table["label_rank"] < count)])
        assert held.sum() == count and np.ptp(held) <= 1
    assert dataset.groups.sum() == len(y)


def test_cmnist_3v5_has_the_sizes_of_the_paper(mnist):
    dataset = mnist[0]()
    assert_well_formed(dataset)
    assert [len(dataset.rows(split)) for split in dataset.splits] == [6930, 1154, 1154, 2310]
    assert len(dataset.y) == 11548 and dataset.inputs.shape == (11548, 28, 28, 3)
    assert dataset.about["label_fractions"] == {"1%": 69, "10%": 693, "100%": 6930}
    assert not dataset.table["original"].duplicated().any()


def test_cmnist_3v5_paints_the_digit_and_leaves_black_black(mnist):
    load, images, _ = mnist
    dataset = load()
    gray, painted = images[dataset.table["original"][::40]], dataset.inputs[::40]
    ink = painted[:, 10, 10].astype(float)
    np.testing.assert_allclose(painted, gray[..., None] / 255 * ink[:, None, None], atol=1)
    replaced = load("cmnist_3v5+coloring=replace").inputs[::40]
    assert ((replaced == ink[:, None, None]) | (gray < 128)[..., None]).all()
    assert (replaced[gray < 128] == 0).all()
    lower = load("cmnist_3v5+coloring=replace+threshold=50").inputs[::40]
    assert (lower == np.where((gray >= 50)[..., None], ink[:, None, None], 0)).all()


def test_cmnist_3v5_draws_anew_for_each_draw_and_pairs_sigmas(mnist):
    load = mnist[0]
    first, wide, other = load(), load("cmnist_3v5+sigma=150"), load("cmnist_3v5+draw=1")
    assert first.table.equals(wide.table) and not np.array_equal(first.inputs, wide.inputs)
    assert not first.table["original"].equals(other.table["original"])


@pytest.mark.parametrize("sigma", [0, 25, 150])
@pytest.mark.parametrize("outside", ["clip", "redraw"])
def test_inks_lie_in_range_around_the_color_of_their_domain(sigma, outside):
    a = np.repeat(np.arange(4), 5000)
    found = inks(RNG(0), a, sigma, outside)
    assert found.shape == (20000, 3) and found.min() >= 0 and found.max() <= 255
    if not sigma:
        assert (found == MU[a]).all()
        return
    at_edge = np.isin(found, (0, 255)).mean()
    assert (
        at_edge == pytest.approx(0.5 + (0.04 if sigma == 150 else 0) / 2, abs=0.03)
        if outside == "clip"
        else at_edge < 1e-3
    )
    depth = np.abs(found - MU[a])  # from the edge at which each mean lies, inwards
    if sigma == 25:
        inside = depth[depth > 0]
        assert inside.mean() == pytest.approx(25 * np.sqrt(2 / np.pi), rel=0.03)  # half-normal


def test_inks_of_a_channel_are_independent():
    found = inks(RNG(0), np.zeros(5000, int), 50, "redraw")
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 0.05


def test_paint_by_hand():
    gray, ink = np.array([[[0, 51, 255, 128]]]), np.array([[255.0, 100.0, 0.0]])
    assert paint(gray, ink, "multiply")[0, 0].tolist() == [[0, 0, 0], [51, 20, 0], [255, 100, 0], [128, 50, 0]]
    assert paint(gray, ink, "replace")[0, 0].tolist() == [[0, 0, 0], [0, 0, 0], [255, 100, 0], [255, 100, 0]]


def test_domain_digits_use_every_scan_in_one_split():
    assert_well_formed(digits())
    table = digits().table
    assert table["original"].nunique() == 365
    shares = table.groupby("split")["original"].nunique() / 365
    assert shares.to_dict() == pytest.approx({"train": 0.6, "val": 0.1, "test_id": 0.1, "test_ood": 0.2}, abs=0.005)


def test_domain_digits_vary_training_originals_only():
    dataset = digits("domain_digits+sigma=0")
    # multiplied by 255 in one channel: the gray digit
    table, ink = (dataset.table, dataset.inputs.max(axis=3).astype(int))
    for split in dataset.splits:
        rows, original = dataset.rows(split), table["original"].to_numpy()
        same = [ink[rows[original[rows] == each]] for each in set(original[rows])]
        different = [np.abs(each - each[0]).max() > 20 for each in same]
        assert all(different) if split == "train" else not any(np.ptp(each, axis=0).max() for each in same)


def test_domain_digits_label_different_originals_first():
    table = digits().table
    for count in (8, 40):
        held = table[(table["label_rank"] >= 0) & (table["label_rank"] < count)]
        assert held["original"].nunique() == count
    assert digits().about["label_fractions"]["all labels"] == (table["split"] == "train").sum()


def test_domain_digits_are_those_scans_enlarged():
    from sklearn.datasets import load_digits

    dataset = digits("domain_digits+sigma=0")
    rows = dataset.rows("test_ood")
    small = dataset.inputs[rows, :, :, 1].reshape(len(rows), 8, 2, 8, 2).mean(axis=(2, 4))  # green
    scans = load_digits().images[dataset.table["original"].iloc[rows]]
    assert (
        np.mean([np.corrcoef(one.ravel(), other.ravel())[0, 1] for one, other in zip(small, scans, strict=True)]) > 0.97
    )


def test_domain_digits_are_the_same_every_time():
    again = read("domain_digits")
    assert again.table.equals(digits().table) and np.array_equal(again.inputs, digits().inputs)
    assert not again.table.equals(digits("domain_digits+draw=1").table)
