"""Where models look: Grad-CAM, its share on the foreground, and which images are shown."""

import numpy as np
import pandas as pd
import pytest
import torch
from helpers import OPTIONS, result, save_tiny, tiny_dataset
from torch import nn

from despur import saliency
from despur.encoders.lenet import LeNet
from despur.metrics.saliency import share_inside
from despur.model import Model, stack_encoders
from despur.orchestration.experiments import ArtifactRun
from despur.papers.cnc import grad_cam
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.storage.store import InputError, load_dataset, save_dataset
from despur.training import runs

NAME = "erm+batch_size=8+epochs=2+learning_rate=0.02~0.05"
FOLDER = f"runs/colored_digits/{NAME}/s0-1"
MASKED = "runs/colored_digits+p_corr=0.5~0.8/erm+batch_size=8+epochs=1/s0"


class LooksForRed(nn.Module):
    """Features: how much red and how much blue there is. What is dark counts as nothing."""

    dim = 2
    saliency_layer = "seen"

    def __init__(self):
        super().__init__()
        self.seen = nn.Sequential(nn.Conv2d(3, 2, 1, bias=False), nn.ReLU())
        self.seen[0].weight.data = torch.eye(3)[[0, 2], :, None, None]

    def forward(self, images):
        return self.seen(images).mean(dim=(2, 3))


def head_on(feature):
    """Class 1 if there is enough of a feature, else class 0."""
    head = nn.Linear(2, 2)
    head.weight.data = torch.zeros(2, 2)
    head.weight.data[1, feature] = 1.0
    head.bias.data = torch.tensor([0.001, 0.0])
    return head


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    save_tiny(root, train=40, held_out=60)
    runs.train_all(result(root, FOLDER), OPTIONS)
    saliency.explain(result(root, FOLDER), OPTIONS)
    return result(root, FOLDER)


@pytest.fixture(scope="module")
def masked(tmp_path_factory):
    """Two data points; in the first, the mask is the left half of the image, in the second all of it."""
    root = tmp_path_factory.mktemp("masked")
    points = {}
    for i, name in enumerate(("0.5", "0.8")):
        points[f"colored_digits+p_corr={name}"] = dataset = tiny_dataset(train=30, held_out=20, seed=i)
        dataset.masks = np.zeros(dataset.inputs.shape[:3], dtype=bool)
        dataset.masks[:, :, : (18, 36)[i]] = True
    save_dataset(root / "data" / "colored_digits+p_corr=0.5~0.8", points)
    runs.train_all(result(root, MASKED), OPTIONS)
    saliency.explain(result(root, MASKED), OPTIONS)
    return result(root, MASKED)


# Grad-CAM


@pytest.mark.parametrize("feature", [0, 1])
def test_a_network_that_looks_for_one_thing_has_its_saliency_there_and_nowhere_else(feature):
    images = torch.full((1, 3, 12, 12), -1.0)
    images[0, 0, :4, :4], images[0, 2, 8:, 7:] = 1, 1  # red in one corner, blue in the opposite one
    where = torch.zeros(12, 12)
    where[(slice(0, 4), slice(8, 12))[feature], (slice(0, 4), slice(7, 12))[feature]] = 1
    maps, predicted = saliency.grad_cam(LooksForRed(), head_on(feature), images)
    assert predicted.tolist() == [1]
    assert torch.equal(maps[0], where)


def test_a_map_without_evidence_is_zero_and_not_nan():
    maps, predicted = saliency.grad_cam(LooksForRed(), head_on(0), torch.full((1, 3, 8, 8), -1.0))
    assert predicted.tolist() == [0] and (maps == 0).all()


