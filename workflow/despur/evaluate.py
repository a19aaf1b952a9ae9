"""Evaluation stage: every metric for every run, split and selection rule, into results/runs/DATASET/METHOD/SEEDS/metrics.csv.

    python -m despur.evaluate results/runs/colored_digits/cnc/s0-2

Columns: dataset, method, the settings that the sweep varies, seed, split, selection, metric, group, value. Beside it,
resamples.parquet holds the values of the test splits (selection best) on 200 bootstrap samples of its originals, the same for all
methods on a data set: what intervals are made of.
"""

import argparse
import hashlib
import json
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from despur.metrics import alignment, bound, fairness, groups, information, probes
from despur.metrics.neighbours import nearest_neighbours, top_k_correct
from despur.paths import Place, Run, identity
from despur.provenance import entry_point
from despur.randomness import generator
from despur.store import Array, Container, Dataset, atomic, load_dataset, write_csv

FIT_ROWS = 10_000  # at most so many training samples fit the non-linear attacker
RESAMPLES = 200
Known = dict[tuple[Any, ...], list["Row"]]
Row = tuple[str, str, Any]  # metric, group, value: a number, or one for each row of weights


def accuracies(dataset: Dataset, rows: Array, predicted: Array, weights: Array) -> Iterator[Row]:
    """Accuracy by group and class; worst group; plain average and average weighted by training sizes of class x attribute; GAP."""
    assert dataset.groups is not None
    y, member, cells = dataset.y[rows], dataset.groups[rows], dataset.cells
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
            yield "class_worst_group_accuracy", name, groups.worst_group_accuracy(correct[inside], member[inside], weights[:, inside])
    yield "gap", "", fairness.tpr_gap(predicted, y, dataset.table["a"].to_numpy()[rows], weights)


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
    """Theorem 3.1 of Zhang et al. 2022 by class: average and worst-group loss here, and by how much the second may exceed the first.

    As the theorem assumes, its groups (class x attribute) are those with training samples. ``z``, ``logits``: all samples.
    """
    y, a, train = dataset.y, dataset.table["a"].to_numpy(), dataset.rows("train")
    loss, classes = bound.clipped_cross_entropy(logits, y)[rows], logits.shape[1]
    for label, name in enumerate(dataset.about["classes"]):
        known = train[y[train] == label]
        values, sizes = np.unique(a[known], return_counts=True)
        member = (y[rows] == label)[:, None] & (a[rows][:, None] == values)
        inside = member.any(axis=1)
        if inside.any():
            each = np.stack([groups.mean(loss[own], weights[:, own]) for own in member.T if own.any()])
            yield "class_average_loss", name, groups.mean(loss[inside], weights[:, inside])
            yield "class_worst_group_loss", name, np.fmax.reduce(each, axis=0)
            aligned = bound.alignment_term(head, z[known], a[known])
            yield "class_bound_alignment", name, aligned
            yield "class_bound", name, aligned + bound.concentration_term(sizes, classes)


def counts(dataset: Dataset, name: str, split: str, resamples: int) -> Array:
    """How often each sample of a split counts, (1+resamples,N): once; then in bootstrap samples of the split's originals.

    ``name``: the data set without its settings, so that data points that share their originals share the bootstrap samples.
    """
    originals = dataset.table["original"].to_numpy()[dataset.rows(split)]
    _, where = np.unique(originals, return_inverse=True)
    size = where.max() + 1
    rng = generator(f"resamples/{name}/{split}")
    drawn = [np.bincount(rng.integers(0, size, size), minlength=size) for _ in range(resamples)]
    return np.stack([np.ones(size), *drawn])[:, where]


def neighbour_accuracy(dataset: Dataset, rows: Array, z: Array, k: int, weights: Array) -> Array:
    """Accuracy of the class that the ``k`` nearest training representations vote for."""
    train = dataset.rows("train")
    predicted = nearest_neighbours(z[train], dataset.y[train], z[rows], k)
    return groups.mean((predicted == dataset.y[rows]).astype(float), weights)


def sizes(dataset: Dataset, rows: Array) -> Iterator[Row]:
    """Samples by group."""
    assert dataset.groups is not None
    for name, size in zip(dataset.about["groups"], dataset.groups[rows].sum(axis=0), strict=True):
        yield "samples", name, float(size)


