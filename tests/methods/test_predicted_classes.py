"""Inferred attributes that methods compare with the true class."""

import numpy as np
import pytest
from helpers import build, labels, task

from despur.methods.families.predicted_classes import predict_classes
from despur.specs.declarations import list_files, read_declarations
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError

RNG = np.random.default_rng


@pytest.mark.parametrize("inference", ["classes", "eiil", "george"])
@pytest.mark.parametrize(
    "name",
    [
        "jtt",
        "cnc",
        "dann+domain=majority",
        "mmd+domain=majority",
        "coral+domain=majority",
        "contrastive_adapter",
        "dfr_probe",
        "dfr_inferred",
    ],
)
def test_inferences_that_name_no_class_are_refused_before_anything_is_made(name, inference):
    with pytest.raises(SettingError, match=f"groups={inference}: its values name no class"):
        resolve("methods", f"{name}+groups={inference}")


def test_every_method_that_compares_them_declares_it():
    """What reads predict_classes has groups with ``as_class``."""
    callers = [name for name, file in list_files("methods").items() if "predict_classes(" in file.read_text()]
    assert len(callers) > 4
    assert all(read_declarations("methods", name)["SETTINGS"]["groups"].as_class for name in callers)


def test_a_method_that_does_not_declare_it_is_refused_when_it_compares():
    y, environment = labels({(0, 0): 4, (0, 1): 4, (1, 0): 4, (1, 1): 4})
    with pytest.raises(SettingError, match=r"groups=eiil: its values name no class.*must declare as_class"):
        predict_classes(task(y, environment), "eiil")


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
