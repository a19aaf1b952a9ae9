"""Evaluation stage: every metric for every run, split and selection, into
results/runs/DATASET/METHOD/SEEDS/metrics.csv.

    python -m despur.evaluate results/runs/colored_digits/cnc/s0-2

Columns: dataset, method, the settings that the sweep varies, seed, split, selection, metric, group, value. Beside it,
resamples.parquet holds the values of the test splits (selection best, and rules) on bootstrap samples of their
originals (metrics/resampling.py), the same for all methods, splits and draws of a data set: they say how much is the
noise of test data."""

import argparse
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from despur.compute.held_out import divide_held_out
from despur.metrics import RESAMPLES, probes
from despur.metrics.codes import encode_logits
from despur.metrics.groups import Row, mean
from despur.metrics.of_files import measure_by_files
from despur.metrics.resampling import counts
from despur.metrics.rows import (
    count_samples,
    measure_accuracies,
    measure_attackers,
    measure_bound,
    measure_leakage,
    measure_representations,
    predict_neighbors,
)
from despur.specs.paths import ResultPath, Run, identify_run
from despur.storage import checksums
from despur.storage.containers import Container
from despur.storage.digest import CODE, digest_evaluation
from despur.storage.provenance import run_from_command_line
from despur.storage.reading import read_json
from despur.storage.store import Array, Dataset, InputError, atomic, load_dataset, write_csv

SharedRows = dict[tuple[Any, ...], list[Row]]


@dataclass(frozen=True)
class RunOutputs:
    """What the metrics of a run under one selection are computed from. ``outputs``: ``z`` and (with a head) ``logits``
    of all samples; ``head``, the weight of a linear head (K,D), where the model has one. ``shared_rows``: rows of
    representations that were measured before, by split and by what is the ``same`` for all heads on them; filled
    here. ``of_curve``: measured is what curves over epochs show."""

    dataset: Dataset
    run: Run
    outputs: dict[str, Array]
    shared_rows: SharedRows
    same: tuple[Any, ...]
    of_curve: bool


def evaluate_run(
    dataset: Dataset,
    run: Run,
    outputs: dict[str, Array],
    resamples: int = 0,
    shared_rows: SharedRows | None = None,
    of_curve: bool = False,
) -> list[tuple[str, Row]]:
    """All (split, row) of one run and selection (RunOutputs). Probes where there are no logits, or where the data set
    says on how many labels. Raises InputError for representations that cannot be measured."""
    splits, tested = [split for split in dataset.splits if split != "unlabelled"], dataset.test_splits
    originals = dataset.table["original"].to_numpy()
    weights = {
        split: counts(run.data.base_name, originals[dataset.rows(split)], resamples if split in tested else 0)
        for split in splits
    }
    outputs = outputs | {name: outputs[name].astype(np.float32) for name in ("z", "logits") if name in outputs}
    has_probes = probes.apply(dataset, outputs.get("logits"))
    if has_probes or len(dataset.about["attributes"]) > 1:
        require_finite(outputs["z"], run.key)
    same = (hashlib.sha256(outputs["z"].tobytes()).hexdigest(), run.data.name, run.seed, resamples, of_curve)
    evaluated = RunOutputs(dataset, run, outputs, {} if shared_rows is None else shared_rows, same, of_curve)
    rows = [(split, row) for split in splits for row in evaluate_split(evaluated, split, weights[split])]
    if has_probes:
        rows += probes.probe_rows(dataset, outputs["z"], weights)
    return rows


def require_finite(z: Array, key: str) -> None:
    """Raises InputError for representations that were too large for float16, in which they are kept."""
    if not np.isfinite(z).all():
        raise InputError(
            f"{key}: representations are NaN, or beyond {np.finfo(np.float16).max:,.0f}, the most that float16 holds: "
            "bring inputs that are standardized, or choose an encoder that bounds its representations (mlp)"
        )


def evaluate_split(evaluated: RunOutputs, split: str, weights: Array) -> list[Row]:
    """Accuracies on a split; on a test split also what :func:`evaluate_test_split` and files of metrics measure."""
    dataset, logits = evaluated.dataset, evaluated.outputs.get("logits")
    rows = dataset.rows(split)
    if logits is None:
        measured = [*count_samples(dataset, rows)]
    else:
        measured = [*measure_accuracies(dataset, rows, encode_logits(logits[rows], dataset.y[rows]), weights)]
    if split in dataset.test_splits:
        measured += evaluate_test_split(evaluated, split, weights) if logits is not None else ()
        known = {(metric, group) for metric, group, _ in measured}
        measured += measure_by_files(dataset, rows, evaluated.outputs, weights, known)
    return measured


