"""Foundation models as stage-1 bases: the real code of open_clip, transformers and the embedding, on tiny random
models; no download."""

import errno
import json
import os
from importlib import import_module

import numpy as np
import open_clip
import pytest
import torch
from helpers import OPTIONS, result, save_tiny
from safetensors.torch import save_file
from torch.nn.functional import normalize
from transformers import BertConfig, BertModel

from despur import groups, model
from despur.compute.embed_dataset import allocate, embed, resume
from despur.compute.input_batcher import InputBatcher
from despur.datasets.sources import prompts
from despur.encoders import clip, sentence
from despur.methods.families import prompted
from despur.methods.zero_shot import Frozen
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.storage.raw_files import sha256
from despur.storage.store import InputError, load_dataset, save_dataset
from despur.training import runs
from despur.training.inputs import RunInputs

TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 24, "layers": 1, "width": 64, "patch_size": 8},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 64, "heads": 1, "layers": 1},
}
RESNET = {**TINY, "vision_cfg": {"image_size": 32, "layers": [1, 1, 1, 1], "width": 16, "patch_size": None}}
BASE = "zero_shot+encoder=clip+encoder.checkpoint=random+encoder.model=tiny-vit"
ON_BASE = (
    "inlp+iterations=1+stage1=zero_shot+stage1.encoder=clip"
    "+stage1.encoder.checkpoint=random+stage1.encoder.model=tiny-vit"
)
RNG = np.random.default_rng


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory):
    """Two tiny architectures that open_clip knows by name."""
    folder = tmp_path_factory.mktemp("configs")
    for name, config in (("tiny-vit", TINY), ("tiny-rn", RESNET)):
        (folder / f"{name}.json").write_text(json.dumps(config))
        open_clip.add_model_config(folder / f"{name}.json")


def tiny(name="tiny-vit", checkpoint="random", shape=(3, 24, 24), seed=0):
    torch.manual_seed(seed)
    return clip.build({"model": name, "checkpoint": checkpoint}, shape).eval()


def same(a, b):
    """Both embed the same images and prompts alike."""
    images = 2 * torch.rand(3, 3, *a.size, generator=torch.Generator().manual_seed(1)) - 1
    with torch.no_grad():
        return torch.allclose(a(images), b(images), atol=1e-5) and torch.allclose(
            a.texts(["a cat"]), b.texts(["a cat"]), atol=1e-5
        )


# CLIP


@torch.no_grad()
def test_clip_sees_images_as_clip_presents_them():
    network = tiny()
    pixels = torch.rand(2, 3, 24, 24, generator=torch.Generator().manual_seed(0))
    mean, deviation = (
        torch.tensor(v).view(1, 3, 1, 1) for v in (open_clip.OPENAI_DATASET_MEAN, open_clip.OPENAI_DATASET_STD)
    )
    expected = network.network.encode_image((pixels - mean) / deviation)
    torch.testing.assert_close(network(2 * pixels - 1), expected, rtol=1e-4, atol=1e-5)
    assert expected.shape == (2, network.dim) == (2, 16)


@torch.no_grad()
def test_images_of_another_size_are_resized_to_the_models():
    network = tiny()
    flat = torch.tensor([0.3, -0.2, 0.9]).view(1, 3, 1, 1).expand(1, 3, 32, 32)
    torch.testing.assert_close(network(flat), network(flat[..., :24, :24]), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_prompts_are_tokenised_as_clip_does():
    network = tiny()
    tokens = open_clip.tokenize(["a photo of a cat", "two dogs"], context_length=16)
    torch.testing.assert_close(network.texts(["a photo of a cat", "two dogs"]), network.network.encode_text(tokens))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"model": "ViT-Q", "checkpoint": "openai"},
            "encoder.model=ViT-Q: of open_clip, models with CLIP's own text network and words are read: .*ViT-B-32",
        ),
        *(
            ({"model": model, "checkpoint": "random"}, f"model={model}: of open_clip, .*convnext_base, .*ViT-B-32")
            for model in ("coca_ViT-B-32", "ViT-B-16-SigLIP", "roberta-ViT-B-32", "ViTamin-S", "EVA02-B-16")
        ),
        (
            {"model": "RN50", "checkpoint": "opanai"},
            "encoder.checkpoint=opanai: of RN50, open_clip has openai, yfcc15m, cc12m, cloob, random",
        ),
    ],
)
def test_unknown_models_and_weights_are_errors_that_say_what_exists(settings, words):
    with pytest.raises(SettingError, match=words):
        clip.build(settings, (3, 224, 224))


