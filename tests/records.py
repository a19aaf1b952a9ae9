"""Made-up records of the ledger, for the tests of what reads them; and git, which keeps them."""

import json
import subprocess

import numpy as np
import pandas as pd

from despur.evidence.ledger import files as ledger
from despur.evidence.ledger import record_checks
from despur.evidence.ledger.cards import make_card
from despur.evidence.ledger.coding import encode
from despur.metrics.predictions import ACCURACY, Prediction
from despur.metrics.resampling import plan_checksum
from despur.specs.resolution import resolve
from despur.storage.store import Dataset


def labels(own_groups=False):
    """Labels of a few samples in two test splits; groups that overlap, and samples in none."""
    rng = np.random.default_rng(0)
    split = np.repeat(["train", "unlabelled", "val", "test", "test_ood"], [30, 3, 10, 40, 25])
    y, a = rng.integers(0, 3, len(split)), rng.integers(0, 2, len(split))
    table = pd.DataFrame({"split": split, "y": y, "a": a, "original": rng.permutation(len(y))})
    about = {"classes": ["x", "y", "z"], "attributes": ["0", "1"], "select": "val", "headline": "test", "secret": 1}
    groups = np.stack([y == 0, a == 1, (y == 1) & (a == 0)], axis=1) if own_groups else None
    return Dataset(
        np.zeros((len(y), 2), np.float32), table, about | ({"groups": ["p", "q", "r"]} if own_groups else {}), groups
    )


def add(folder, seed=0, method="erm", dataset=None, data="colored_digits", **changes):
    """Write the record of a made-up run, and its card."""
    dataset, rng = dataset or labels(), np.random.default_rng(seed)
    guessed = [
        Prediction(split, ACCURACY, "", rng.integers(0, 3, len(dataset.rows(split))).astype(np.uint8))
        for split in dataset.test_splits
    ]
    (data,) = resolve("datasets", data).points
    (point,) = resolve("methods", method, data.base_name).points
    values = record_checks.compute_from_predictions(dataset, guessed)
    draws = {("test", "alignment_loss", ""): encode(rng.normal(size=20).astype(np.float16))}
    content = {
        "schema": 1,
        "dataset": data.name,
        "method": point.name,
        "seed": seed,
        "specification": {"dataset": data.resolved(), "method": point.resolved()},
        "checksums": {},
        "commit": "c" * 40,
        "code": "ab",
        "revisions": {},
        "finished": "2026-01-01T00:00:00+00:00",
        "versions": {},
        "machine": {"device": "cpu", "peak_memory_mb": 1.0},
        "run": {"seconds": rng.random(), "steps": 9},
        "metrics": {"best": ledger.nest({**values, ("test", "alignment_loss", ""): 1.5, ("val", "gap", ""): None})},
        "card": ledger.write(folder / data.name, "card", make_card(dataset, data.name)).stem,
        "predictions": ledger.nest({each[:3]: encode(each.codes) for each in guessed}),
        "resampling": {"test": plan_checksum(data.base_name, 20)},
        "draws": ledger.nest(draws),
    }
    return ledger.write(folder / data.name / point.name, f"s{seed}", content | changes)


def rewrite(path, change):
    """A record with something else in it, named by its content, in the place of another."""
    content = json.loads(path.read_text())
    change(content)
    path.unlink()
    return ledger.write(path.parent, path.name.split("-")[0], content)


def spoil(*keys, value):
    """Sets a value deep in a record."""

    def change(content):
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return change


def git(folder, *words):
    """What ``git WORDS`` prints in a folder; it must succeed. Its commits are of a made-up person."""
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
