"""The bundled image-text model: its loss, its captions, what it may see, and what becomes of it as a stage-1 base."""

from functools import cache

import numpy as np
import pytest
import torch
from helpers import CPU, OPTIONS, build, result
from sklearn.datasets import load_digits
from torch.nn.functional import normalize

from despur.compute.input_batcher import InputBatcher
from despur.compute.task import Task
from despur.datasets import scene_digits, scene_subclasses
from despur.datasets.sources import captions, prompts, text
from despur.losses.image_text import image_text_contrast
from despur.methods.two_tower import TwoTower, Words
from despur.metrics.groups import group_accuracies, weighted_average, worst_group_accuracy
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.storage.store import save_dataset
from despur.training.runs import train_all

RNG = np.random.default_rng
MODULES = {"scene_digits": scene_digits, "scene_subclasses": scene_subclasses}


@cache
def data(name):
    (point,) = resolve("datasets", name).points
    return MODULES[point.base_name].build(point.settings, None)


def test_the_loss_is_that_of_clip():
    rng = RNG(0)
    images, texts = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in rng.normal(size=(2, 5, 3)))
    expected = 0.0
    for own, other in ((images, texts), (texts, images)):
        for i in range(5):
            shares = np.exp([own[i] @ other[j] / 0.3 for j in range(5)])
            expected -= np.log(shares[i] / shares.sum()) / 10
    found = image_text_contrast(torch.from_numpy(images), torch.from_numpy(texts), 0.3)
    assert found.item() == pytest.approx(expected)


def test_captions_say_what_is_there():
    digits, a = np.repeat(np.arange(10), 40), np.tile([0, 1], 200)
    found = captions.captions(RNG(0), digits, a, 0.5)
    for caption, digit, background in zip(found, digits, a, strict=True):
        assert captions.DIGITS[digit] in caption.split()
        assert caption.endswith(f" on {captions.PLACES[background]}") or " on " not in caption
    assert 150 < sum(" on " in caption for caption in found) < 250
    assert "a photo of an eight on land" in found and "a photo of a one" in found
    assert all(" on " in caption for caption in captions.captions(RNG(0), digits, a, 1.0))


def test_every_word_of_captions_and_prompts_is_known():
    about = {"dataset": "scene_digits", **data("scene_digits").about}
    every = [p for own in (*prompts.class_prompts(about), *prompts.group_prompts(about)) for p in own]
    every += captions.captions(RNG(0), np.arange(10), np.zeros(10, int), 1.0)
    assert text.UNKNOWN not in text.tokens(every, captions.VOCABULARY, captions.LONGEST)
    assert max(len(text.words(caption)) for caption in every) == captions.LONGEST
    assert prompts.class_prompts(about)[0] == [f"a photo of a {word}" for word in captions.DIGITS[:5]]
    assert prompts.group_prompts(about)[1][0] == "a photo of a zero on water"


def test_each_digit_is_mostly_at_home():
    digits = np.repeat(np.arange(10), 20)
    a = captions.backgrounds(RNG(0), digits, 0.9)
    assert [(a[digits == d] == (d >= 5)).sum() for d in range(10)] == [18] * 10


def test_scenes_are_of_the_originals_alone_and_all_digits_alike(monkeypatch):
    seen = []
    monkeypatch.setattr(
        captions.scenes,
        "render_digits",
        lambda rng, scans, side: seen.append(scans) or (np.zeros((len(scans), 2, 2)),) * 2,
    )
    monkeypatch.setattr(captions.scenes, "paste", lambda *arguments: None)
    monkeypatch.setattr(captions.scenes, "textures", lambda *arguments: None)
    originals = np.arange(100, 400)
    captions.captioned_scenes(np.repeat(originals, 3), 7, 0.9, 0.5)
    allowed = {scan.tobytes() for scan in load_digits().images[originals]}
    assert {scan.tobytes() for scan in seen[0]} <= allowed and len(seen[0]) == 70


def test_it_learns_of_digits_on_land_and_water_only():
    of = Task(InputBatcher(torch.zeros(4, 8)), np.array([0, 1, 0, 1]), 2, CPU, about={"dataset": "moji"})
    spec = resolve("methods", "two_tower", "scene_digits").points[0]
    monkey = TwoTower.__new__(TwoTower)
    monkey.task, monkey.settings = of, spec.settings
    with pytest.raises(
        SettingError, match="two_tower has learned of digits on land and water: for other data, stage1=zero_shot"
    ):
        monkey.setup()


def test_its_batches_are_scenes_of_which_there_are_more_than_samples():
    method = TwoTower.__new__(TwoTower)
    elsewhere = InputBatcher(torch.zeros(4, 8), device=torch.device("meta"))  # samples that do not fit the device
    method.task, method.scenes = Task(elsewhere, np.zeros(4, int), 2, CPU), InputBatcher(torch.zeros(9, 8))
    assert [rows.tolist() for rows in method.read_ahead([np.array([8, 5])])] == [[8, 5]]


