"""A finished run is a usable model."""

from importlib import metadata

import numpy as np
import pytest
from helpers import OPTIONS, result, save_tiny

import despur
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.storage.store import InputError
from despur.training import runs

NAME = "erm+batch_size=8+epochs=2+learning_rate=0.02~0.05"
FOLDER = f"runs/colored_digits/{NAME}/s0-1"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    dataset = save_tiny(root)
    runs.train_all(result(root, FOLDER), OPTIONS)
    return root, dataset


@pytest.mark.parametrize("selection", ["best", "last"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("rate", ["0.02", "0.05"])
def test_a_loaded_model_predicts_what_the_run_predicted(finished, rate, seed, selection):
    root, dataset = finished
    method = f"erm+batch_size=8+epochs=2+learning_rate={rate}"
    key = next(
        run.key
        for run in result(root, FOLDER).runs()
        if (run.spec.value("learning_rate"), run.seed) == (float(rate), seed)
    )
    outputs = Container(root / FOLDER / "outputs.safetensors")
    model = despur.load(root / FOLDER, seed=seed, method=key.split("/")[1], selection=selection)
    assert (model.outputs(dataset.inputs)["logits"] == outputs[f"{key}/{selection}/logits"]).all(), method
    assert (model.predict(dataset.inputs) == outputs[f"{key}/{selection}/logits"].argmax(axis=1)).all()


def test_without_words_the_first_run_is_loaded(finished):
    root, dataset = finished
    first = result(root, FOLDER).runs()[0].key
    outputs = Container(root / FOLDER / "outputs.safetensors")[f"{first}/best/z"]
    assert np.array_equal(despur.load(root / FOLDER).representations(dataset.inputs), outputs)


def test_a_run_that_is_not_there_is_an_error_that_lists_what_is(finished):
    root, _ = finished
    with pytest.raises(SettingError, match=r"no run with seed 7.*s0.*s1"):
        despur.load(root / FOLDER, seed=7)


def test_a_selection_that_was_not_kept_is_an_error_that_lists_what_was(finished):
    with pytest.raises(SettingError, match=r"unknown selection 'worst'.*Known: best, last"):
        despur.load(finished[0] / FOLDER, selection="worst")


def test_a_run_that_is_not_made_is_an_error_that_says_how_to_make_it(finished):
    folder = finished[0] / "runs/colored_digits/gdro/s0"
    with pytest.raises(InputError, match=rf"make it with snakemake {folder}/about\.json"):
        despur.load(folder)


@pytest.mark.parametrize(
    "shape", [(5, 28, 36, 3), (5, 36, 28, 3), (5, 3, 36, 36), (5, 36, 36, 1), (36, 36, 3), (5, 84)]
)
def test_inputs_of_another_shape_are_refused_with_the_one_that_is_expected(finished, shape):
    model = despur.load(finished[0] / FOLDER)
    for inputs in (np.zeros(shape, np.uint8), np.zeros((5, 36, 36, 3), np.float32)):
        with pytest.raises(ValueError, match=r"^inputs are .*\(N,H,W,3\) of at least 32x32 pixels"):
            model.predict(inputs)


def test_the_package_knows_its_version():
    assert despur.__version__ == metadata.version("despur")
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = despur.other
