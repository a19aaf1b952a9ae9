"""Rows of metrics.csv: metrics of predictions and of representations on the samples of a split.

``rows``: positions of the N samples of the split. ``weights`` (W,N): how often each of them counts, for each of W
values. ``z`` (all,D) and ``logits`` (all,C) are of all samples of the data set, unless stated otherwise. Training
samples whose attribute is missing do not count where attributes are compared."""

from collections.abc import Iterator

import numpy as np

from despur.compute.randomness import derive_generator
from despur.metrics import alignment, bound, fairness, groups, information
from despur.metrics.codes import TOP_CLASSES
from despur.metrics.groups import Row
from despur.metrics.neighbors import predict_by_neighbors
from despur.metrics.probes import standardize
from despur.storage.store import MISSING, Array, Dataset

FIT_ROWS = 10_000  # the most training samples on which the non-linear attacker is fitted


def count_samples(dataset: Dataset, rows: Array) -> Iterator[Row]:
    """Number of samples of each group."""
    assert dataset.groups is not None
    for name, size in zip(dataset.about["groups"], dataset.groups[rows].sum(axis=0), strict=True):
        yield "samples", name, float(size)


def measure_accuracies(dataset: Dataset, rows: Array, codes: Array, weights: Array) -> Iterator[Row]:
    """Accuracies by group and class, their minimum and averages; GAP, and the largest of its gaps; with more than five
    classes, top-5 accuracy.
    ``codes``: of these rows (despur/metrics/codes.py). The weighted average has the training sizes of the
    class-attribute groups as weights."""
    assert dataset.groups is not None
    y, member, class_attribute_groups = dataset.y[rows], dataset.groups[rows], dataset.class_attribute_groups
    correct = codes == 0
    accuracies = groups.group_accuracies(correct, member, weights)
    for i, (name, size) in enumerate(zip(dataset.about["groups"], member.sum(axis=0), strict=True)):
        yield "accuracy", name, accuracies[:, i]
        yield "samples", name, float(size)
    yield "worst_group_accuracy", "", groups.worst_group_accuracy(correct, member, weights)
    yield "average_accuracy", "", groups.mean(correct.astype(float), weights)
    sizes = class_attribute_groups[dataset.rows("train")].sum(axis=0)
    average = groups.weighted_average(correct, class_attribute_groups[rows], sizes, weights)
    yield "weighted_average_accuracy", "", average
    of_classes = []
    for label, name in enumerate(dataset.about["classes"]):
        inside = y == label
        if inside.any():
            of_classes.append(groups.mean(correct[inside].astype(float), weights[:, inside]))
            worst = groups.worst_group_accuracy(correct[inside], member[inside], weights[:, inside])
            yield "class_average_accuracy", name, of_classes[-1]
            yield "class_worst_group_accuracy", name, worst
    yield "worst_class_accuracy", "", np.fmin.reduce(of_classes)
    yield "balanced_accuracy", "", groups.average_groups(np.stack(of_classes, axis=-1), np.ones(len(of_classes)))
    has_attribute = dataset.a[rows] != MISSING
    predicted = np.where(correct, y, -1)[has_attribute]
    gaps = fairness.tpr_gaps(predicted, y[has_attribute], dataset.a[rows[has_attribute]], weights[:, has_attribute])
    yield "gap", "", fairness.root_mean_square(gaps)
    yield "largest_gap", "", fairness.largest(gaps)
    if len(dataset.about["classes"]) > TOP_CLASSES:
        yield "top5_accuracy", "", groups.mean((codes < TOP_CLASSES).astype(float), weights)


def measure_leakage(dataset: Dataset, rows: Array, features: Array, weights: Array) -> Array:
    """Accuracy of a linear attacker that predicts the attribute, (W,). ``features`` (all,D)."""
    a, train = dataset.a, dataset.rows_with_attribute("train")
    return fairness.leakage(features[train], a[train], features[rows], a[rows], weights)


def measure_representations(dataset: Dataset, rows: Array, z: Array, weights: Array) -> Iterator[Row]:
    """Mutual information, alignment and cosine similarity of representations: what curves over epochs show."""
    for name, labels in (("mutual_information_class", dataset.y), ("mutual_information_attribute", dataset.a)):
        yield name, "", information.mutual_information(z[rows], labels[rows], weights=weights)
    yield from similarities(dataset, rows, z, weights)


