"""New images are prepared as those that a model was trained on."""

import numpy as np
import pytest
from PIL import Image

import despur
from despur.datasets import bring_your_own
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.store import InputError

NAME, SPLITS = "bring_your_own+name=mine+resize=16", ("train", "train", "val", "test")


@pytest.fixture
def folder(tmp_path):
    """Four photographs that are wider than high, and their table."""
    rng, own = np.random.default_rng(0), tmp_path / "bring_your_own/mine"
    own.mkdir(parents=True)
    for i in range(4):
        Image.fromarray(rng.integers(0, 256, (20, 40, 3), np.uint8)).save(own / f"{i}.png")
    rows = [f"{i}.png,{i % 2},{i % 2},{SPLITS[i]}" for i in range(4)]
    (own / "metadata.csv").write_text("\n".join(["path,y,a,split", *rows]))
    return own


@pytest.mark.parametrize("name", [NAME, f"{NAME}+fit=stretch", f"{NAME}+size=12"])
def test_they_are_as_the_data_set_holds_them(folder, name):
    stored = bring_your_own.build(resolve("datasets", name).points[0].settings, folder.parents[1])
    paths = [folder / f"{i}.png" for i in (2, 0)]
    assert np.array_equal(despur.read_images(paths, name), stored.inputs[:][[2, 0]])


def test_a_file_that_is_not_there_and_another_data_set_are_refused(folder):
    with pytest.raises(InputError, match=r"9\.png is not there .*Leave them out of paths"):
        despur.read_images([str(folder / "9.png")], NAME)
    with pytest.raises(SettingError, match=r"waterbirds: .*bring_your_own"):
        despur.read_images([folder / "0.png"], "waterbirds")
