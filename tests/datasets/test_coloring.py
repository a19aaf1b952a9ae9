import matplotlib
import numpy as np
import pytest
from helpers import within
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from matplotlib.colors import to_rgb

from despur.datasets.sources.coloring import PAIRS, PALETTES, colorize, correlated, resize, rgb

quick = settings(deadline=None, max_examples=50, derandomize=True, database=None)

LABELS = arrays.arrays(np.int64, st.integers(1, 50), elements=st.integers(0, 4))
MINORITY = st.sampled_from(["other", "any"])


@pytest.mark.parametrize(
    ("palette", "places"),
    [("paper", [0.0, 0.25, 0.5, 0.75, 1.0]), ("released", [0.0, 0.2, 0.4, 0.6, 0.8])],
    ids=["paper", "released"],
)
def test_palettes_are_the_hsv_color_map_to_one_of_its_256_steps(palette, places):
    expected = np.array([to_rgb(matplotlib.colormaps["hsv"](result)) for result in places]) * 255
    step = 6 * 255 / 256
    assert np.abs(rgb(palette) - expected).max() <= step


def closest(palette):
    colors = rgb(palette).astype(float)
    distances = np.linalg.norm(colors[:, None] - colors, axis=2)
    return distances[np.triu_indices(5, 1)].min()


def test_the_papers_palette_has_two_reds_and_the_released_one_has_not():
    assert closest("paper") == 24
    assert closest("released") > 100


def test_palettes_have_a_color_for_each_pair_of_digits():
    assert PAIRS == ["0,1", "2,3", "4,5", "6,7", "8,9"]
    assert all(len(set(colors)) == len(PAIRS) for colors in PALETTES.values())


@quick
@given(LABELS, st.floats(0, 1), MINORITY, st.integers(0, 100))
def test_every_sample_gets_one_of_the_colors(y, p_corr, minority, seed):
    a = correlated(np.random.default_rng(seed), y, p_corr, minority)
    assert a.shape == y.shape
    assert set(a) <= set(range(5))


@quick
@given(LABELS, MINORITY, st.integers(0, 100))
def test_full_correlation_gives_each_class_its_color(y, minority, seed):
    assert np.array_equal(correlated(np.random.default_rng(seed), y, 1.0, minority), y)


@quick
@given(LABELS, st.integers(0, 100))
def test_other_never_draws_the_color_of_the_class(y, seed):
    assert (correlated(np.random.default_rng(seed), y, 0.0, "other") != y).all()


@pytest.mark.parametrize(("minority", "aligned"), [("other", 0.9), ("any", 0.9 + 0.1 / 5)])
def test_the_share_of_aligned_samples(minority, aligned):
    y = np.arange(50_000) % 5
    a = correlated(np.random.default_rng(0), y, 0.9, minority)
    assert within((a == y).mean(), aligned, len(y))
    for shift in range(1, 5):
        assert within((a == (y + shift) % 5).mean(), (1 - aligned) / 4, len(y))


def test_the_same_generator_gives_the_same_colors():
    y = np.arange(100) % 5
    first, second, other = (correlated(np.random.default_rng(seed), y, 0.5, "other") for seed in (0, 0, 1))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_ink_becomes_the_flat_color_and_the_rest_stays_gray():
    gray = np.array([[[0, 119], [120, 255]]], dtype=np.uint8)
    expected = [[[[0, 0, 0], [119, 119, 119]], [[10, 200, 30], [10, 200, 30]]]]
    colored = colorize(gray, np.array([[10, 200, 30]], dtype=np.uint8))
    assert colored.tolist() == expected
    assert colored.dtype == np.uint8
    assert colorize(gray, np.array([[10, 200, 30]]), threshold=119)[0, 0].tolist() == [[0, 0, 0], [10, 200, 30]]


def test_each_image_has_its_own_color():
    gray = np.full((2, 1, 1), 255, dtype=np.uint8)
    assert colorize(gray, np.array([[1, 2, 3], [4, 5, 6]], dtype=np.uint8))[:, 0, 0].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_resizing_is_bilinear():
    images = np.array([[[[0, 50], [100, 50]], [[0, 50], [100, 50]]]], dtype=np.uint8)
    resized = resize(images, 4)
    assert resized.dtype == np.uint8
    assert resized[0, :, :, 0].tolist() == [[0, 25, 75, 100]] * 4
    assert (resized[0, :, :, 1] == 50).all()


def test_shrinking_averages_instead_of_skipping():
    stripes = np.tile(np.array([0, 200], dtype=np.uint8), (1, 16, 8))[..., None]
    shrunk = resize(stripes, 4)[0, :, 1:3, 0].astype(int)
    assert np.abs(shrunk - 100).max() <= 5


def test_many_images_keep_their_order():
    images = np.random.default_rng(0).integers(0, 256, (5000, 1, 1, 1), dtype=np.uint8)
    resized = resize(images, 2)
    assert np.array_equal(resized, np.broadcast_to(images, (5000, 2, 2, 1)))
