"""SpuCoMNIST, from made-up digits."""

import numpy as np
import pytest
from helpers import read
from rehearsal.raw_files import write_mnist

from despur.datasets import cmnist, spuco_mnist
from despur.datasets.sources.coloring import rgb

# Side of the corner in which pixels have the color, and how many they are (released code).
CORNERS = {
    "magnitude_large": (28, 784),
    "magnitude_medium": (4, 16),
    "magnitude_small": (2, 4),
    "variance_low": (7, 49),
    "variance_medium": (14, 49),
    "variance_high": (28, 49),
}


@pytest.fixture
def digits(tmp_path, monkeypatch):
    """The folder of MNIST's files, and the gray images in their order."""
    written: dict[str, dict[str, str]] = {}
    exec(write_mnist(tmp_path)["cmnist"], written)
    monkeypatch.setattr(cmnist, "SHA256", written["SHA256"])
    return tmp_path, np.concatenate(
        [cmnist.read_idx(tmp_path, f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")]
    )


def test_a_class_has_its_share_of_its_color_and_the_others_equally_often():
    assert np.bincount(spuco_mnist.assign_colors(1, 1000, 0.995)).tolist() == [1, 995, 2, 1, 1]
    assert np.bincount(spuco_mnist.assign_colors(4, 10, 0.6), minlength=5).tolist() == [1, 1, 1, 1, 6]
    assert spuco_mnist.assign_colors(3, 7, 1.0).tolist() == [3] * 7


def test_held_out_images_have_all_colors_equally_often_and_training_images_mostly_their_own(digits):
    dataset = read("spuco_mnist+p_corr=0.8", digits[0])
    for split in ("val", "test"):
        sizes = dataset.groups[dataset.rows(split)].sum(axis=0).reshape(5, 5)
        assert (sizes.max(axis=1) - sizes.min(axis=1) <= 1).all()
    sizes = dataset.groups[dataset.rows("train")].sum(axis=0).reshape(5, 5)
    assert np.diag(sizes).tolist() == [int(0.8 * of_class) for of_class in sizes.sum(axis=1)]


def test_a_fifth_of_each_digit_is_validation_data(digits):
    table = read("spuco_mnist", digits[0]).table
    held_in = table[table["split"] != "test"]
    for _, own in held_in.groupby("digit"):
        assert (own["split"] == "val").sum() == len(own) // 5
    assert (read("spuco_mnist+draw=1", digits[0]).table["split"] != table["split"]).any()


@pytest.mark.parametrize("difficulty", CORNERS)
def test_only_black_pixels_of_the_corner_have_the_color_and_ink_keeps_its_gray(digits, difficulty):
    root, gray = digits
    dataset = read(f"spuco_mnist+difficulty={difficulty}", root)
    images, border = dataset.inputs[:, 2:-2, 2:-2], dataset.inputs.astype(bool)
    border[:, 2:-2, 2:-2] = False
    assert dataset.inputs.shape[1:] == (32, 32, 3) and not border.any()
    ink = gray > 0
    assert (images[ink] == gray[ink][:, None]).all()
    colored = (images == rgb("released")[dataset.a][:, None, None]).all(axis=-1) & ~ink
    assert colored.any() and not images[~ink & ~colored].any()
    side, pixels = CORNERS[difficulty]
    assert not colored[:, side:].any() and not colored[:, :, side:].any()
    drawn = spuco_mnist.draw_backgrounds(np.random.default_rng(0), difficulty, 20)
    assert (drawn.sum(axis=(1, 2)) == pixels).all() and drawn[:, :side, :side].sum() == drawn.sum()
    assert (drawn == drawn[0]).all() == (pixels == side**2)
