import numpy as np

from despur.inference import new_inference
from despur.inference.base import Evidence


def test_the_samples_with_small_margins_have_attribute_1():
    logits = np.array([[9.0, 0], [5, 4], [0, 7], [1, 1.5]])
    evidence = Evidence(np.array([0, 0, 1, 1]), 2, np.random.default_rng(0), 0, logits=logits)
    assert new_inference.infer(evidence, {}).tolist() == [0, 1, 0, 1]
