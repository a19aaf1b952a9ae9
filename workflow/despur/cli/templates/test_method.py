import numpy as np
import pytest
from helpers import build, embedded, walk


def test_training_lowers_the_loss():
    y = np.arange(60) % 3
    method = build("new_method+batch_size=20+encoder=mlp+learning_rate=0.1", embedded(y))
    rng = np.random.default_rng(0)
    losses = [method.step(batch, rng)["loss"].item() for _, batch in walk(method, epochs=10)]
    assert np.mean(losses[-3:]) < 0.8 * np.mean(losses[:3])


def test_the_loss_of_equal_logits_is_that_of_guessing():
    method = build("new_method+encoder=mlp", embedded(np.arange(6) % 3))
    for parameter in method.networks["head"].parameters():
        parameter.data.zero_()
    assert method.losses(np.arange(6), np.random.default_rng(0))["loss"].item() == pytest.approx(np.log(3))
