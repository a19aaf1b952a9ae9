"""Saliency stage: Grad-CAM maps of trained models, into results/runs/DATASET/METHOD/SEEDS/saliency.safetensors and
saliency.csv.

    python -m despur.saliency results/runs/scene_digits/cnc/s0-2

Grad-CAM (Selvaraju et al. 2017) explains the predicted class of the model that is best on validation, at the layer
that the encoder names. Images are drawn from the headline split, the same for all methods and seeds on a data set.
Examples are the first images drawn.

Columns of saliency.csv: dataset, method, settings that the sweep varies, seed, group, ``samples``, ``correct``
(share of the samples), ``empty`` (share of maps that are 0 everywhere), ``inside`` (mean share of a map inside the
foreground mask), ``uniform`` (the same share of a constant map: the foreground's share of the image). Without masks,
the last two are empty."""

import argparse
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from despur.compute.input_batcher import InputBatcher
from despur.compute.randomness import derive_generator
from despur.metrics.saliency import share_inside
from despur.model import Model, model_of
from despur.specs.paths import ResultPath, identify_run
from despur.specs.settings import SettingError
from despur.storage.containers import save_arrays
from despur.storage.provenance import run_from_command_line
from despur.storage.store import Array, Dataset, InputError, load_dataset, write_csv

EXAMPLES = 12  # of each group: how many images and maps are kept
MEASURED_IMAGES = 200  # of each group, at most: how many images are measured
BATCH = 32  # a ResNet-50 keeps about 100 MB of each 224x224 image for its gradients


def draw_images(dataset: Dataset, name: str) -> list[Array]:
    """For each group, rows of the headline split in random order, which depends on the data alone."""
    assert dataset.groups is not None
    rng, rows = derive_generator(f"saliency/{name}"), dataset.rows(dataset.about["headline"])
    return [rng.permutation(rows[member])[:MEASURED_IMAGES] for member in dataset.groups[rows].T]


def grad_cam(encoder: nn.Module, head: nn.Module, images: Tensor) -> tuple[Tensor, Tensor]:
    """Maps (B,H,W) in [0,1] at the resolution of ``images`` (B,C,H,W), and the predicted classes (B,) that they
    explain.

    A map is the ReLU of the layer's channels, weighted by the mean gradient of the class's logit, enlarged
    bilinearly and divided by its maximum. Where convolutions do not pad, the layer covers the image without a margin
    of ``saliency_margin`` pixels; its edge is extended to that of the image. Raises SettingError for an encoder that
    names no layer."""
    from captum.attr import LayerGradCam

    if not hasattr(encoder, "saliency_layer"):
        raise SettingError(
            f"{type(encoder).__name__} names no saliency_layer: Grad-CAM needs a convolutional encoder, such as lenet"
        )
    network = nn.Sequential(encoder, head)
    with torch.no_grad():
        predicted = network(images).argmax(dim=1)
    layer = encoder.get_submodule(str(encoder.saliency_layer))
    maps = LayerGradCam(network, layer).attribute(images, predicted, relu_attributions=True).detach()
    margin = int(getattr(encoder, "saliency_margin", 0))
    inner = nn.functional.interpolate(maps, [side - 2 * margin for side in images.shape[2:]], mode="bilinear")
    whole = nn.functional.pad(inner, (margin,) * 4, mode="replicate")[:, 0]
    peak = whole.amax(dim=(1, 2), keepdim=True)
    return torch.where(peak > 0, whole / peak.clamp_min(torch.finfo(peak.dtype).tiny), 0), predicted


def explain_images(model: Model, images: Array) -> dict[str, Array]:
    """For stored images uint8 (N,H,W,C): ``images`` as the model gets them (uint8, cropped), ``maps`` and
    ``predicted``."""
    batcher = InputBatcher(torch.from_numpy(np.array(images)), model.shape[-1])
    arrays: dict[str, list[Tensor]] = {"images": [], "maps": [], "predicted": []}
    for batch in batcher.batches(BATCH, derive_generator("saliency")):
        maps, predicted = grad_cam(model.networks["encoder"], model.networks["head"], batch)
        pixels = batch.add(1).mul(127.5).round().to(torch.uint8).permute(0, 2, 3, 1)
        for name, tensor in (("images", pixels), ("maps", maps), ("predicted", predicted)):
            arrays[name].append(tensor)
    return {name: torch.cat(tensors).numpy() for name, tensors in arrays.items()}


def crop_masks(masks: Array, size: int) -> Array:
    """Crop masks bool (N,H,W) as images are cropped, (N,size,size)."""
    batcher = InputBatcher(torch.from_numpy(np.array(masks, dtype=np.uint8))[..., None], size)
    return batcher.batch(np.arange(len(masks)), derive_generator("saliency"))[:, 0].numpy() > -1


def measure(dataset: Dataset, rows: Array, seen: dict[str, Array]) -> dict[str, Any]:
    """A group's row of saliency.csv, from the maps of these rows."""
    maps = seen["maps"]
    values = {
        "samples": len(rows),
        "correct": (seen["predicted"] == dataset.y[rows]).mean(),
        "empty": (maps.max(axis=(1, 2)) == 0).mean(),
    }
    if dataset.masks is None:
        return values | {"inside": np.nan, "uniform": np.nan}
    masks = crop_masks(dataset.masks[rows], maps.shape[1])
    return values | {"inside": pd.Series(share_inside(maps, masks)).mean(), "uniform": masks.mean()}


def explain(result: ResultPath, arguments: argparse.Namespace) -> None:
    """Draw and measure the maps of every run of a folder."""
    torch.set_num_threads(1)  # so that results do not depend on it
    kept: dict[str, Array] = {}
    table, stored = [], cache(partial(load_dataset, result.data.folder))
    for run in result.runs():
        dataset, model, named = stored(run.data.name), model_of(result, run), identify_run(result, run)
        if dataset.inputs.dtype != np.uint8:
            raise InputError(
                f"{result.data.folder}/inputs.npy holds no images: Grad-CAM needs them; use another data set"
            )
        examples = []
        for group, rows in zip(dataset.about["groups"], draw_images(dataset, run.data.name), strict=True):
            if len(rows):
                seen = explain_images(model, dataset.inputs[rows])
                table.append({**named, "group": group, **measure(dataset, rows, seen)})
                examples.append({"rows": rows[:EXAMPLES], **{name: values[:EXAMPLES] for name, values in seen.items()}})
        kept |= {f"{run.key}/{name}": np.concatenate([group[name] for group in examples]) for name in examples[0]}
    save_arrays(result.folder / "saliency.safetensors", kept)
    write_csv(result.folder / "saliency.csv", pd.DataFrame(table))


if __name__ == "__main__":
    run_from_command_line(__doc__ or "", explain)