def test_words_after_the_end_of_a_text_do_not_count():
    torch.manual_seed(0)
    tower = Words(4)
    short, long = (tower(torch.tensor([[text.FIRST, text.FIRST + 1, *[text.PADDING] * more]])) for more in (0, 3))
    torch.testing.assert_close(short, long)


def test_a_step_compares_unit_embeddings_at_the_temperature_asked_for():
    dataset = data("scene_digits")
    rows = dataset.rows("train")
    of = Task(
        InputBatcher(torch.from_numpy(dataset.inputs[rows]), dataset.about["size"]),
        *(dataset.y[rows], 2, CPU),
        about={"dataset": "scene_digits", **dataset.about},
        originals=dataset.table["original"].to_numpy()[rows],
    )
    method, batch = build("two_tower+scenes=2+temperature=0.3", of), np.array([3, 1, 8])
    images = method.networks["encoder"](method.scenes.batch(batch, RNG(0)))
    texts = normalize(method.embed([method.captions[row] for row in batch]))
    expected = image_text_contrast(images, texts, 0.3)
    torch.testing.assert_close(method.losses(batch, RNG(0))["loss"], expected)


# Subclasses


def test_subclasses_are_digits_and_class_by_attribute():
    dataset = data("scene_subclasses")
    assert dataset.about["groups"] == captions.DIGITS and dataset.groups.shape[1] == 10
    for digit in range(10):
        rows = dataset.groups[:, digit]
        assert (dataset.table["digit"][rows] == digit).all() and (dataset.table["y"][rows] == (digit >= 5)).all()
    train = dataset.groups[dataset.rows("train")].sum(axis=0)
    assert train.max() < 1.5 * train.min()
    background = dataset.table["background"][dataset.rows("train")]
    assert [background[dataset.y[dataset.rows("train")] == y].mean() for y in (0, 1)] == pytest.approx(
        [0.5, 0.5], abs=0.01
    )
    assert prompts.group_prompts({"dataset": "scene_subclasses", **dataset.about})[7] == ["a photo of a seven"]


@pytest.mark.parametrize("classes", ["0-12", "3-5"])
def test_classes_without_equally_many_subclasses_are_refused(classes):
    with pytest.raises(SettingError, match=f"classes={classes}: subclasses need classes of equally many digits"):
        data(f"scene_subclasses+classes={classes}")


# As a stage-1 model


@pytest.fixture(scope="module", params=["scene_digits", pytest.param("scene_subclasses", marks=pytest.mark.long)])
def base(request, tmp_path_factory):
    """A finished base, its data set and its arrays."""
    root, name = tmp_path_factory.mktemp("results"), request.param
    dataset = data(name)
    save_dataset(root / "data" / name, {name: dataset})
    at = result(root, f"stage1/{name}/two_tower/s0")
    train_all(at, OPTIONS)
    arrays = {}
    for kind in ("outputs", "models"):
        arrays |= Container(at.folder / f"{kind}.safetensors").load_arrays(f"{name}/two_tower/s0/last")
    return name, dataset, arrays


def test_a_base_holds_unit_embeddings_cosines_and_prompts(base):
    _, dataset, arrays = base
    z, head = arrays["z"].astype(float), arrays["head.weight"].astype(float)
    assert z.shape == (len(dataset.y), 64) and head.shape == (2, 64)
    np.testing.assert_allclose(np.linalg.norm(z, axis=1), 1, atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(head, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(arrays["logits"], z @ head.T, atol=2e-3)
    cells = 2, len(dataset.about["attributes"]), 64
    assert arrays["group_prompts"].shape == cells
    np.testing.assert_allclose(np.linalg.norm(arrays["group_prompts"], axis=2), 1, atol=1e-5)


def test_zero_shot_is_good_on_average_and_poor_on_the_worst_group(base):
    name, dataset, arrays = base
    rows, sizes = dataset.rows("val"), dataset.class_attribute_groups[dataset.rows("train")].sum(axis=0)
    correct = arrays["logits"][rows].argmax(axis=1) == dataset.y[rows]
    average = weighted_average(correct, dataset.class_attribute_groups[rows], sizes)
    worst = worst_group_accuracy(correct, dataset.groups[rows])
    assert average > (0.9 if name == "scene_digits" else 0.7)
    assert worst < average - 0.25
    if name == "scene_digits":  # each class is worse where its background is rare
        accuracy = group_accuracies(correct, dataset.groups[rows])
        assert accuracy[0] > accuracy[1] and accuracy[3] > accuracy[2]