def test_the_maps_of_lenet_follow_the_definition():
    torch.manual_seed(0)
    encoder, head = LeNet().eval(), nn.Linear(84, 3)
    images = torch.rand(4, 3, 32, 32) * 2 - 1
    maps, predicted = saliency.grad_cam(encoder, head, images)
    for image, found, label in zip(images, maps.numpy(), predicted, strict=True):
        channels = encoder.layers[:6](image[None]).detach().requires_grad_()
        logits = head(encoder.layers[6:](channels))[0]
        assert label == logits.argmax()
        weights = torch.autograd.grad(logits[label], channels)[0][0].mean(dim=(1, 2))
        cells = sum(w * c for w, c in zip(weights, channels[0], strict=True)).clamp(min=0).detach()
        inner = nn.functional.interpolate(cells[None, None], (20, 20), mode="bilinear")[0, 0].numpy()
        assert np.allclose(found, np.pad(inner, 6, mode="edge") / inner.max(), atol=1e-5)


@pytest.mark.parametrize("x", [6, 14, 22])
def test_a_cell_of_lenet_lies_where_its_filters_are_centered(x):
    """The pixels that a cell sees have their center in the 4x4 pixels on which it is drawn."""
    cell = (x - LeNet.saliency_margin) // 4
    images = torch.zeros(1, 3, 32, 32, requires_grad=True)
    convolutions = nn.Sequential(
        *(
            nn.AvgPool2d(2) if isinstance(m, nn.MaxPool2d) else m
            for m in LeNet().layers[:6]
            if not isinstance(m, nn.ReLU)
        )
    )
    convolutions(images)[0, :, cell, cell].sum().backward()
    seen = torch.nonzero(images.grad[0].abs().sum(dim=0).sum(dim=0)).flatten()
    assert (seen.min() + seen.max()).item() / 2 == x + 1.5


def test_an_encoder_that_names_no_layer_is_refused():
    with pytest.raises(SettingError, match="Sequential names no saliency_layer"):
        saliency.grad_cam(nn.Sequential(nn.Flatten(), nn.Linear(12, 2)), nn.Linear(2, 2), torch.zeros(1, 3, 2, 2))


# the share on the foreground


def test_the_share_inside_a_mask_on_cases_by_hand():
    maps = np.array([[[1, 0], [0, 0.5]], [[1, 1], [1, 1]], [[0, 0], [0, 0]]])
    masks = np.array([[[0, 0], [0, 1]], [[1, 0], [1, 1]], [[1, 1], [1, 1]]], dtype=bool)
    assert np.allclose(share_inside(maps, masks), [1 / 3, 0.75, np.nan], equal_nan=True)


def test_masks_are_cropped_as_images_are():
    rng = np.random.default_rng(0)
    masks = rng.random((3, 37, 35)) < 0.5
    images = np.repeat(np.where(masks, 255, 0).astype(np.uint8)[..., None], 3, axis=3)
    seen = saliency.explain_images(
        Model(nn.ModuleDict({"encoder": LeNet(), "head": nn.Linear(84, 2)}), (3, 32, 32), ["a", "b"]), images
    )
    assert np.array_equal(saliency.crop_masks(masks, 32), seen["images"][..., 0] == 255)


def test_shares_are_measured_where_there_are_masks(masked):
    table = pd.read_csv(masked.folder / "saliency.csv")
    half, whole = (part for _, part in table.groupby("data.p_corr"))
    assert (whole["inside"] == 1).all() and (whole["uniform"] == 1).all()
    assert (half["uniform"] == 0.5).all() and half["inside"].between(0, 1, inclusive="neither").any()


def test_without_masks_shares_are_not_applicable(finished):
    table = pd.read_csv(finished.folder / "saliency.csv")
    assert table[["inside", "uniform"]].isna().all(axis=None)
    assert table[["samples", "correct", "empty"]].notna().all(axis=None)


def test_a_stacked_encoder_has_the_layer_and_margin_of_the_one_that_sees_images():
    class Own(LeNet):
        pass

    network = stack_encoders(Own(), nn.Identity())
    assert (network.saliency_layer, network.saliency_margin) == ("0.layers.5", LeNet.saliency_margin)
    assert not hasattr(stack_encoders(nn.Identity(), Own()), "saliency_layer")


