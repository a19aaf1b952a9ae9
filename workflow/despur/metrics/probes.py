"""Linear probes: linear classifiers on frozen representations (Lewis et al. 2023, Sec. 3)."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from despur.metrics.groups import Row, mean
from despur.storage.store import MISSING, Array, Dataset

STRENGTH = 1.0  # C of the logistic regression: scikit-learn's default; the paper does not state it
OTHER_STRENGTHS = (0.01, 100.0)  # also used with the smallest share of labels, to see how much depends on C


def standardize(z: Array, rows: Array) -> Array:
    """Features (N,D) with mean 0 and standard deviation 1 in these rows, so that a penalty means the same for every
    encoder; 0 where they are constant there."""
    inside = z[rows]
    scaled = (z - inside.mean(axis=0)) / np.maximum(inside.std(axis=0), 1e-6)
    return np.where(np.ptp(inside, axis=0) > 0, scaled, np.zeros_like(scaled))


def probe(z: Array, labels: Array, strength: float = STRENGTH) -> LogisticRegression:
    """Logistic regression with an L2 penalty: ``labels`` (N,) from representations ``z`` (N,D). ``strength``: C (Lewis
    et al. 2023, Sec. 3).

    >>> import numpy as np
    >>> from despur.metrics import probe
    >>> probe(np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])).predict(np.array([[3.0]]))
    array([1])
    """
    return LogisticRegression(C=strength, max_iter=1000).fit(z, labels)


def labeled(dataset: Dataset) -> dict[str, Array]:
    """Rows of the labeled training samples by share of labels, smallest share first; all rows under "100%" if the data
    set declares no shares."""
    train = dataset.rows("train")
    if "label_fractions" not in dataset.about:
        return {"100%": train}
    rank = dataset.table["label_rank"].to_numpy()[train]
    counts = sorted(dataset.about["label_fractions"].items(), key=lambda item: item[1])
    return {name: train[rank < count] for name, count in counts}


def apply(dataset: Dataset, logits: Array | None) -> bool:
    """Whether probes are what tells how good representations are: there are no logits, or the data set says on how
    many labels."""
    return logits is None or "label_fractions" in dataset.about


def of_class(dataset: Dataset, z: Array) -> Iterator[tuple[str, str, Array, LogisticRegression]]:
    """Classifiers of the class by share of the labels: the metric that each is scored by, the share, the rows that it
    was fitted on. On the smallest share there are some of other strengths. ``z``: standardized."""
    shares = labeled(dataset)
    for share, fitted in shares.items():
        yield "probe_accuracy", share, fitted, probe(z[fitted], dataset.y[fitted])
        for strength in OTHER_STRENGTHS if share == next(iter(shares)) else ():
            yield f"probe_accuracy_C={strength:g}", share, fitted, probe(z[fitted], dataset.y[fitted], strength)


def probe_rows(dataset: Dataset, z: Array, weights: Mapping[str, Array]) -> Iterator[tuple[str, Row]]:
    """(split, row) for the accuracy of probes fitted on each share of the labels, and of a domain classifier.

    On the training split, a probe is scored on the samples without a label. ``probe_accuracy_held_out_domain``: see
    :func:`held_out_domain_accuracy`; it could select without data of another domain. ``z`` (N,D): all samples.
    ``weights``: by split, how often each sample counts in the score, (...,N); values are (...)."""
    z, y, a = standardize(z, dataset.rows("train")), dataset.y, dataset.a
    for metric, share, fitted, classifier in of_class(dataset, z):
        for split in weights:
            rows = dataset.rows(split)
            keep = ~np.isin(rows, fitted)
            if keep.any():
                correct = (classifier.predict(z[rows[keep]]) == y[rows[keep]]).astype(float)
                scored = weights[split][..., keep]
                if metric == "probe_accuracy":
                    yield from ((split, row) for row in accuracies(dataset, rows[keep], correct, share, scored))
                else:
                    yield split, (metric, share, mean(correct, scored))
    with_attribute = dataset.rows_with_attribute("train")
    for share, fitted in labeled(dataset).items():
        held_out = held_out_domain_accuracy(z, y, a, fitted[np.isin(fitted, with_attribute)], with_attribute)
        yield "train", ("probe_accuracy_held_out_domain", share, held_out)
    for split, rows, predicted in domains(dataset, z, list(weights)):
        yield split, ("domain_accuracy", "", mean((predicted == a[rows]).astype(float), weights[split]))


def accuracies(dataset: Dataset, rows: Array, correct: Array, name: str, weights: Array) -> Iterator[Row]:
    """Accuracy of a probe on these rows, and in each domain if there are several. ``correct``: of these rows."""
    yield "probe_accuracy", name, mean(correct, weights)
    a = dataset.a[rows]
    if len(values := np.unique(a[a != MISSING])) > 1:
        for value in values:
            accuracy = mean(correct[a == value], weights[..., a == value])
            yield "probe_accuracy_in_domain", f"{name}, {dataset.about['attributes'][value]}", accuracy


def held_out_domain_accuracy(z: Array, y: Array, a: Array, fitted: Array, train: Array) -> float:
    """Accuracy on a training domain of a probe fitted on the labeled samples of the other domains, mean over domains;
    NaN if none can be fitted.

    ``z`` (N,D), ``y``, ``a`` (N,): all samples; ``fitted``, ``train``: rows of the labeled and of all training
    samples."""
    scores = []
    for value in np.unique(a[train]):
        others = fitted[a[fitted] != value]
        if len(np.unique(y[others])) > 1:
            inside = train[a[train] == value]
            scores.append(probe(z[others], y[others]).score(z[inside], y[inside]))
    return float(np.mean(scores)) if scores else float("nan")


def domains(dataset: Dataset, z: Array, splits: Sequence[str]) -> Iterator[tuple[str, Array, Array]]:
    """(split, rows, predicted domain): by a classifier fitted on all training samples to tell their domain, on
    held-out samples of those domains. ``z``: standardized."""
    train, a = dataset.rows_with_attribute("train"), dataset.a
    if len(np.unique(a[train])) < 2:
        return
    classifier = probe(z[train], a[train])
    for split in splits:
        rows = dataset.rows(split)
        if split != "train" and set(a[rows]) <= set(a[train]):
            yield split, rows, classifier.predict(z[rows])
