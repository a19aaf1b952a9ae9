"""Whole runs on miniature data with small models of timm and of the Hugging Face hub: fine-tuned, and frozen, with
methods that read what they give."""

import json
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from helpers import finish_run, result
from safetensors.torch import save_file
from tests.datasets.test_loaders import civilcomments, waterbirds
from tests.encoders.test_hf import CONFIGS

import despur
from despur import data
from despur.encoders.base import build_encoder
from despur.evidence.ledger import recording
from despur.specs.resolution import resolve
from despur.storage.containers import Container
from despur.storage.raw_files import sha256

pytestmark = pytest.mark.long
VIT = "encoder=timm+encoder.model=test_vit+encoder.size=32"
CONVNEXT = "encoder=timm+encoder.model=test_convnext+encoder.weights=random"
DINO = "encoder=hf+encoder.model=me--dinov2"
DISTILBERT = "encoder=hf+encoder.model=me--distilbert"


@pytest.fixture
def root(tmp_path, monkeypatch, made_up_sizes):
    """Both miniature data sets, built, and the weights of small models."""
    import timm

    waterbirds(tmp_path)
    civilcomments(tmp_path, monkeypatch)
    torch.manual_seed(0)
    (tmp_path / "weights/timm").mkdir(parents=True)
    save_file(timm.create_model("test_vit", num_classes=3).state_dict(), tmp_path / "weights/timm/test_vit.safetensors")
    for kind in ("dinov2", "distilbert"):
        folder = tmp_path / f"weights/hf/me--{kind}"
        transformers.AutoModel.from_config(CONFIGS[kind]).save_pretrained(folder)
        (folder / "preprocessor_config.json").write_text('{"image_mean": [0.5, 0.5, 0.5], "image_std": [1, 1, 1]}')
    words = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "you", "are", "all", "fine"])}
    save_tokenizer(words, tmp_path / "weights/hf/me--distilbert")
    return tmp_path


def save_tokenizer(words, folder):
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]").save_pretrained(folder)


BIRDS, COMMENTS = "waterbirds+size=32", "civilcomments+tokens=12+vocabulary=me--distilbert"


def train(root, dataset, method):
    """Data, stage 1 if the method reads one, stage 2, evaluation."""
    if not (root / f"results/data/{dataset}").exists():
        data.build(result(root, f"data/{dataset}"), Namespace(data_root=root))
    where = finish_run(root, f"runs/{dataset}/{resolve('methods', method, dataset.partition('+')[0]).name}/s0")
    metrics = pd.read_csv(where.folder / "metrics.csv").query("metric == 'average_accuracy'")
    assert metrics["value"].between(0, 1).all() and len(metrics)
    return where


ENCODERS = [(BIRDS, VIT), (BIRDS, CONVNEXT), (BIRDS, DINO), (COMMENTS, DISTILBERT)]


def compare_with_saved(where):
    """A model that is loaded gives what its run has saved."""
    (run,) = where.runs()
    saved = Container(where.folder / "outputs.safetensors")[f"{run.key}/last/z"].astype(np.float32)
    inputs = np.load(where.data.folder / "inputs.npy")
    found = despur.load(where.folder, selection="last").representations(inputs).astype(np.float32)
    np.testing.assert_allclose(found, saved, atol=2e-2 * np.abs(saved).max())
    return saved


@pytest.mark.parametrize("dataset, encoder", ENCODERS)
def test_encoders_are_fine_tuned(root, dataset, encoder):
    where = train(root, dataset, f"erm+batch_size=4+epochs=2+{encoder}")
    trained = despur.load(where.folder, selection="last").networks["encoder"].state_dict()
    compare_with_saved(where)
    if "random" not in encoder:
        about = json.loads((where.folder / "about.json").read_text())["data"][dataset]
        start = build_encoder(where.runs()[0].spec, tuple(about["shape"])).state_dict()
        moved = [name for name, value in start.items() if not torch.equal(trained[name], value)]
        assert len(moved) > len(start) / 2 and not [name for name in moved if name.startswith("pixels.")]


@pytest.mark.parametrize("dataset, encoder", ENCODERS)
@pytest.mark.parametrize("method", ["linear_probe+epochs=2", "leace+stage1=zero_shot"])
def test_frozen_encoders_are_read_by_probes_and_by_methods_that_are_fitted(root, dataset, encoder, method):
    frozen = encoder.replace("encoder", "stage1.encoder")
    where = train(root, dataset, f"{method}+{frozen}+stage1.classes=means")
    (stage1,) = where.upstream("stage1")
    (run,) = where.runs()
    weights = recording.identify_weights(where, run)
    assert weights == {file: sha256(root / "weights" / file) for file in weights}
    assert any(file.endswith(".safetensors") for file in weights) == ("random" not in encoder)
    if "random" not in encoder:
        np.testing.assert_allclose(np.linalg.norm(compare_with_saved(stage1), axis=1), 1, atol=1e-2)