@pytest.mark.parametrize("encoder", ["clip", "language_model", "sentence", "identity"])
def test_encoders_refuse_what_they_cannot_embed(encoder):
    point = resolve("encoders", encoder).points[0]
    with pytest.raises(SettingError, match=rf"{encoder} takes .*, not images of 5x7: .*\+encoder=NAME"):
        import_module(f"despur.encoders.{encoder}").build(point.settings, (5, 7))


@pytest.mark.parametrize(
    ("checkpoint", "file", "url"),
    [
        (
            "openai",
            "clip/RN50-openai/open_clip_model.safetensors",
            "https://huggingface.co/timm/resnet50_clip.openai/resolve/main/",
        ),
        ("cloob", "clip/cloob_rn50_yfcc_epoch_28.pt", "https://ml.jku.at/research/CLOOB/downloads/checkpoints/"),
    ],
)
def test_missing_weights_say_where_to_put_which_file(offline, checkpoint, file, url):
    with pytest.raises(InputError) as error:
        clip.build({"model": "RN50", "checkpoint": checkpoint}, (3, 224, 224))
    for word in (str(offline / file), url + file.rpartition("/")[2], "DESPUR_WEIGHTS_ROOT"):
        assert word in str(error.value)


def publish(monkeypatch, **published):
    monkeypatch.setattr(open_clip, "get_pretrained_cfg", lambda model, tag: published if tag == "openai" else {})


def test_weights_of_the_hub_are_read_from_a_local_file(offline, monkeypatch):
    publish(
        monkeypatch, hf_hub="org/tiny/", url="https://x/0123/tiny-vit.pt", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)
    )
    network = tiny(seed=3)
    folder = offline / "clip/tiny-vit-openai"
    folder.mkdir(parents=True)
    save_file(
        {name: value.contiguous() for name, value in network.network.state_dict().items()},
        folder / "open_clip_model.safetensors",
    )
    found = tiny(checkpoint="openai", seed=4)
    # the published mean and deviation
    assert found.get_buffer("shift").abs().max() == 0 and found.get_buffer("scale").unique().item() == 1
    found.shift, found.scale = network.get_buffer("shift"), network.get_buffer("scale")
    assert same(network, found) and not same(network, tiny(seed=4))
    save_file({"text_projection": torch.zeros(2, 2)}, folder / "open_clip_model.safetensors")
    with pytest.raises(InputError, match="does not hold the weights of tiny-vit"):
        tiny(checkpoint="openai")


@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
def test_openais_own_file_is_checked_and_read(offline, monkeypatch):
    network = tiny(seed=3)
    sizes = {"input_resolution": 24, "context_length": 16, "vocab_size": 49408}

    class Archive(torch.nn.Module):  # as OpenAI published them: TorchScript
        def __init__(self):
            super().__init__()
            for name, part in network.network.named_children():
                self.add_module(name, part)
            for name, value in [
                *network.network.named_parameters(recurse=False),
                *((k, torch.tensor(v)) for k, v in sizes.items()),
            ]:
                self.register_buffer(name, value.detach())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    (offline / "clip").mkdir()
    path = offline / "clip/tiny-vit.pt"
    torch.jit.save(torch.jit.trace(Archive(), torch.zeros(1)), str(path))
    publish(monkeypatch, hf_hub="org/tiny/", url=f"https://x/{sha256(path)}/tiny-vit.pt", quick_gelu=True)
    found = tiny(checkpoint="openai", seed=4)
    # it holds half precision
    torch.testing.assert_close(found.network.state_dict(), network.network.state_dict(), rtol=2e-3, atol=1e-4)
    publish(monkeypatch, hf_hub="org/tiny/", url="https://x/0123/tiny-vit.pt")
    with pytest.raises(InputError, match="wrong checksum"):
        tiny(checkpoint="openai")


def test_cloobs_names_are_understood(offline):
    network = open_clip.create_model("tiny-rn", force_quick_gelu=True).eval()
    tower = ("transformer", "token_embedding", "positional_embedding", "ln_final", "text_projection")
    named = {
        f"module.{'transformer.' * name.startswith(tower)}{name}": value for name, value in network.state_dict().items()
    }
    del named["module.logit_scale"]
    (offline / "clip").mkdir()
    path = offline / "clip/cloob_tiny-rn_yfcc_epoch_28.pt"
    torch.save({"epoch": 28, "state_dict": {**named, "module.logit_inv_tau": torch.tensor(3.4)}}, path)
    found = tiny("tiny-rn", "cloob", (3, 32, 32), seed=5)
    assert same(clip.CLIP(network, open_clip.get_tokenizer("tiny-rn"), clip.PIXELS), found)
    torch.save({"epoch": 28, "state_dict": {"module.logit_inv_tau": torch.tensor(3.4)}}, path)
    with pytest.raises(InputError, match="does not hold CLOOB's tiny-rn"):
        tiny("tiny-rn", "cloob", (3, 32, 32))


