"""EIIL's second model: IRM on all samples at once, or Group DRO. More of it: test_irm.py, test_domains.py."""

import numpy as np
from helpers import build, labels, task

RNG = np.random.default_rng
SIZES = {(0, 0): 8, (0, 1): 3, (1, 0): 9, (1, 1): 4}


def eiil(**settings):
    overrides = "".join(f"+{key}={value}" for key, value in sorted(settings.items()))
    return build(f"eiil{overrides}", task(*labels(SIZES)))


def test_irm_takes_all_samples_at_once_where_asked():
    method = eiil(batch_size=8, irm_batches="full")
    (batch,) = method.epoch_batches(RNG(0))
    assert batch.tolist() == list(range(24)) and method.metadata() == {"environment_sizes": [17, 7]}


def test_gdro_is_group_dro_on_class_and_environment():
    y, environment = labels(SIZES)
    second, plain = eiil(second="gdro"), build("gdro", task(y, environment))
    plain.networks.load_state_dict(second.networks.state_dict())
    rows = np.arange(0, 24, 2)
    assert second.losses(rows, RNG(0))["loss"].item() == plain.losses(rows, RNG(0))["loss"].item()
    assert [b.tolist() for b in second.epoch_batches(RNG(1))] == [b.tolist() for b in plain.epoch_batches(RNG(1))]
