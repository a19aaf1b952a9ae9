"""Foundation models as stage-1 bases, on tiny random models; no download."""

import json

import numpy as np
import pytest
import torch
from helpers import OPTIONS, build, result, save_tiny, task
from safetensors.torch import save_file
from tiny_clip import add_models, tiny
from torch.nn.functional import normalize

from despur import groups, model
from despur.compute.input_batcher import InputBatcher
from despur.encoders import clip
from despur.methods.families import prompted
from despur.methods.zero_shot import Frozen
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.storage.store import InputError, load_dataset, save_dataset
from despur.training import runs
from despur.training.inputs import RunInputs

BASE = "zero_shot+encoder=clip+encoder.checkpoint=random+encoder.model=tiny-vit"
ON_BASE = (
    "inlp+iterations=1+stage1=zero_shot+stage1.encoder=clip"
    "+stage1.encoder.checkpoint=random+stage1.encoder.model=tiny-vit"
)
RNG = np.random.default_rng


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory):
    add_models(tmp_path_factory.mktemp("configs"))


def test_a_frozen_network_is_moved_but_neither_trained_nor_kept():
    network = torch.nn.Linear(2, 2, bias=False)
    network.weight.data, network.dim = torch.tensor([[1.0, 1.0], [1.0, 0.0]]), 2
    frozen = Frozen(network).double()
    torch.testing.assert_close(frozen(torch.tensor([[3.0, 1.0]]).double()), torch.tensor([[0.8, 0.6]]))
    assert not list(frozen.parameters()) and not frozen.state_dict()
    frozen.to(torch.float16)
    assert network.weight.dtype == torch.float16 and not network.weight.requires_grad