def evaluate_test_split(evaluated: RunOutputs, split: str, weights: Array) -> Iterator[Row]:
    """What is measured only on a split that does not select: nearest neighbors, where the method declares how many;
    with a known attribute, all that compares its values; of a curve, no attacker and no bound."""
    dataset, run, outputs, shared_rows = evaluated.dataset, evaluated.run, evaluated.outputs, evaluated.shared_rows
    of_curve = evaluated.of_curve
    rows, z, logits, same = dataset.rows(split), outputs["z"], outputs["logits"], (split, *evaluated.same)
    if k := run.spec.settings.get("neighbours"):
        correct = predict_neighbors(dataset, rows, z, k) == dataset.y[rows]
        yield f"knn{k}_accuracy", "", mean(correct.astype(float), weights)
    if len(dataset.about["attributes"]) > 1:
        if same not in shared_rows:
            attackers = () if of_curve else measure_attackers(dataset, rows, z, run.seed, weights)
            shared_rows[same] = [*attackers, *measure_representations(dataset, rows, z, weights)]
        yield from shared_rows[same]
        if of_curve:
            return
        yield "leakage_logits", "", measure_leakage(dataset, rows, logits, weights)
        if "head" in outputs:
            yield from measure_bound(dataset, rows, z, logits, outputs["head"], weights)


def evaluate(result: ResultPath, arguments: argparse.Namespace) -> None:
    """Evaluate every run of a folder under each selection that it keeps."""
    container, models = (Container(result.folder / f"{name}.safetensors") for name in ("outputs", "models"))
    about = read_json(result.folder / "about.json")["runs"]
    stored = cache(partial(load_dataset, result.data.folder))
    shared_rows: SharedRows = {}
    rows, resampled_rows, resampled = [], [], []
    for run in result.runs():
        dataset = divide_held_out(stored(run.data.name), run)
        named, by_rule = identify_run(result, run), about[run.key].get("selections", {})
        for selection, measured in by_selection(dataset, run, container, models, about[run.key], shared_rows):
            for split, (metric, group, value) in measured:
                values = np.atleast_1d(value)
                row = named | {"split": split, "selection": selection, "metric": metric, "group": group}
                rows.append(row | {"value": values[0]})
                if selection in ("best", *by_rule) and len(values) > 1:
                    resampled_rows.append(row)
                    resampled.append(values[1:].astype(np.float32))
    write_csv(result.folder / "metrics.csv", pd.DataFrame(rows))
    table = pd.DataFrame(resampled_rows).join(pd.DataFrame(resampled).rename(columns=str))
    sums = {"values": checksums.compute_values(table), **checksums.list_checksums(result.folder, ["metrics.csv"])}
    table.attrs = {checksums.CHECKSUMS: sums, CODE: digest_evaluation(result)}
    with atomic(result.folder / "resamples.parquet") as temporary:
        table.to_parquet(temporary, index=False)


def by_selection(
    dataset: Dataset,
    run: Run,
    container: Container,
    models: Container,
    about: Mapping[str, Any],
    shared_rows: SharedRows,
) -> Iterator[tuple[str, list[tuple[str, Row]]]]:
    """What is measured of a run under each selection; once, where several are one step. ``about``: what about.json
    says of the run."""
    by_rule, done = about.get("selections", {}), {}
    names = {selection: selection for selection in selections(container, run) if selection not in by_rule} | by_rule
    if about["best_step"] == about["steps"]:
        names["last"] = "best"
    for selection, name in names.items():
        if name not in done:
            outputs = container.load_arrays(f"{run.key}/{name}")
            if (head := f"{run.key}/{name}/head.weight") in models.keys:
                outputs["head"] = models[head]
            is_selected = name in ("best", *by_rule.values())
            resamples = RESAMPLES if is_selected else 0
            of_curve = name.startswith("epoch=") and not is_selected
            done[name] = evaluate_run(dataset, run, outputs, resamples, shared_rows, of_curve)
        yield selection, done[name]


def selections(container: Container, run: Run) -> list[str]:
    """What was kept of a run: best, last, rules, and the epochs of which it kept a snapshot."""
    kept = container.list_names(run.key) - {"diagnostics"}
    return sorted(kept, key=lambda name: (name.partition("=")[0], int(name.partition("=")[2] or 0)))


if __name__ == "__main__":
    run_from_command_line(__doc__ or "", evaluate)
