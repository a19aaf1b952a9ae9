"""Random views: against torchvision image by image, one draw an image, deterministic, in range."""

import numpy as np
import pytest
import torch
from helpers import build, images, task
from torchvision.transforms.v2 import functional

from despur.augment import base
from despur.augment.images import build as build_views
from despur.augment.images import distort, jitter
from despur.specs.resolution import resolve

RNG = np.random.default_rng
COUNT, SIDE = 40, 20


def pictures(count=COUNT, side=SIDE, seed=0):
    """Images in [0,1]."""
    return torch.from_numpy(images(count, side, seed)).permute(0, 3, 1, 2) / 255


def one_by_one(function, pictures, *parameters):
    return torch.stack(
        [function(image, *(p.item() for p in each)) for image, *each in zip(pictures, *parameters, strict=True)]
    )


def views(*, of=None, seed=0, **settings):
    """Views of images in [-1,1] with these settings; others off."""
    quiet = {"blur": 0.0, "crop_scale": 1.0, "crop_ratio": 1.0}
    name = "+".join(["images", *(f"{key}={value}" for key, value in sorted({**quiet, **settings}.items()))])
    (point,) = resolve("augment", name).points
    return build_views(point.settings)(2 * pictures() - 1 if of is None else of, RNG(seed))


def test_crops_are_those_of_torchvision():
    x, rng = pictures(), RNG(0)
    top, left = (torch.from_numpy(rng.integers(0, 8, COUNT)) for _ in range(2))
    height, width = (torch.from_numpy(rng.integers(5, 13, COUNT)) for _ in range(2))
    found = base.resample(
        x, *(base.resampling(low.float(), size.float(), SIDE) for low, size in ((top, height), (left, width)))
    )
    expected = one_by_one(
        lambda image, *at: functional.resized_crop(image, *at, [SIDE, SIDE]), x, top, left, height, width
    )
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("radius", [1, 3])
def test_blurs_are_those_of_torchvision(radius):
    x, sigma = pictures(), torch.from_numpy(RNG(0).uniform(0.1, 3, COUNT)).float()
    rows = base.blurring(sigma, radius, SIDE)
    kernel = [2 * radius + 1] * 2
    expected = one_by_one(lambda image, width: functional.gaussian_blur(image, kernel, [width, width]), x, sigma)
    torch.testing.assert_close(base.resample(x, rows, rows), expected)
    still = base.blurring(torch.full((COUNT,), 0.01), radius, SIDE)
    torch.testing.assert_close(base.resample(x, still, still), x)


@pytest.mark.parametrize(("ratio", "height", "width"), [(0.0, 20, 4), (0.5, 10, 8), (1.0, 5, 16)])
def test_a_view_is_cropped_then_blurred_and_mirrored_as_drawn(ratio, height, width):
    """A quarter of the area, with shares of the sides of 4:1, 1:1 and 1:4; a sigma halfway between .1 and 2."""
    x = pictures()[..., :16]
    settings = {"crop_scale": 0.25, "crop_ratio": 4, "flip": 1, "blur": 1, "blur_radius": 1, "blur_sigma": 2}
    draw = torch.tensor([0, ratio, 0.4, 0.25, 0.5, 0.5, 0.5])[:, None].expand(7, COUNT)
    crop = [round(0.4 * (SIDE - height)), round(0.25 * (16 - width)), height, width]
    cropped = functional.resized_crop(x, *crop, [SIDE, 16])
    expected = functional.gaussian_blur(cropped, [3, 3], [1.05, 1.05])
    torch.testing.assert_close(distort(x, draw, settings), expected.flip(3))


