"""Rows of metrics.csv: what is measured of predictions and of representations on the samples of a split.

``weights`` (W,N): how often each of the N samples counts, for each of W values. ``z`` and ``logits`` are of all
samples of the data set, unless said."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from despur.compute.randomness import generator
from despur.metrics import alignment, bound, fairness, groups, information
from despur.metrics.neighbors import nearest_neighbours, top_k_correct
from despur.storage.store import Array, Dataset

FIT_ROWS = 10_000  # at most so many training samples fit the non-linear attacker
Row = tuple[str, str, Any]  # metric, group, value: a number, or one for each row of weights


def sizes(dataset: Dataset, rows: Array) -> Iterator[Row]:
    """Samples by group."""
    assert dataset.groups is not None
    for name, size in zip(dataset.about["groups"], dataset.groups[rows].sum(axis=0), strict=True):
        yield "samples", name, float(size)


def accuracies(dataset: Dataset, rows: Array, logits: Array, weights: Array) -> Iterator[Row]:
    """Accuracy by group and class; worst group; plain average and average weighted by training sizes of class x
    attribute; GAP; of more than five classes, how often the right one is among the first five. ``logits``: of these
    rows."""
    assert dataset.groups is not None
    y, member, cells = dataset.y[rows], dataset.groups[rows], dataset.class_attribute_groups
    predicted = logits.argmax(axis=1)
    correct = predicted == y
    each = groups.group_accuracies(correct, member, weights)
    for i, (name, size) in enumerate(zip(dataset.about["groups"], member.sum(axis=0), strict=True)):
        yield "accuracy", name, each[:, i]
        yield "samples", name, float(size)
    yield "worst_group_accuracy", "", groups.worst_group_accuracy(correct, member, weights)
    yield "average_accuracy", "", groups.mean(correct.astype(float), weights)
    sizes = cells[dataset.rows("train")].sum(axis=0)
    yield "weighted_average_accuracy", "", groups.weighted_average(correct, cells[rows], sizes, weights)
    for label, name in enumerate(dataset.about["classes"]):
        inside = y == label
        if inside.any():
            yield "class_average_accuracy", name, groups.mean(correct[inside].astype(float), weights[:, inside])
            yield (
                "class_worst_group_accuracy",
                name,
                groups.worst_group_accuracy(correct[inside], member[inside], weights[:, inside]),
            )
    yield "gap", "", fairness.tpr_gap(predicted, y, dataset.table["a"].to_numpy()[rows], weights)
    if len(dataset.about["classes"]) > 5:
        yield "top5_accuracy", "", groups.mean(top_k_correct(logits, y, 5).astype(float), weights)


def leakage(dataset: Dataset, rows: Array, features: Array, weights: Array) -> Array:
    """How well a linear attacker tells the attribute. ``features``: of all samples."""
    a, train = dataset.table["a"].to_numpy(), dataset.rows("train")
    return fairness.leakage(features[train], a[train], features[rows], a[rows], weights)


def representations(dataset: Dataset, rows: Array, z: Array, seed: int, weights: Array) -> Iterator[Row]:
    """Leakage, mutual information, alignment and cosine similarity of representations. ``z``: of all samples."""
    y, a, train = dataset.y, dataset.table["a"].to_numpy(), dataset.rows("train")
    yield "leakage_representations", "", leakage(dataset, rows, z, weights)
    fit = generator("leakage", seed).permutation(train)[:FIT_ROWS]
    yield "leakage_representations_nonlinear", "", fairness.nonlinear_leakage(z[fit], a[fit], z[rows], a[rows], weights)
    half = np.sort(generator("mutual_information", seed).permutation(len(rows))[: len(rows) // 2])
    for name, labels in (("mutual_information_class", y), ("mutual_information_attribute", a)):
        yield name, "", information.mutual_information(z[rows], labels[rows], weights=weights)
        yield f"{name}_half", "", information.mutual_information(z[rows], labels[rows], half, weights)
    yield from likeness(dataset, rows, z, weights)


def likeness(dataset: Dataset, rows: Array, z: Array, weights: Array) -> Iterator[Row]:
    """Alignment and cosine similarity of representations of each class; then their means over the classes with several
    groups."""
    y, a, train = dataset.y, dataset.table["a"].to_numpy(), dataset.rows("train")
    per_class: dict[str, list[Array]] = {"alignment_loss": [], "alignment_loss_released": [], "cosine_similarity": []}
    for label, name in enumerate(dataset.about["classes"]):
        here = y[rows] == label
        inside, counts = rows[here], weights[:, here]
        majority = int(np.bincount(a[train[y[train] == label]], minlength=1).argmax())
        values = (
            alignment.alignment_loss(z[inside], a[inside], counts),
            np.full(1, alignment.released_alignment_loss(z[inside], a[inside], majority)),
            alignment.cosine_similarity(z[inside], a[inside], counts),
        )
        for metric, value in zip(per_class, values, strict=True):
            per_class[metric].append(value)
            yield metric, name, value
    for metric, series in per_class.items():
        known = [values for values in series if np.isfinite(values[0])]  # classes with several groups
        yield metric, "", groups.mean(np.array(known)) if known else float("nan")


def theorem(dataset: Dataset, rows: Array, z: Array, logits: Array, head: Array, weights: Array) -> Iterator[Row]:
    """Theorem 3.1 of Zhang et al. 2022 by class: average and worst-group loss here, and by how much the second may
    exceed the first.

    As the theorem assumes, its groups (class x attribute) are those with training samples, and its average is over
    what those are drawn from: groups count by their training sizes. ``z``, ``logits``: all samples."""
    y, a, train = dataset.y, dataset.table["a"].to_numpy(), dataset.rows("train")
    loss, classes = bound.clipped_cross_entropy(logits, y)[rows], logits.shape[1]
    for label, name in enumerate(dataset.about["classes"]):
        known = train[y[train] == label]
        values, sizes = np.unique(a[known], return_counts=True)
        member = (y[rows] == label)[:, None] & (a[rows][:, None] == values)
        if member.any():
            each = np.stack([groups.mean(loss[own], weights[:, own]) for own in member.T], axis=-1)
            yield "class_average_loss", name, groups.averaged(each, sizes)
            yield "class_worst_group_loss", name, np.fmax.reduce(each, axis=-1)
            yield "class_loss_ceiling", name, bound.ceiling(classes)
            aligned = bound.alignment_term(head, z[known], a[known])
            yield "class_bound_alignment", name, aligned
            yield "class_bound", name, aligned + bound.concentration_term(sizes, classes)


def neighbour_accuracy(dataset: Dataset, rows: Array, z: Array, k: int, weights: Array) -> Array:
    """Accuracy of the class that the ``k`` nearest training representations vote for."""
    train = dataset.rows("train")
    predicted = nearest_neighbours(z[train], dataset.y[train], z[rows], k)
    return groups.mean((predicted == dataset.y[rows]).astype(float), weights)
