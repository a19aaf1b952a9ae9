"""Inferred attributes that methods compare with the true class."""

import numpy as np
import pytest
from helpers import build, embedded_by_a_foundation_model, labels, task

from despur.specs.settings import SettingError

RNG = np.random.default_rng


@pytest.mark.parametrize("inference", ["classes", "eiil", "george"])
@pytest.mark.parametrize("name", ["jtt", "cnc", "dann+domain=majority", "mmd+domain=majority"])
def test_inferences_that_name_no_class_are_refused(name, inference):
    y = np.arange(8) % 2
    with pytest.raises(SettingError, match=f"groups={inference}: its values are not classes"):
        build(f"{name}+groups={inference}", task(y, 1 - y))


def test_the_adapter_refuses_them_too():
    with pytest.raises(SettingError, match="groups=george: its values are not classes"):
        build("contrastive_adapter+groups=george", embedded_by_a_foundation_model())


@pytest.mark.parametrize("name", ["cnc+anchors=all", "dann", "gdro"])
def test_methods_that_compare_no_classes_take_any_attribute(name):
    y, environment = labels({(0, 0): 4, (0, 1): 4, (1, 0): 4, (1, 1): 4})
    build(f"{name}+groups=eiil", task(y, environment))


def test_a_true_attribute_stands_for_the_class_that_has_most_of_it():
    """Attribute 1 is that of most samples of class 0: samples with it that are of class 0 are right."""
    y, attribute = labels({(0, 0): 2, (0, 1): 18, (1, 0): 9, (1, 1): 3})
    right = attribute != y
    assert build("jtt+groups=oracle", task(y, attribute)).metadata()["wrong_in_stage_1"] == 5
    sampler = build("cnc+groups=oracle", task(y, attribute)).sampler
    assert set(sampler.draw_anchors(RNG(0), truncate=False)) == set(right.nonzero()[0])
    assert build("dann+domain=majority+groups=oracle", task(y, attribute)).rows.tolist() == right.tolist()
