"""How stored samples are presented to an encoder."""

import numpy as np
import pytest
import torch
from helpers import CPU, tiny_dataset
from torch import nn

from despur.compute.input_batcher import InputBatcher, present
from despur.compute.task import Task, encode

RNG = np.random.default_rng


def maps(count=4, height=40, width=40):
    """Images whose pixels say where they are: (row, column, which image)."""
    pixels = np.empty((count, height, width, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = np.arange(height)[:, None], np.arange(width)
    pixels[..., 2] = np.arange(count)[:, None, None]
    return torch.from_numpy(pixels)


def bytes_of(view):
    """The stored values behind a view."""
    return torch.round((view + 1) * 127.5).to(torch.int64)


def corners(view):
    """Where each crop was taken, having checked that it is a window of its image."""
    pixels = bytes_of(view)
    top, left = pixels[:, 0, 0, 0], pixels[:, 1, 0, 0]
    side = torch.arange(view.shape[-1])
    assert (pixels[:, 0] == (top[:, None] + side)[:, :, None]).all()
    assert (pixels[:, 1] == (left[:, None] + side)[:, None, :]).all()
    return list(zip(top.tolist(), left.tolist(), strict=True))


@pytest.mark.parametrize(
    ("height", "width", "corner"), [(40, 40, (4, 4)), (32, 32, (0, 0)), (36, 48, (2, 8)), (33, 34, (0, 1))]
)
def test_center_crop_is_the_middle_window(height, width, corner):
    view = InputBatcher(maps(4, height, width), 32).batch(np.array([2, 0, 2]), RNG(0))
    assert view.shape == (3, 3, 32, 32)
    assert corners(view) == [corner] * 3
    assert bytes_of(view)[:, 2, 0, 0].tolist() == [2, 0, 2]


@pytest.mark.parametrize("crop", ["image", "presentation"])
def test_random_crops_are_windows_at_every_position(crop):
    shown = InputBatcher(maps(4, 34, 35), 32, crop)
    rows = np.arange(600) % 4
    view = shown.batch(rows, RNG(0))
    assert (bytes_of(view)[:, 2] == torch.from_numpy(rows)[:, None, None]).all()
    found = corners(view)
    assert set(found) == {(top, left) for top in range(3) for left in range(4)}
    assert max(found.count(corner) for corner in set(found)) < 2 * 600 / 12
    assert corners(shown.batch(rows, RNG(0))) == found != corners(shown.batch(rows, RNG(1)))


def test_pixels_become_values_from_minus_one_to_one():
    inputs = torch.arange(256, dtype=torch.uint8).reshape(1, 16, 16, 1)
    view = InputBatcher(inputs, 16).batch(np.array([0]), RNG(0))
    assert view.dtype == torch.float32 and view.shape == (1, 1, 16, 16)
    torch.testing.assert_close(view.flatten(), torch.arange(256) / 127.5 - 1)
    assert view.min() == -1 and view.max() == 1


def test_embeddings_pass_unchanged():
    inputs = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    shown = InputBatcher(inputs)
    assert torch.equal(shown.batch(np.array([4, 1, 1]), RNG(0)), inputs[[4, 1, 1]])
    assert shown.shape == (5,) and not shown.is_image


def test_shape_is_that_of_a_view():
    assert InputBatcher(maps(2, 40, 44), 32).shape == (3, 32, 32)


@pytest.mark.parametrize(("crop", "once"), [("centre", True), ("image", True), ("presentation", False)])
def test_only_a_crop_per_presentation_makes_views_of_a_step_differ(crop, once):
    assert InputBatcher(maps(), 32, crop).once_per_step is once


@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_batches_show_all_samples_in_order(size):
    shown = InputBatcher(maps(7), 32)
    parts = list(shown.batches(size, RNG(0)))
    assert max(map(len, parts)) <= size
    assert torch.equal(torch.cat(parts), shown.batch(np.arange(7), RNG(0)))


@pytest.mark.parametrize("rows", [range(20), range(20, 30), [1, 5, 6, 30], [7]])
def test_present_shows_the_samples_at_these_rows(rows):
    dataset, rows = tiny_dataset(20, 10), np.array(rows)
    shown = present(dataset, rows, "centre", CPU)
    expected = dataset.inputs[rows][:, 2:34, 2:34].transpose(0, 3, 1, 2)
    assert (bytes_of(shown.batch(np.arange(len(rows)), RNG(0))).numpy() == expected).all()
    assert (bytes_of(shown.batch(np.array([-1]), RNG(0))).numpy() == expected[-1:]).all()
    assert (bytes_of(torch.cat(list(shown.batches(3, RNG(0))))).numpy() == expected).all()


def test_a_task_is_as_long_as_its_labels_and_does_not_share_them():
    y = np.array([0, 1, 1])
    task = Task(InputBatcher(maps(3), 32), y, 2, CPU)
    y[0] = 1
    assert len(task) == 3 and task.labels.values.tolist() == [0, 1, 1]


def test_encode_gives_outputs_of_all_samples_in_evaluation_mode():
    inputs = torch.randn(2500, 4, generator=torch.Generator().manual_seed(0))
    encoder, head = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.9)), nn.Linear(3, 2)
    encoder.train()
    found = encode(encoder, head, InputBatcher(inputs), RNG(0))
    z = encoder[0](inputs)
    assert found["z"].dtype == np.float16 and found["logits"].dtype == np.float32
    np.testing.assert_allclose(found["z"], z.detach(), rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(found["logits"], head(z).detach(), rtol=1e-5, atol=1e-6)
    assert encode(encoder, None, InputBatcher(inputs), RNG(0)).keys() == {"z"}


def test_logits_that_float16_cannot_tell_apart_differ():
    head = nn.Linear(1, 2, bias=False)
    head.weight.data = torch.tensor([[0.25], [0.25 + 2**-14]])  # float16 has steps of 2 ** -12 there
    found = encode(nn.Identity(), head, InputBatcher(torch.ones(1, 1)), RNG(0))
    assert found["logits"].argmax(axis=1).tolist() == [1]


@pytest.mark.parametrize("inputs", [maps(), torch.arange(12, dtype=torch.int32).view(4, 3)])
def test_batches_go_to_the_device_though_inputs_stay_where_they_are(inputs):
    shown = InputBatcher(inputs, 32, rows=torch.tensor([2, 0]), device=torch.device("meta"))
    view = shown.batch(np.array([1, 0, 1]), RNG(0))
    assert view.device.type == "meta" and shown.inputs.device == CPU
    assert view.shape == (3, *shown.shape)


def test_inputs_that_would_fill_a_gpu_stay_memory_mapped(monkeypatch):
    dataset = tiny_dataset(20, 10)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2 * dataset.inputs.nbytes - 1, 0))
    shown = present(dataset, np.arange(3), "centre", torch.device("cuda"))
    assert shown.inputs.device == shown.rows.device == CPU and shown.device == torch.device("cuda")