def evaluate_run(
    dataset: Dataset, run: Run, outputs: dict[str, Array], resamples: int = 0, known: Known | None = None
) -> list[tuple[str, Row]]:
    """All (split, row) of one run and selection; representation metrics on the held-out splits that do not select.

    ``outputs``: ``z`` and (with a head) ``logits`` of all samples; ``head``, the weight of a linear head (K,D), where the model has one.
    ``known``: what was found of representations, which many heads may share; filled here.
    Without a known attribute, none of the metrics that compare its values; nearest neighbours where the method declares how many.
    Probes where there are no logits, or where the data set says on how many labels they are fitted.
    """
    known = {} if known is None else known
    splits = [split for split in dataset.splits if split != "unlabelled"]
    tested = [split for split in splits if split not in ("train", dataset.about["select"])]
    weights = {split: counts(dataset, run.data.base, split, resamples if split in tested else 0) for split in splits}
    several, classes = len(dataset.about["attributes"]) > 1, len(dataset.about["classes"])
    found = []
    z = outputs["z"].astype(np.float32)
    logits = outputs["logits"].astype(np.float32) if "logits" in outputs else None
    digest = hashlib.sha256(z.tobytes()).hexdigest()
    for split in splits:
        rows = dataset.rows(split)
        if logits is None:
            found += [(split, row) for row in sizes(dataset, rows)]
            continue
        found += [(split, row) for row in accuracies(dataset, rows, logits[rows].argmax(axis=1), weights[split])]
        if classes > 5:
            top5 = top_k_correct(logits[rows], dataset.y[rows], 5).astype(float)
            found.append((split, ("top5_accuracy", "", groups.mean(top5, weights[split]))))
        if split in tested and (k := run.spec.settings.get("neighbours")):
            found.append((split, (f"knn{k}_accuracy", "", neighbour_accuracy(dataset, rows, z, k, weights[split]))))
        if split in tested and several:
            if (same := (digest, run.data.name, split, run.seed, resamples)) not in known:
                known[same] = list(representations(dataset, rows, z, run.seed, weights[split]))
            found += [(split, row) for row in known[same]]
            found.append((split, ("leakage_logits", "", leakage(dataset, rows, logits, weights[split]))))
            if "head" in outputs:
                found += [(split, row) for row in theorem(dataset, rows, z, logits, outputs["head"], weights[split])]
    if logits is None or "label_fractions" in dataset.about:
        found += probes.probe_rows(dataset, z, weights)
    return found


def evaluate(place: Place, arguments: argparse.Namespace) -> None:
    """Evaluate every run of a folder under each selection that it keeps; a run whose best step is its last is evaluated once."""
    container, models = (Container(place.folder / f"{name}.safetensors") for name in ("outputs", "models"))
    about = json.loads((place.folder / "about.json").read_text())["runs"]
    stored = cache(partial(load_dataset, place.data.folder))
    known: Known = {}
    rows, resampled = [], []
    for run in place.runs():
        dataset, named = stored(run.data.name), identity(place, run)
        same = about[run.key]["best_step"] == about[run.key]["steps"]
        done: dict[str, list[tuple[str, Row]]] = {}
        for selection in selections(container, run):
            if selection == "last" and same:
                done["last"] = done["best"]
            else:
                outputs = container.under(f"{run.key}/{selection}")
                if (head := f"{run.key}/{selection}/head.weight") in models.keys:
                    outputs["head"] = models[head]
                done[selection] = evaluate_run(dataset, run, outputs, RESAMPLES if selection == "best" else 0, known)
            for split, (metric, group, value) in done[selection]:
                values = np.atleast_1d(value)
                row = named | {"split": split, "selection": selection, "metric": metric, "group": group}
                rows.append(row | {"value": values[0]})
                if selection == "best" and len(values) > 1:
                    resampled.append(row | {str(i): v for i, v in enumerate(values[1:].astype(np.float32))})
    write_csv(place.folder / "metrics.csv", pd.DataFrame(rows))
    with atomic(place.folder / "resamples.parquet") as temporary:
        pd.DataFrame(resampled).to_parquet(temporary, index=False)


def selections(container: Container, run: Run) -> list[str]:
    """What was kept of a run: best, last, and the epochs of which it kept a snapshot."""
    kept = {key.removeprefix(f"{run.key}/").split("/")[0] for key in container.keys if key.startswith(f"{run.key}/")}
    return sorted(kept - {"diagnostics"}, key=lambda name: (name.partition("=")[0], int(name.partition("=")[2] or 0)))


if __name__ == "__main__":
    entry_point(__doc__ or "", evaluate)