# which images


def test_every_run_shows_the_same_few_test_images_of_each_group(finished):
    dataset = load_dataset(finished.data.folder, "colored_digits")
    container = Container(finished.folder / "saliency.safetensors")
    rows = [container[f"{run.key}/rows"] for run in finished.runs()]
    assert len(rows) == 4 and all(np.array_equal(rows[0], other) for other in rows)
    test = dataset.rows("test")
    sizes = dataset.groups[test].sum(axis=0)
    assert dataset.groups[rows[0]].sum(axis=0).tolist() == np.minimum(sizes, saliency.EXAMPLES).tolist()
    assert set(rows[0]) <= set(test)


def test_a_group_is_measured_on_a_limited_random_part_of_it(monkeypatch):
    monkeypatch.setattr(saliency, "MEASURED_IMAGES", 3)
    dataset = tiny_dataset(held_out=200)
    drawn = saliency.draw_images(dataset, "colored_digits")
    assert [len(rows) for rows in drawn] == [3] * 25
    assert all(dataset.groups[rows, i].all() for i, rows in enumerate(drawn))
    assert any(not np.array_equal(rows, np.sort(rows)) for rows in drawn)


def test_maps_explain_what_the_model_of_each_run_predicts(masked):
    container, outputs = (Container(masked.folder / f"{name}.safetensors") for name in ("saliency", "outputs"))
    for run in masked.runs():
        seen = container.load_arrays(run.key)
        assert np.array_equal(seen["predicted"], outputs[f"{run.key}/best/logits"][seen["rows"]].argmax(axis=1))
        dataset = load_dataset(masked.data.folder, run.data.name)
        assert np.array_equal(seen["images"], dataset.inputs[seen["rows"]][:, 2:34, 2:34])
        assert seen["maps"].min() >= 0 and set(np.unique(seen["maps"].max(axis=(1, 2)))) <= {0.0, 1.0}


def test_what_is_not_an_image_is_refused(finished, tmp_path, monkeypatch):
    dataset = tiny_dataset(train=4, held_out=4)
    dataset.inputs = dataset.inputs.astype(np.float32)
    monkeypatch.setattr(saliency, "load_dataset", lambda *arguments: dataset)
    with pytest.raises(InputError, match="holds no images"):
        saliency.explain(finished, OPTIONS)


# the figures


def artifact_runs(where, *methods):
    return [ArtifactRun("waterbirds", where.dataset, name, (str(where.folder),)) for name in methods]


@pytest.mark.parametrize(
    ("run", "artifact", "methods"),
    [("finished", "draw_figure_1", ["erm", "cnc"]), ("masked", "draw_figure_12_13", ["erm", "jtt", "cnc"])],
)
def test_figures_are_drawn_with_and_without_masks(request, tmp_path, run, artifact, methods):
    where = request.getfixturevalue(run)
    getattr(grad_cam, artifact)(artifact_runs(where, *methods), tmp_path / artifact)
    assert all((tmp_path / f"{artifact}.{kind}").stat().st_size > 1000 for kind in ("png", "pdf", "csv"))
    shown, own = pd.read_csv(tmp_path / f"{artifact}.csv"), pd.read_csv(where.folder / "saliency.csv")
    assert len(shown) == len(methods) * len(own) and set(shown["paper_method"]) == set(methods)


def test_an_explained_run_tells_what_was_right_and_shows_the_rarest_groups(finished):
    run = grad_cam.load_run(artifact_runs(finished, "erm")[0])
    rows, groups = run.arrays["rows"], run.rarest_groups()
    assert [run.is_right(row) for row in rows] == (run.arrays["predicted"] == run.dataset.y[rows]).tolist()
    sizes = {i: run.count_training(i) for i in range(25) if len(run.examples(i))}
    assert len(groups) == 4 and max(sizes[i] for i in groups) <= min(n for i, n in sizes.items() if i not in groups)