def test_colors_change_as_in_torchvision():
    x, share = pictures(), torch.from_numpy(RNG(0).uniform(0, 2, COUNT)).float()
    gray = base.grayscale(x)
    torch.testing.assert_close(base.blend(x, 0.0, share), one_by_one(functional.adjust_brightness, x, share))
    torch.testing.assert_close(base.blend(x, gray, share), one_by_one(functional.adjust_saturation, x, share))
    mean = gray.mean(dim=(1, 2, 3), keepdim=True)
    torch.testing.assert_close(base.blend(x, mean, share), one_by_one(functional.adjust_contrast, x, share))
    turns = share / 2 - 0.5
    torch.testing.assert_close(
        base.turn_hue(x, turns), one_by_one(functional.adjust_hue, x, turns), atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("strength", [0.5, 2.0])  # at 2 the lowest factor would be below 0
def test_jitter_is_brightness_contrast_saturation_and_hue_of_torchvision(strength):
    x, draw = pictures(), torch.from_numpy(RNG(0).random((6, COUNT), np.float32))
    low, high = max(0, 1 - 0.8 * strength), 1 + 0.8 * strength
    factors = [*(low + (high - low) * draw[:3]), 0.2 * strength * (2 * draw[3] - 1)]
    expected = x
    for adjust, factor in zip(("brightness", "contrast", "saturation", "hue"), factors, strict=True):
        expected = one_by_one(getattr(functional, f"adjust_{adjust}"), expected, factor)
    torch.testing.assert_close(jitter(x, draw, strength), expected, atol=1e-4, rtol=1e-4)


def test_gray_images_have_no_hue_to_turn():
    gray = torch.rand(4, 1, 5, 5, generator=torch.Generator().manual_seed(0)).expand(4, 3, 5, 5)
    assert torch.equal(base.turn_hue(gray, torch.tensor([0.1, 0.3, -0.5, 0.0])), gray)


def test_nothing_asked_for_is_nothing_done():
    torch.testing.assert_close(views(), 2 * pictures() - 1)


RANDOM = [
    {"crop_scale": 0.1},
    {"crop_ratio": 2, "crop_scale": 0.5},
    {"blur": 1},
    {"color_jitter": 1, "jitter": 1},
    {"color_jitter": 1, "crop_scale": 0.2, "grayscale": 0.2, "blur": 0.5, "flip": 0.5},
]


@pytest.mark.parametrize("settings", RANDOM)
def test_every_image_has_parameters_of_its_own(settings):
    same = (2 * pictures(1) - 1).expand(COUNT, -1, -1, -1)
    found = views(of=same, **settings)
    assert len({view.numpy().tobytes() for view in found}) > 0.9 * COUNT


@pytest.mark.parametrize("settings", RANDOM)
def test_views_keep_shape_and_range_and_follow_their_generator(settings):
    found = views(**settings)
    assert found.shape == (COUNT, 3, SIDE, SIDE)
    assert found.min() >= -1 - 1e-5 and found.max() <= 1 + 1e-5
    assert torch.equal(found, views(**settings))
    assert not torch.equal(found, views(seed=1, **settings))


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (0.5, 8, 32), (1.0, COUNT - 2, COUNT)])
@pytest.mark.parametrize("what", ["flip", "grayscale", "blur", "jitter"])
def test_probabilities_are_shares_of_images(what, share, low, high):
    x = 2 * pictures() - 1
    changed = (views(**{what: share}, **({"color_jitter": 1} if what == "jitter" else {})) - x).abs().amax(
        dim=(1, 2, 3)
    ) > 1e-3
    assert low <= changed.sum() <= high


def test_flips_mirror_and_grayscale_leaves_one_color():
    x = 2 * pictures() - 1
    torch.testing.assert_close(views(flip=1), x.flip(3))
    gray = views(grayscale=1)
    assert torch.equal(gray[:, 0], gray[:, 1]) and torch.equal(gray[:, 1], gray[:, 2])
    some = views(grayscale=0.5, color_jitter=1, jitter=0.5)  # which are gray does not depend on which are jittered
    is_gray = (some == some[:, :1]).flatten(1).all(dim=1)
    kept = (views(color_jitter=1, jitter=0.5) - x).abs().amax(dim=(1, 2, 3)) < 1e-3
    assert all(0 < is_gray[part].sum() < part.sum() for part in (kept, ~kept))


def test_crops_keep_the_shares_of_the_area_asked_for():
    ramp = torch.linspace(-1, 1, 50).expand(2000, 3, 50, 50)
    found = views(of=ramp, crop_scale=0.25)  # squares: a side keeps between a half and all of the ramp
    kept = (found[:, 0, 0, -1] - found[:, 0, 0, 0]) / 2
    assert 0.45 < kept.min() < 0.55 and kept.max() > 0.98
    assert kept.square().mean() == pytest.approx((0.25 + 1) / 2, abs=0.03)


def test_the_two_views_of_a_sample_differ_and_lie_apart_by_the_batch():
    of = build("simclr", task(np.arange(12) % 2))
    seen = []
    of.embed = lambda views: seen.append(views)
    of.two_views(np.array([3, 1, 4]), RNG(0))
    assert seen[0].shape == (6, 3, 32, 32)
    assert all(not torch.equal(seen[0][i], seen[0][3 + i]) for i in range(3))
    of.augment = lambda views, rng: views
    of.two_views(np.array([3, 1, 4]), RNG(0))
    assert torch.equal(seen[1], of.task.batcher.batch(np.array([3, 1, 4, 3, 1, 4]), RNG(0)))
