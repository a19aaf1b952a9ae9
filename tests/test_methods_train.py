"""EIIL, PGI, GEORGE and CIM through the training loop: an epoch, the same digits again, an interruption."""

import math

import numpy as np
import pytest
import torch
from helpers import CPU, build, labels, task

from despur.training import Machine, Trainer

SIZES = {(0, 0): 14, (0, 1): 5, (1, 0): 12, (1, 1): 4}
NAMES = [
    "eiil+annealing=1+epochs=4",
    "eiil+annealing=4+batch_size=8+epochs=2+irm_batches=mini+irm_optimizer=sgd",
    "eiil+batch_size=8+epochs=2+second=gdro",
    "pgi+epochs=2+num_negatives=2+num_positives=2",
    "pgi+batch_size=8+batches=plain+epochs=2",
    "george+batch_size=8+epochs=2",
    "cim+batch_size=8+epochs=2+width=4",
]


class Interruption(Exception):
    """Power went out."""


def trainer(name, path):
    method = build(name, task(*labels(SIZES), crop="image"))
    looks = iter(range(1, 1000))
    return Trainer(method, name, lambda method: {"score": float(next(looks))}, Machine(CPU, checkpoint_seconds=-1.0), path / "state.pt")


def digits(method):
    return {name: value.clone() for name, value in method.networks.state_dict().items()}


@pytest.mark.parametrize("name", NAMES)
def test_trains_repeats_and_resumes(name, tmp_path):
    whole = trainer(name, tmp_path / "whole")
    before = digits(whole.method)
    progress = whole.run()
    assert progress.epoch == whole.method.settings["epochs"] and all(math.isfinite(row["value"]) for row in progress.history)
    after = digits(whole.method)
    changed = {key.split(".")[0] for key in after if not torch.equal(after[key], before[key])}
    assert {"encoder", "head"} <= changed
    again = trainer(name, tmp_path / "again")
    again.run()
    assert all(torch.equal(after[key], value) for key, value in digits(again.method).items())

    broken = trainer(name, tmp_path / "broken")
    step, count = broken.method.step, iter(range(1000))

    def fail(batch, rng):
        if next(count) == progress.step // 2 + 1:  # in the second epoch, which does not begin there
            raise Interruption
        return step(batch, rng)

    broken.method.step = fail
    with pytest.raises(Interruption):
        broken.run()
    resumed = trainer(name, tmp_path / "broken")
    assert resumed.progress.step == progress.step // 2 + 1
    resumed.run()
    assert all(torch.equal(after[key], value) for key, value in digits(resumed.method).items())
    assert np.allclose([row["value"] for row in resumed.progress.history if row["name"] == "loss"][-1:],
                       [row["value"] for row in progress.history if row["name"] == "loss"][-1:])  # fmt: skip
