"""Linear probes: linear classifiers on frozen representations (Lewis et al. 2023, Sec. 3)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from despur.metrics.groups import mean
from despur.storage.store import Array, Dataset

STRENGTH = 1.0  # C of the logistic regression: scikit-learn's default; the paper does not state it
OTHER_STRENGTHS = (0.01, 100.0)  # also used with the smallest share of labels, to see how much depends on C
Row = tuple[str, str, Any]


def standardize(z: Array, rows: Array) -> Array:
    """Features (N,D) with mean 0 and standard deviation 1 in these rows, so that a penalty means the same for every
    encoder."""
    return (z - z[rows].mean(axis=0)) / np.maximum(z[rows].std(axis=0), 1e-6)


def probe(z: Array, labels: Array, strength: float = STRENGTH) -> LogisticRegression:
    """Logistic regression with an L2 penalty: labels (N,) from representations (N,D). ``strength``: C."""
    return LogisticRegression(C=strength, max_iter=1000).fit(z, labels)


def labelled(dataset: Dataset) -> dict[str, Array]:
    """Rows of the labelled training samples by share of labels, smallest share first; all rows under "100%" if the data
    set declares no shares."""
    train = dataset.rows("train")
    if "label_fractions" not in dataset.about:
        return {"100%": train}
    rank = dataset.table["label_rank"].to_numpy()[train]
    counts = sorted(dataset.about["label_fractions"].items(), key=lambda item: item[1])
    return {name: train[rank < count] for name, count in counts}


def probe_rows(dataset: Dataset, z: Array, weights: Mapping[str, Array]) -> Iterator[tuple[str, Row]]:
    """(split, row) for the accuracy of probes fitted on each share of the labels, and of a domain classifier.

    On the training split, a probe is scored on the samples without a label. ``probe_accuracy_held_out_domain``: see
    :func:`held_out_domain_accuracy`; it could select without data of another domain. ``z`` (N,D): all samples.
    ``weights``: by split, how often each sample counts in the score, (...,N); values are (...)."""
    z, y, a = standardize(z, dataset.rows("train")), dataset.y, dataset.table["a"].to_numpy()
    shares = labelled(dataset)
    smallest = next(iter(shares))
    for name, fitted in shares.items():
        for strength in (STRENGTH, *(OTHER_STRENGTHS if name == smallest else ())):
            classifier = probe(z[fitted], y[fitted], strength)
            for split in weights:
                rows = dataset.rows(split)
                keep = ~np.isin(rows, fitted)
                if keep.any():
                    correct = (classifier.predict(z[rows[keep]]) == y[rows[keep]]).astype(float)
                    scored = weights[split][..., keep]
                    if strength == STRENGTH:
                        yield from ((split, row) for row in accuracies(dataset, rows[keep], correct, name, scored))
                    else:
                        yield split, (f"probe_accuracy_C={strength:g}", name, mean(correct, scored))
        yield (
            "train",
            ("probe_accuracy_held_out_domain", name, held_out_domain_accuracy(z, y, a, fitted, dataset.rows("train"))),
        )
    yield from domain_rows(dataset, z, a, weights)


def accuracies(dataset: Dataset, rows: Array, correct: Array, name: str, weights: Array) -> Iterator[Row]:
    """Accuracy of a probe on these rows, and in each domain if there are several. ``correct``: of these rows."""
    yield "probe_accuracy", name, mean(correct, weights)
    a = dataset.table["a"].to_numpy()[rows]
    if len(np.unique(a)) > 1:
        for value in np.unique(a):
            accuracy = mean(correct[a == value], weights[..., a == value])
            yield "probe_accuracy_in_domain", f"{name}, {dataset.about['attributes'][value]}", accuracy


def held_out_domain_accuracy(z: Array, y: Array, a: Array, fitted: Array, train: Array) -> float:
    """Accuracy on a training domain of a probe fitted on the labelled samples of the other domains, mean over domains;
    NaN if none can be fitted.

    ``z`` (N,D), ``y``, ``a`` (N,): all samples; ``fitted``, ``train``: rows of the labelled and of all training
    samples."""
    scores = []
    for value in np.unique(a[train]):
        others = fitted[a[fitted] != value]
        if len(np.unique(y[others])) > 1:
            inside = train[a[train] == value]
            scores.append(probe(z[others], y[others]).score(z[inside], y[inside]))
    return float(np.mean(scores)) if scores else float("nan")


def domain_rows(dataset: Dataset, z: Array, a: Array, weights: Mapping[str, Array]) -> Iterator[tuple[str, Row]]:
    """``domain_accuracy``: of a classifier of the domain fitted on all training samples, on held-out samples of the
    same domains."""
    train = dataset.rows("train")
    if len(np.unique(a[train])) < 2:
        return
    classifier = probe(z[train], a[train])
    for split in weights:
        rows = dataset.rows(split)
        if split != "train" and set(a[rows]) <= set(a[train]):
            correct = (classifier.predict(z[rows]) == a[rows]).astype(float)
            yield split, ("domain_accuracy", "", mean(correct, weights[split]))