def measure_attackers(dataset: Dataset, rows: Array, z: Array, seed: int, weights: Array) -> Iterator[Row]:
    """Leakage of representations, and their mutual information by classifiers fitted on one half of the samples and
    scored on the other. ``seed``: of the random halves.

    Regularized classifiers read more from larger numbers. What is to be compared between encoders is therefore also
    measured on representations that are standardized by the training samples."""
    y, a, train = dataset.y, dataset.a, dataset.rows_with_attribute("train")
    standardized = standardize(z, dataset.rows("train"))
    yield "leakage_representations", "", measure_leakage(dataset, rows, z, weights)
    yield "leakage_representations_standardized", "", measure_leakage(dataset, rows, standardized, weights)
    fit = derive_generator("leakage", seed).permutation(train)[:FIT_ROWS]
    yield "leakage_representations_nonlinear", "", fairness.nonlinear_leakage(z[fit], a[fit], z[rows], a[rows], weights)
    half = np.sort(derive_generator("mutual_information", seed).permutation(len(rows))[: len(rows) // 2])
    for name, labels in (("mutual_information_class", y), ("mutual_information_attribute", a)):
        for suffix, x in (("_half", z), ("_standardized_half", standardized)):
            yield name + suffix, "", information.mutual_information(x[rows], labels[rows], half, weights)


def similarities(dataset: Dataset, rows: Array, z: Array, weights: Array) -> Iterator[Row]:
    """Alignment loss and cosine similarity of the representations of each class; then their means over the classes with
    several groups, those of the released code over all pairs of these classes."""
    y, a, train = dataset.y, dataset.a, dataset.rows_with_attribute("train")
    per_class: dict[str, list[Array]] = {"alignment_loss": [], "alignment_loss_released": [], "cosine_similarity": []}
    pairs = []
    for label, name in enumerate(dataset.about["classes"]):
        of_class = y[rows] == label
        inside, counts = rows[of_class], weights[:, of_class]
        attributes = a[train[y[train] == label]]
        majority = int(np.bincount(attributes).argmax()) if len(attributes) else MISSING
        released, count = alignment.released_alignment_loss(z[inside], a[inside], majority)
        pairs.append(count)
        values = (
            alignment.alignment_loss(z[inside], a[inside], counts),
            np.full(1, released),
            alignment.cosine_similarity(z[inside], a[inside], counts),
        )
        for metric, value in zip(per_class, values, strict=True):
            per_class[metric].append(value)
            yield metric, name, value
    for metric, series in per_class.items():
        defined = [i for i, values in enumerate(series) if np.isfinite(values[0])]  # classes with several groups
        shares = np.array(pairs)[defined].astype(float) if metric == "alignment_loss_released" else None
        yield metric, "", groups.mean(np.array([series[i] for i in defined]), shares) if defined else float("nan")


def measure_bound(dataset: Dataset, rows: Array, z: Array, logits: Array, head: Array, weights: Array) -> Iterator[Row]:
    """Theorem 3.1 of Zhang et al. 2022 by class: average loss, worst-group loss, and the bound of their difference.

    As the theorem assumes, its class-attribute groups are those with training samples, and the average weighs them
    by their training sizes. ``head`` (C,D)."""
    y, a, train = dataset.y, dataset.a, dataset.rows_with_attribute("train")
    loss, classes = bound.clipped_cross_entropy(logits[rows], y[rows]), logits.shape[1]
    for label, name in enumerate(dataset.about["classes"]):
        of_class = train[y[train] == label]
        values, sizes = np.unique(a[of_class], return_counts=True)
        member = (y[rows] == label)[:, None] & (a[rows][:, None] == values)
        if member.any():
            losses = np.stack([groups.mean(loss[group], weights[:, group]) for group in member.T], axis=-1)
            yield "class_average_loss", name, groups.average_groups(losses, sizes)
            yield "class_worst_group_loss", name, np.fmax.reduce(losses, axis=-1)
            yield "class_loss_ceiling", name, bound.ceiling(classes)
            aligned = bound.alignment_term(head, z[of_class], a[of_class])
            yield "class_bound_alignment", name, aligned
            yield "class_bound", name, aligned + bound.concentration_term(sizes, classes)


def predict_neighbors(dataset: Dataset, rows: Array, z: Array, k: int) -> Array:
    """The classes that the ``k`` nearest training representations vote for, (N,)."""
    train = dataset.rows("train")
    return predict_by_neighbors(z[train], dataset.y[train], z[rows], k)