# As a stage-1 model


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A finished zero-shot stage-1 model on tiny made-up data."""
    results = tmp_path_factory.mktemp("results")
    save_tiny(results)
    at = result(results, f"stage1/colored_digits/{BASE}/s0")
    with pytest.MonkeyPatch.context() as patch:
        texts, asked = clip.CLIP.texts, []
        patch.setattr(clip.CLIP, "texts", lambda self, prompts: (asked.append(prompts), texts(self, prompts))[1])
        torch.manual_seed(0)
        runs.train_all(at, OPTIONS)
    assert asked == [[f"a photo of a class {i}." for i in range(5)]], "prompts are tokenized and embedded once"
    return results


def test_a_base_keeps_unit_embeddings_cosines_and_class_embeddings_and_no_weights_of_the_model(root):
    at = result(root, f"stage1/colored_digits/{BASE}/s0")
    outputs, models = (Container(at.folder / f"{name}.safetensors") for name in ("outputs", "models"))
    dataset = load_dataset(root / "data/colored_digits", "colored_digits")
    for selection in ("best", "last"):
        key = f"colored_digits/{BASE}/s0/{selection}"
        z, logits, head = outputs[f"{key}/z"], outputs[f"{key}/logits"], models[f"{key}/head.weight"]
        assert z.shape == (len(dataset.y), 16) and head.shape == (5, 16)
        assert z.dtype == np.float16 and logits.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(z.astype(float), axis=1), 1, atol=2e-3)
        np.testing.assert_allclose(np.linalg.norm(head, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(logits, z.astype(float) @ head.T.astype(float), atol=1e-6)
    assert {key.rpartition("/")[2] for key in models.keys} == {"head.weight", "length"}
    (counted,) = json.loads((at.folder / "about.json").read_text())["runs"].values()
    assert (
        counted["model_parameters"] == sum(p.numel() for p in tiny().parameters())
        and counted["trained_parameters"] == 0
    )
    assert not (root / ".resume").exists() or not list((root / ".resume").iterdir())


def test_a_killed_base_ends_with_the_same_numbers(root, tmp_path, monkeypatch):
    at = result(tmp_path, f"stage1/colored_digits/{BASE}/s0")
    save_tiny(tmp_path)
    monkeypatch.setattr(InputBatcher, "max_batch", 32)
    forward, asked = Frozen.forward, []

    def killed(self, samples):
        asked.append(len(samples))
        if len(asked) == 3:
            raise KeyboardInterrupt
        return forward(self, samples)

    monkeypatch.setattr(Frozen, "forward", killed)
    for attempt in range(2):
        torch.manual_seed(0)
        if attempt:
            runs.train_all(at, OPTIONS)
        else:
            with pytest.raises(KeyboardInterrupt):
                runs.train_all(at, OPTIONS)
    assert sum(asked) == 120 + 32  # every sample once, and those of the batch that was killed
    for name in ("outputs", "models"):
        ours, theirs = (Container(p / f"stage1/colored_digits/{BASE}/s0/{name}.safetensors") for p in (tmp_path, root))
        assert ours.keys == theirs.keys
        for key in ours.keys:
            np.testing.assert_allclose(ours[key], theirs[key], atol=1e-3)


def test_one_folder_serves_all_seeds_of_methods_and_of_inferences(root):
    at = result(root, f"runs/colored_digits/{ON_BASE}/s0-1")
    assert [up.folder for up in at.upstream("stage1")] == [root / f"stage1/colored_digits/{BASE}/s0"]
    assert {run.find_upstream_key("stage1") for run in at.runs()} == {f"colored_digits/{BASE}/s0"}
    inferred = result(root, f"groups/colored_digits/predictions{ON_BASE.removeprefix('inlp+iterations=1')}/s0-1")
    groups.infer(inferred, OPTIONS)
    dataset = load_dataset(root / "data/colored_digits", "colored_digits")
    expected = Container(root / f"stage1/colored_digits/{BASE}/s0/outputs.safetensors")[
        f"colored_digits/{BASE}/s0/last/logits"
    ]
    for run in inferred.runs():
        found = Container(inferred.folder / "groups.safetensors")[run.key]
        assert (found == expected[dataset.rows("train")].argmax(axis=1)).all()


def test_where_each_seed_has_a_draw_the_base_has_one_for_each(root):
    at = result(root, "runs/scene_digits+draw=seed/inlp+stage1=zero_shot/s0-2")
    (above,) = at.upstream("stage1")
    assert above.seeds == "s0-2" and [run.key for run in above.runs()] == [
        run.find_upstream_key("stage1") for run in at.runs()
    ]


def test_a_model_fitted_on_a_base_takes_images_again(root, monkeypatch):
    torch.manual_seed(0)
    network = tiny(shape=(3, 32, 32))
    # random weights are no file that could be read again
    monkeypatch.setattr(clip, "build", lambda *arguments: network)
    runs.train_all(result(root, f"stage1/colored_digits/{BASE}/s0"), OPTIONS)
    at = result(root, f"runs/colored_digits/{ON_BASE}/s1")
    save_file({"colored_digits/oracle/s1": torch.arange(60) % 5}, root / "groups.safetensors")
    (root / "groups/colored_digits/oracle/s1").mkdir(parents=True)
    (root / "groups.safetensors").rename(root / "groups/colored_digits/oracle/s1/groups.safetensors")
    runs.train_all(at, OPTIONS)
    dataset = load_dataset(root / "data/colored_digits", "colored_digits")
    kept = Container(at.folder / "outputs.safetensors")[f"{at.runs()[0].key}/best/logits"]
    np.testing.assert_allclose(model.load(at.folder).outputs(dataset.inputs)["logits"], kept, atol=0.05)


def test_a_class_with_several_names_is_the_mean_of_their_unit_embeddings():
    vectors = {"a": [2.0, 0.0], "b": [0.0, 3.0], "c": [1.0, 0.0]}
    found = prompted.prompt_embeddings(lambda texts: torch.tensor([vectors[t] for t in texts]), [["a", "b"], ["c"]])
    torch.testing.assert_close(found, torch.tensor([[0.5, 0.5], [1.0, 0.0]]))
    head = prompted.cosine_head(2, 2)
    prompted.set_head(head, found)
    torch.testing.assert_close(head.weight, normalize(found, dim=1))


@pytest.mark.parametrize(
    ("templates", "first"), [("class", "This is a picture of a landbird."), ("cloob", "a landbird")]
)
def test_prompts_have_the_template_asked_for(templates, first, monkeypatch):
    asked, texts, of = [], clip.CLIP.texts, task(np.arange(4) % 2)
    of.about = {"dataset": "waterbirds", "classes": ["landbird", "waterbird"], "attributes": [], "groups": []}
    monkeypatch.setattr(clip.CLIP, "texts", lambda self, prompts: asked.extend(prompts) or texts(self, prompts))
    build(f"{BASE}+templates={templates}", of)
    assert asked[0] == first


# Embeddings that users bring


def bring(root, **arrays):
    """A task of embeddings in four groups, and class embeddings if given."""
    from despur.datasets import bring_your_own

    rng = RNG(0)
    y, a = np.arange(60) % 2, np.arange(60) // 2 % 2
    z = rng.normal(size=(60, 6)) + 2 * np.eye(6)[y]
    (root / "raw/bring_your_own").mkdir(parents=True, exist_ok=True)
    np.savez(
        root / "raw/bring_your_own/mine.npz",
        features=z,
        y=y,
        a=a,
        split=np.repeat(["train", "val", "test"], 20),
        **arrays,
    )
    name = "bring_your_own+name=mine"
    dataset = bring_your_own.build(resolve("datasets", name).points[0].settings, root / "raw")
    save_dataset(root / "data" / name, {name: dataset})
    return z, y, name


def base_of(root, path):
    at = result(root, path)
    runs.train_all(at, OPTIONS)
    (run,) = at.runs()
    return [
        Container(at.folder / f"{kind}.safetensors")[f"{run.key}/last/{name}"]
        for kind, name in (("outputs", "z"), ("models", "head.weight"))
    ]


def test_embeddings_with_class_embeddings_need_no_foundation_model(tmp_path):
    classes = RNG(1).normal(size=(2, 6))
    z, _, name = bring(tmp_path, class_embeddings=classes)
    found, head = base_of(tmp_path, f"stage1/{name}/zero_shot/s0")
    np.testing.assert_allclose(found, z / np.linalg.norm(z, axis=1, keepdims=True), atol=1e-3)
    np.testing.assert_allclose(head, classes / np.linalg.norm(classes, axis=1, keepdims=True), atol=1e-5)


def test_a_base_keeps_how_long_embeddings_were_and_methods_are_told(tmp_path):
    z, _, name = bring(tmp_path, class_embeddings=RNG(1).normal(size=(2, 6)))
    base_of(tmp_path, f"stage1/{name}/zero_shot/s0")
    at = result(tmp_path, f"runs/{name}/linear_probe/s0")
    inputs, (run,) = RunInputs(at, torch.device("cpu")), at.runs()
    told = inputs.build_task(run, inputs.load_dataset(run)).stage1_outputs.length
    assert told == pytest.approx(np.sqrt((z[:20] ** 2).sum(axis=1).mean()), rel=1e-5)


def test_without_class_embeddings_an_error_says_what_there_is_and_means_are_asked_for_by_name(tmp_path):
    _, y, name = bring(tmp_path)
    with pytest.raises(
        InputError,
        match=r"bring_your_own has no class_embeddings .* METHOD\+stage1\.classes=means.* zero_shot\+classes=means",
    ):
        base_of(tmp_path, f"stage1/{name}/zero_shot/s0")
    found, head = base_of(tmp_path, f"stage1/{name}/zero_shot+classes=means/s0")
    means = np.stack([found[:20][y[:20] == label].astype(float).mean(axis=0) for label in (0, 1)])
    np.testing.assert_allclose(head, means / np.linalg.norm(means, axis=1, keepdims=True), atol=1e-4)
    with pytest.raises(SettingError, match="encoder=identity embeds no prompts: classes=given or classes=means"):
        base_of(tmp_path, f"stage1/{name}/zero_shot+classes=prompts/s0")


@pytest.mark.parametrize(
    ("shape", "words"),
    [((3, 6), "\\(3, 6\\), but there are 2 classes"), ((2, 5), "class_embeddings have 5 numbers each")],
)
def test_class_embeddings_that_do_not_fit_are_refused(tmp_path, shape, words):
    with pytest.raises(InputError, match=words):
        _, _, name = bring(tmp_path, class_embeddings=np.ones(shape))
        base_of(tmp_path, f"stage1/{name}/zero_shot/s0")