# Text models


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "this", "comment", "is", "toxic", "not", "."]


@pytest.fixture
def text_model(offline):
    """A tiny BERT where sentence-transformers' files are looked for, and BERT's vocabulary."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(offline / "tiny")
    for folder in ("tiny", "bert-base-uncased"):
        (offline / folder).mkdir(exist_ok=True)
        (offline / folder / "vocab.txt").write_text("\n".join(WORDS))
    return offline


def text_encoder(pooling="mean"):
    return sentence.build({"model": "tiny", "pooling": pooling}, (12,)).eval()


@torch.no_grad()
def test_a_sentence_is_the_mean_of_its_own_tokens(text_model):
    network = text_encoder()
    tokens = torch.zeros(2, 12, dtype=torch.int32)
    tokens[0, :4], tokens[1, :6] = torch.tensor([2, 8, 10, 3]), torch.tensor([2, 5, 6, 7, 8, 3])
    states = [network.network(tokens[i : i + 1, :n].long()).last_hidden_state[0] for i, n in ((0, 4), (1, 6))]
    torch.testing.assert_close(network(tokens), torch.stack([s.mean(dim=0) for s in states]), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(text_encoder("cls")(tokens), torch.stack([s[0] for s in states]), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.texts(["Toxic."]), network(tokens[:1]), rtol=1e-4, atol=1e-5)


def test_a_text_model_with_another_vocabulary_or_weights_is_refused(text_model):
    (text_model / "tiny/model.safetensors").unlink()
    with pytest.raises(InputError, match=r"model.safetensors .* could not be downloaded"):
        text_encoder()
    save_file({"x": torch.zeros(1)}, text_model / "tiny/model.safetensors")
    with pytest.raises(InputError, match="does not hold the weights of this BertModel"):
        text_encoder()
    (text_model / "tiny/vocab.txt").write_text("other")
    with pytest.raises(InputError, match="not the vocabulary of bert-base-uncased"):
        text_encoder()


# Embedding


class Counted(torch.nn.Module):
    """Sums of rows and their numbers; counts how often it is asked, and fails at the ``fails``-th time."""

    dim, asked = 2, 0

    def __init__(self, fails=0):
        super().__init__()
        self.fails = fails

    def forward(self, rows):
        self.asked += 1
        if self.asked == self.fails:
            raise KeyboardInterrupt
        return torch.stack([rows.sum(dim=1), rows[:, 0]], dim=1)


@pytest.fixture
def shown(monkeypatch):
    monkeypatch.setattr(InputBatcher, "max_batch", 4)
    return InputBatcher(torch.arange(30, dtype=torch.float32).reshape(15, 2))


def test_embedding_goes_on_where_it_was_killed(shown, tmp_path):
    whole, killed, resumed = Counted(), Counted(fails=3), Counted()
    expected = np.array(embed(whole, shown, tmp_path / "a.npy", RNG(0)))
    with pytest.raises(KeyboardInterrupt):
        embed(killed, shown, tmp_path / "b.npy", RNG(0))
    found = embed(resumed, shown, tmp_path / "b.npy", RNG(0))
    assert (whole.asked, resumed.asked) == (4, 2) and isinstance(found, np.memmap) and found.dtype == np.float16
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(expected[:, 0], shown.inputs.sum(dim=1))
    embed(resumed, shown, tmp_path / "b.npy", RNG(0))
    assert resumed.asked == 2


def test_a_file_without_its_marker_is_begun_anew(shown, tmp_path):
    (tmp_path / "a.npy").write_bytes(b"cut off")
    assert embed(Counted(), shown, tmp_path / "a.npy", RNG(0)).shape == (15, 2)


def test_a_full_disk_is_told_before_anything_is_embedded_into_its_map(shown, tmp_path, monkeypatch):
    assert allocate(tmp_path / "a.npy", (1000, 1000)).shape == (1000, 1000)
    facts = (tmp_path / "a.npy").stat()
    assert facts.st_blocks * 512 >= facts.st_size > 2_000_000

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"b.npy cannot be written: No space left on device. Make room"):
        embed(Counted(), shown, tmp_path / "b.npy", RNG(0))
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_a_frozen_network_is_moved_but_neither_trained_nor_kept():
    frozen = Frozen(Counted()).double()
    frozen.hidden[0].weight = torch.nn.Parameter(torch.zeros(1))
    assert not list(frozen.parameters()) and not frozen.state_dict()
    frozen.to(torch.float16)
    assert frozen.hidden[0].weight.dtype == torch.float16
    torch.testing.assert_close(frozen(torch.tensor([[3.0, 1.0]])), torch.tensor([[0.8, 0.6]]))


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


@pytest.mark.parametrize("broken", ["a.npy", "a.done"])
@pytest.mark.parametrize("size", [0, 1, -5])
def test_broken_embeddings_are_made_anew(tmp_path, capsys, broken, size):
    array, marker = tmp_path / "a.npy", tmp_path / "a.done"
    np.save(array, np.ones((3, 2), np.float16))
    marker.write_text("2")
    done, z = resume(array, marker)
    assert done == 2 and z.tolist() == [[1, 1]] * 3 and not capsys.readouterr().err
    (tmp_path / broken).write_bytes((tmp_path / broken).read_bytes()[:size] if broken == "a.npy" else b"\0" * size)
    assert resume(array, marker) == (0, None)
    assert capsys.readouterr().err.startswith(f"warning: {array} is broken (")


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


# Prompts


def test_class_prompts_follow_the_released_code():
    about = {"dataset": "waterbirds", "classes": ["landbird", "waterbird"], "attributes": ["land", "water"]}
    about["groups"] = [f"{y}, {a}" for y in about["classes"] for a in about["attributes"]]
    assert prompts.class_prompts(about) == [["This is a picture of a landbird."], ["This is a picture of a waterbird."]]
    assert prompts.class_prompts(about, "cloob") == [["a landbird"], ["a waterbird"]]
    assert prompts.group_prompts(about)[1] == ["a landbird on a water background"]
    celeba = {
        "dataset": "celeba",
        "classes": ["not blond", "blond"],
        "attributes": ["female", "male"],
        "groups": list("abcd"),
    }
    assert prompts.class_prompts(celeba, "cloob") == prompts.class_prompts(celeba)
    assert prompts.class_prompts(celeba)[0] == ["A photo of a celebrity with dark hair."]
    assert prompts.group_prompts(celeba)[3] == ["A photo of a male celebrity with blond hair."]


@pytest.mark.parametrize(
    ("template", "words", "text"),
    [
        ("This is a picture of a {class}.", {"class": "ape"}, "This is a picture of an ape."),
        ("a {class}", {"class": "unicycle"}, "a unicycle"),
        ("A {class}", {"class": "elephant"}, "An elephant"),
        ("a photo of a {class} on {attribute}", {"class": "eight", "attribute": "land"}, "a photo of an eight on land"),
        ("a photo of a {class}", {"class": "one"}, "a photo of a one"),
    ],
)
def test_articles(template, words, text):
    assert prompts.fill(template, **words) == text


def test_a_class_with_several_names_is_the_mean_of_their_unit_embeddings():
    vectors = {"a": [2.0, 0.0], "b": [0.0, 3.0], "c": [1.0, 0.0]}
    found = prompted.prompt_embeddings(lambda texts: torch.tensor([vectors[t] for t in texts]), [["a", "b"], ["c"]])
    torch.testing.assert_close(found, torch.tensor([[0.5, 0.5], [1.0, 0.0]]))
    head = prompted.cosine_head(2, 2)
    prompted.set_head(head, found)
    torch.testing.assert_close(head.weight, normalize(found, dim=1))


@pytest.mark.parametrize(
    ("dataset", "classes", "family", "expected"),
    [
        ("entity13", ["accessory", "produce"], "class", "a picture of an accessory|a picture of a fruit or vegetable"),
        ("entity30", ["passerine", "aquatic bird"], "cloob", "a picture of a land bird|a picture of an aquatic bird"),
        ("nonliving26", ["body armor", "outbuilding"], "class", "A photo of an armor.|A photo of an outbuilding."),
        ("nonliving26", ["mercantile establishment"], "cloob", "a store or shop"),
        ("living17", ["domestic cat", "ape"], "class", "This is a picture of a cat.|This is a picture of an ape."),
        ("civilcomments", ["not toxic", "toxic"], "class", "Not toxic.|Toxic."),
        ("civilcomments", ["not toxic", "toxic"], "gpt_neo_125m", "Not toxic|Toxic"),
        ("amazon", ["negative", "positive"], "class", "negative|positive"),
        ("amazon", ["negative", "positive"], "gpt_neo", "Negative|Positive"),
        ("amazon", ["negative", "positive"], "gpt_neo_125m", "Negative review|Positive review"),
    ],
)
def test_classes_have_the_words_of_the_released_code(dataset, classes, family, expected):
    found = prompts.class_prompts({"dataset": dataset, "classes": classes}, family)
    assert found == [[text] for text in expected.split("|")]


def test_every_data_set_has_prompts_that_exist_and_groups_without_words_have_none():
    overlapping = {
        "dataset": "civilcomments",
        "classes": ["not toxic", "toxic"],
        "attributes": ["no", "yes"],
        "groups": list("abcdefgh"),
    }
    assert prompts.group_prompts(overlapping) == []
    for name, known in prompts.PROMPTS.items():
        assert "{class}" in known["class"].lower(), name


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
