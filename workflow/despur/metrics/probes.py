"""Linear probes: what a linear classifier reads off frozen representations (Lewis et al. 2023, Sec. 3)."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from despur.metrics.groups import mean
from despur.storage.store import Array, Dataset

STRENGTH = 1.0  # scikit-learn's C; the paper states none
OTHER_STRENGTHS = (0.01, 100.0)  # for the smallest share of labels: how much depends on it
Row = tuple[str, str, Any]


def standardised(z: Array, rows: Array) -> Array:
    """Features with the mean and deviation of these rows taken out, so that a penalty means the same for every
    encoder."""
    return (z - z[rows].mean(axis=0)) / np.maximum(z[rows].std(axis=0), 1e-6)


def probe(z: Array, labels: Array, strength: float = STRENGTH) -> LogisticRegression:
    """Logistic regression with an L2 penalty on representations (N,D) of labels (N,)."""
    return LogisticRegression(C=strength, max_iter=1000).fit(z, labels)


def labelled(dataset: Dataset) -> dict[str, Array]:
    """Rows of the training samples that each share of labels holds, fewest first; all of them where a data set
    declares none."""
    train = dataset.rows("train")
    if "label_fractions" not in dataset.about:
        return {"100%": train}
    rank = dataset.table["label_rank"].to_numpy()[train]
    counts = sorted(dataset.about["label_fractions"].items(), key=lambda item: item[1])
    return {name: train[rank < count] for name, count in counts}


def probe_rows(dataset: Dataset, z: Array, weights: Mapping[str, Array]) -> Iterator[tuple[str, Row]]:
    """(split, row): accuracy of classifiers fitted on each share of the labels, and of a domain classifier.

    On the training split, accuracy is that on samples whose labels the probe was not given;
    ``probe_accuracy_held_out_domain`` is fitted on the labels of all training domains but one and scored on that one's
    samples, the mean over domains: what could select without another domain. ``weights``: of each split (...,N), how
    often each sample counts in what is scored; values are (...)."""
    z, y, a = standardised(z, dataset.rows("train")), dataset.y, dataset.table["a"].to_numpy()
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
        yield "train", ("probe_accuracy_held_out_domain", name, across_domains(z, y, a, fitted, dataset.rows("train")))
    yield from domain_rows(dataset, z, a, weights)


def accuracies(dataset: Dataset, rows: Array, correct: Array, name: str, weights: Array) -> Iterator[Row]:
    """Accuracy of a probe on these rows, and in each domain where there are several."""
    yield "probe_accuracy", name, mean(correct, weights)
    a = dataset.table["a"].to_numpy()[rows]
    if len(np.unique(a)) > 1:
        for value in np.unique(a):
            own = mean(correct[a == value], weights[..., a == value])
            yield "probe_accuracy_in_domain", f"{name}, {dataset.about['attributes'][value]}", own


def across_domains(z: Array, y: Array, a: Array, fitted: Array, train: Array) -> float:
    """Fitted on the labelled samples of other domains, scored on a domain: mean over the domains; NaN where that
    cannot be."""
    scores = []
    for value in np.unique(a[train]):
        others = fitted[a[fitted] != value]
        if len(np.unique(y[others])) > 1:
            inside = train[a[train] == value]
            scores.append(probe(z[others], y[others]).score(z[inside], y[inside]))
    return float(np.mean(scores)) if scores else float("nan")


def domain_rows(dataset: Dataset, z: Array, a: Array, weights: Mapping[str, Array]) -> Iterator[tuple[str, Row]]:
    """``domain_accuracy``: of a classifier fitted on all training samples to tell their domain, on held-out samples of
    those domains."""
    train = dataset.rows("train")
    if len(np.unique(a[train])) < 2:
        return
    classifier = probe(z[train], a[train])
    for split in weights:
        rows = dataset.rows(split)
        if split != "train" and set(a[rows]) <= set(a[train]):
            correct = (classifier.predict(z[rows]) == a[rows]).astype(float)
            yield split, ("domain_accuracy", "", mean(correct, weights[split]))
