"""Groups stage: infer an attribute for each training sample, into results/groups/DATASET/INFERENCE/SEEDS.

    python -m despur.groups results/groups/colored_digits/clusters/s0-2

groups.safetensors holds one array (N,) for each run: of the training samples; of an inference that reads the true
attribute, also of each other split that a method may train on, under RUN/SPLIT; -1 where the true one is missing.
agreement.csv compares the inferred attribute of training samples with the true one, which only an inference that
declares it gets.
"""

import argparse
import time
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_mutual_info_score

from despur.compute.randomness import derive_generator
from despur.inference.base import Evidence, LabeledSamples, check_inferred, match_labels
from despur.specs.declarations import read_declarations
from despur.specs.paths import ResultPath, Run, spell_split_key
from despur.storage.containers import Container, save_arrays
from despur.storage.finished_runs import read_history
from despur.storage.group_warnings import find_remedy, find_warnings
from despur.storage.provenance import run_from_command_line, write_about
from despur.storage.store import MISSING, Array, Dataset, load_dataset, write_csv


def list_inferred_splits(dataset: Dataset, inference: str) -> list[str]:
    """The splits whose samples get an inferred attribute: ``train``; where an inference reads the true one, also what
    else is not tested on."""
    others = [split for split in dataset.splits if split != "train" and split not in dataset.test_splits]
    return ["train", *(others if read_declarations("inference", inference).get("READS_TRUE_GROUPS") else ())]


def find_rows(dataset: Dataset, inference: str, split: str) -> Array:
    """The samples of a split to which an inference gives an attribute: all; where it reads the true one, those that
    have one."""
    reads = read_declarations("inference", inference).get("READS_TRUE_GROUPS")
    return dataset.rows_with_attribute(split) if reads else dataset.rows(split)


def infer_attribute(result: ResultPath, run: Run, dataset: Dataset, split: str) -> Array:
    """The inferred attribute of a split's samples, int16 (N,); ``MISSING`` for those to which none is given."""
    rows = find_rows(dataset, run.spec.base_name, split)
    inferred = np.full(len(dataset.table), MISSING, np.int16)
    if len(rows):
        module = import_module(f"despur.inference.{run.spec.base_name}")
        given = module.infer(load_evidence(result, run, dataset, split), run.spec.settings)
        inferred[rows] = check_inferred(given, len(rows), run.spec.base_name)
    return inferred[dataset.rows(split)]


def load_evidence(result: ResultPath, run: Run, dataset: Dataset, split: str = "train") -> Evidence:
    """The inputs of this inference for a split: as far as it declares them, stage-1 outputs and true attributes."""
    rows = find_rows(dataset, run.spec.base_name, split)
    evidence = Evidence(
        dataset.y[rows],
        len(dataset.about["classes"]),
        derive_generator(spell_split_key(f"{run.data.base_name}/{run.spec.base_name}", split), run.seed),
        run.seed,
    )
    evidence.num_attributes = len(dataset.about["attributes"])
    declaration, attribute = read_declarations("inference", run.spec.base_name), dataset.a
    if "stage1" in run.spec.components:
        outputs = Container(result.find_upstream("stage1", run).folder / "outputs.safetensors")
        z, logits = (outputs[f"{run.find_upstream_key('stage1')}/last/{name}"] for name in ("z", "logits"))
        evidence.z, evidence.logits = z[rows], logits[rows]
        if declaration.get("READS_VALIDATION_GROUPS"):
            held_out = dataset.rows(dataset.about["select"])
            evidence.validation = LabeledSamples(z[held_out], dataset.y[held_out], attribute[held_out])
    if declaration.get("READS_TRUE_GROUPS"):
        evidence.true_attribute = attribute[rows]
    return evidence


def compare_with_truth(inferred: Array, y: Array, a: Array) -> dict[str, Any]:
    """How well the inferred attribute agrees with the true one ``a`` where it is known (NaN, if nowhere), and for how
    many samples it differs from the class ``y``, all (N,)."""
    count, has_truth = int(max(inferred.max(initial=0), a.max(initial=0))) + 1, a != MISSING
    matched = (
        match_labels(inferred[has_truth], a[has_truth], count) == a[has_truth]
        if has_truth.any()
        else np.full(1, np.nan)
    )
    information = adjusted_mutual_info_score(a[has_truth], inferred[has_truth]) if has_truth.any() else np.nan
    return {
        "best_match": float(matched.mean()),
        "adjusted_mutual_information": float(information),
        "differs_from_class": int((inferred != y).sum()),
        "classes_without_difference": sum(bool((inferred[y == c] == c).all()) for c in np.unique(y)),
    }


def suggest_remedy(result: ResultPath, run: Run, inferred: Array, y: Array) -> str:
    """What to change of the stage-1 model that a degenerate attribute comes from; nothing where none was trained."""
    base = run.spec.components.get("stage1")
    if base is None or not {"epochs", "learning_rate"} <= base.settings.keys():
        return ""
    file = result.find_upstream("stage1", run).folder / "history.csv"
    if not file.exists():
        return ""
    history = read_history(file)
    history = history[(history["dataset"] == run.data.name) & (history["method"] == base.name)]
    history = history[history["seed"] == run.seed]
    return f"; {find_remedy(inferred, y, history, base.settings['learning_rate'])}" if len(history) else ""


def infer(result: ResultPath, arguments: argparse.Namespace) -> None:
    """Infer the attributes of all runs of a folder, in one process, since the import of UMAP takes long."""
    started = time.perf_counter()
    arrays, rows, warnings = {}, [], {}
    for run in result.runs():
        dataset = load_dataset(result.data.folder, run.data.name)
        for split in list_inferred_splits(dataset, run.spec.base_name):
            arrays[spell_split_key(run.key, split)] = infer_attribute(result, run, dataset, split)
        train = find_rows(dataset, run.spec.base_name, "train")
        inferred = arrays[run.key][np.isin(dataset.rows("train"), train)]
        agreement = compare_with_truth(inferred, dataset.y[train], dataset.a[train])
        print(f"{run.key}: {agreement}", flush=True)
        rows.append({"dataset": run.data.name, "inference": run.spec.name, "seed": run.seed, **agreement})
        degenerate = find_warnings(inferred, dataset.y[train], dataset.about["classes"]) if len(train) else []
        remedy = suggest_remedy(result, run, inferred, dataset.y[train]) if degenerate else ""
        warnings[run.key] = [f"{warning}{remedy}" for warning in degenerate]
    save_arrays(result.folder / "groups.safetensors", arrays)
    write_csv(result.folder / "agreement.csv", pd.DataFrame(rows))
    write_about(result, started, warnings=warnings)
    for key, run_warnings in warnings.items():
        for warning in run_warnings:
            print(f"warning: {key}: {warning}", flush=True)


if __name__ == "__main__":
    run_from_command_line(__doc__ or "", infer)
