"""CNC's step against that of its authors' code, on the same batches: on a GPU where there is one, else on one thread.

The code is theirs, and not kept here: ``DESPUR_CNC_AUTHORS`` names a checkout of HazyResearch/correct-n-contrast;
without it, the row says so. Their loss and their outputs are called as ``train_epoch`` of their
train_supervised_contrast.py calls them: one contrastive batch after the other, three backward passes each. What their
loader and their log cost is left out."""

import importlib
import os
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

from benchmarks.cnc import build_cnc
from benchmarks.common import Row, compare

FOLDER = "DESPUR_CNC_AUTHORS"
GOALS = {"cpu": ">= 6", "cuda": ">= 4"}


def import_authors(folder: str) -> Any:
    """Their contrastive_network.py; what it imports of transformers, for BERT alone, may be absent today."""
    names = "BertForSequenceClassification", "BertConfig", "AdamW", "get_linear_schedule_with_warmup"
    transformers = ModuleType("transformers")
    transformers.__dict__.update(dict.fromkeys(names))
    sys.modules["transformers"] = transformers
    sys.path.insert(0, folder)
    return importlib.import_module("contrastive_network")


def build_authors_step(theirs: Any, task: Any, settings: Any) -> Callable[[Any, Any], None]:
    """Their step on the images (K, B, ...) and the classes (K, B) of K contrastive batches: anchors, positives,
    negatives of the anchors, negatives of the positives."""
    import torch

    m, n, weight = settings["num_positives"], settings["num_negatives"], settings["lambda"]
    args = SimpleNamespace(
        temperature=settings["temperature"], num_positive=m, num_negative=n, arch="cnn", hard_negative_factor=0,
        single_pos=False, device=task.device, replicate=0,
    )  # fmt: skip
    encoder = theirs.ContrastiveNet("cnn", 128, projection_head=False, num_classes=task.num_classes)
    encoder = encoder.eval().to(task.device)
    classifier, contrast = encoder.classifier, theirs.SupervisedContrastiveLoss(args)
    rates = {"lr": settings["learning_rate"], "momentum": settings["momentum"]}
    optimizers = [torch.optim.SGD(each.parameters(), **rates) for each in (encoder.backbone, classifier)]

    def step(images: Any, labels: Any) -> None:
        for batch, y in zip(images, labels, strict=True):
            anchors, positives, negatives, reverse = batch.split([m, m, n, n])
            for parts in ((anchors[:1], positives, negatives), (positives[:1], anchors, reverse)):
                (contrast(encoder, torch.vstack(parts)) * weight / len(images)).backward()
            _, loss = theirs.compute_outputs(
                batch, encoder, classifier, args, y, True, torch.nn.functional.cross_entropy
            )
            (loss * (1 - weight) / len(images)).backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()

    return step


def compare_steps(folder: str, device: Any) -> Row:
    """Time both steps and return their row: at the published shape, M = N = 32, 32 contrastive batches a step, LeNet,
    48,000 training images; in core time on a CPU, in time on a GPU."""
    import numpy as np
    from benchmarks.anchors import time_turns
    from benchmarks.gpu import wait

    from despur.compute.machine import Machine
    from despur.compute.randomness import derive_generator

    method, _ = build_cnc(device)  # memory as in a run: theirs profits, too
    task = method.task
    step = build_authors_step(import_authors(folder), task, method.settings)
    batch = method.batches(np.random.default_rng(0))[0]
    drawn = method.sampler.draw(derive_generator("bench"), batch).rows
    images = [task.batcher.batch(each, np.random.default_rng(0)).contiguous() for each in drawn]
    labels = [task.labels[each] for each in drawn]
    works = (lambda: step(images, labels)), (lambda: method.step(batch, derive_generator("bench")))
    if device.type == "cpu":
        ratio, slow, fast = compare(*works)
    else:
        slow, fast = time_turns(*works, lambda: wait(Machine(device)))
        ratio = slow / fast
    passed = drawn.size + 2 * len(drawn) * (1 + drawn.shape[1] // 2)  # each part by itself, then the batch
    unit = "ms of a core" if device.type == "cpu" else "ms"
    note = (
        f"{drawn.size:,} presentations a step: theirs {1000 * slow:,.0f} {unit} "
        f"for {passed:,} images that pass the encoder, ours {1000 * fast:,.0f} for {len(np.unique(drawn)):,}"
    )
    return name_row(device.type), ratio, "times", GOALS[device.type], note


def name_row(kind: str) -> str:
    return f"cnc on {kind}: its authors' step against ours"


def authors() -> list[Row]:
    """On the first GPU where there is one, else on the CPU."""
    import torch

    kind = "cuda" if torch.cuda.is_available() else "cpu"
    if folder := os.environ.get(FOLDER):
        return [compare_steps(folder, torch.device(kind))]
    note = f"{FOLDER} names no checkout of their code"
    return [(name_row(kind), float("nan"), "times", GOALS[kind], note)]
