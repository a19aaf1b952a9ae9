"""Evaluation stage: every metric for every run, split and selection rule, into results/runs/DATASET/METHOD/SEEDS/metrics.csv.

    python -m despur.evaluate results/runs/colored_digits/cnc/s0-2

Columns: dataset, method, the settings that the sweep varies, seed, split, selection, metric, group, value.
"""

import argparse
import json
from collections.abc import Iterator

import numpy as np
import pandas as pd

from despur.metrics import alignment, fairness, groups, information, probes
from despur.paths import Place, Run
from despur.provenance import entry_point
from despur.randomness import generator
from despur.settings import spell
from despur.store import Array, Container, Dataset, load_dataset, write_csv

FIT_ROWS = 10_000  # at most so many training samples fit a leakage attacker
Row = tuple[str, str, float]


def accuracies(dataset: Dataset, rows: Array, predicted: Array) -> Iterator[Row]:
    """Accuracy by group and class; worst group; plain average and average weighted by training-group sizes; GAP."""
    assert dataset.groups is not None
    y, member = dataset.y[rows], dataset.groups[rows]
    correct = predicted == y
    each = groups.group_accuracies(correct, member)
    for name, value, size in zip(dataset.about["groups"], each, member.sum(axis=0), strict=True):
        yield "accuracy", name, float(value)
        yield "samples", name, float(size)
    yield "worst_group_accuracy", "", groups.worst_group_accuracy(correct, member)
    yield "average_accuracy", "", float(correct.mean())
    yield "weighted_average_accuracy", "", groups.weighted_average(correct, member, dataset.groups[dataset.rows("train")].sum(axis=0))
    for label, name in enumerate(dataset.about["classes"]):
        inside = y == label
        if inside.any():
            yield "class_average_accuracy", name, float(correct[inside].mean())
            yield "class_worst_group_accuracy", name, groups.worst_group_accuracy(correct[inside], member[inside])
    yield "gap", "", fairness.tpr_gap(predicted, y, dataset.table["a"].to_numpy()[rows])


def representations(dataset: Dataset, rows: Array, z: Array, logits: Array, seed: int) -> Iterator[Row]:
    """Leakage at representations and logits, mutual information, alignment, cosine similarity. ``z``, ``logits``: all samples."""
    y, a, train = dataset.y, dataset.table["a"].to_numpy(), dataset.rows("train")
    fit = generator("leakage", seed).permutation(train)[:FIT_ROWS]
    for name, features in (("leakage_representations", z), ("leakage_logits", logits)):
        yield name, "", fairness.leakage(features[fit], a[fit], features[rows], a[rows])
    half = np.sort(generator("mutual_information", seed).permutation(len(rows))[: len(rows) // 2])
    for name, labels in (("mutual_information_class", y), ("mutual_information_attribute", a)):
        yield name, "", information.mutual_information(z[rows], labels[rows])
        yield f"{name}_half", "", information.mutual_information(z[rows], labels[rows], half)
    per_class: dict[str, list[float]] = {"alignment_loss": [], "alignment_loss_released": [], "cosine_similarity": []}
    for label, name in enumerate(dataset.about["classes"]):
        inside = rows[y[rows] == label]
        majority = int(np.bincount(a[train[y[train] == label]], minlength=1).argmax())
        values = (
            alignment.alignment_loss(z[inside], a[inside]),
            alignment.released_alignment_loss(z[inside], a[inside], majority),
            alignment.cosine_similarity(z[inside], a[inside]),
        )
        for metric, value in zip(per_class, values, strict=True):
            per_class[metric].append(value)
            yield metric, name, value
    for metric, series in per_class.items():
        yield metric, "", float(np.nanmean(series)) if np.isfinite(series).any() else float("nan")


def sizes(dataset: Dataset, rows: Array) -> Iterator[Row]:
    """Samples by group."""
    assert dataset.groups is not None
    for name, size in zip(dataset.about["groups"], dataset.groups[rows].sum(axis=0), strict=True):
        yield "samples", name, float(size)


def evaluate_run(dataset: Dataset, run: Run, outputs: dict[str, Array]) -> list[tuple[str, Row]]:
    """All (split, row) of one run and selection; representation metrics on the held-out splits that do not select.

    Probes where there are no logits, or where the data set says on how many labels they are fitted.
    """
    found = []
    z = outputs["z"].astype(np.float32)
    for split in dataset.splits:
        rows = dataset.rows(split)
        if "logits" not in outputs:
            found += [(split, row) for row in sizes(dataset, rows)]
            continue
        logits = outputs["logits"].astype(np.float32)
        found += [(split, row) for row in accuracies(dataset, rows, logits[rows].argmax(axis=1))]
        if split not in ("train", dataset.about["select"]):
            found += [(split, row) for row in representations(dataset, rows, z, logits, run.seed)]
    if "logits" not in outputs or "label_fractions" in dataset.about:
        found += probes.probe_rows(dataset, z)
    return found


def evaluate(place: Place, arguments: argparse.Namespace) -> None:
    """Evaluate every run of a folder; a run whose best step is its last is evaluated once."""
    container = Container(place.folder / "outputs.safetensors")
    about = json.loads((place.folder / "about.json").read_text())["runs"]
    swept = place.sweep.swept
    rows = []
    for run in place.runs():
        dataset = load_dataset(place.data.folder, run.data.name)
        same = about[run.key]["best_step"] == about[run.key]["steps"]
        first = evaluate_run(dataset, run, container.under(f"{run.key}/best"))
        by_selection = {"best": first, "last": first if same else evaluate_run(dataset, run, container.under(f"{run.key}/last"))}
        settings = {key: spell(run.spec.value(key)) for key in swept} | {
            f"data.{key}": spell(run.data.value(key)) for key in place.datasets.swept
        }
        for selection, found in by_selection.items():
            rows += [
                {
                    "dataset": run.data.name,
                    "method": run.spec.name,
                    **settings,
                    "seed": run.seed,
                    "split": split,
                    "selection": selection,
                    "metric": metric,
                    "group": group,
                    "value": value,
                }
                for split, (metric, group, value) in found
            ]
    write_csv(place.folder / "metrics.csv", pd.DataFrame(rows))


if __name__ == "__main__":
    entry_point(__doc__ or "", evaluate)
