"""ResNet-50 and BERT: what goes in and comes out, where their weights come from, and whole runs on miniature data
sets."""

import hashlib
from argparse import Namespace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from helpers import finish_run, result, spec, task
from tests.datasets.test_loaders import civilcomments, waterbirds
from torch import nn

import despur
from despur import data
from despur.compute.input_batcher import InputBatcher
from despur.compute.task import Task
from despur.encoders import bert, identity, lenet, resnet50
from despur.encoders.base import build_encoder
from despur.methods.cnc import CNC
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.storage.store import InputError, load_dataset

TINY = {"weights": "random", "layers": 1, "hidden": 64}
BERT_NAME = "encoder.hidden=64+encoder.layers=1+encoder.weights=random"


@pytest.fixture(scope="module")
def resnet():
    torch.manual_seed(0)
    return resnet50.build({"weights": "random"}, (3, 64, 64)).eval()


@pytest.fixture(scope="module")
def tiny():
    torch.manual_seed(0)
    return bert.build(TINY, (12,)).eval()


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (SimpleNamespace(__file__="mine.py"), r"mine\.py defines no build\(settings, shape\)"),
        (
            SimpleNamespace(__file__="mine.py", build=lambda *_: nn.Linear(2, 3)),
            r"mine\.py: what build returns must have dim",
        ),
    ],
)
def test_an_encoder_s_file_without_build_or_dim_is_named(module, message, monkeypatch):
    monkeypatch.setattr("despur.encoders.base.import_module", lambda name: module)
    with pytest.raises(SettingError, match=message):
        build_encoder(spec("erm+encoder=mlp"), (2,))


@torch.no_grad()
def test_resnet_sees_images_as_imagenet_presents_them(resnet):
    images = torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    usual = (images - torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)) / torch.tensor([0.229, 0.224, 0.225]).view(
        3, 1, 1
    )
    torch.testing.assert_close(resnet(2 * images - 1), resnet.layers(usual), rtol=1e-3, atol=1e-3)
    assert resnet(2 * images - 1).shape == (2, resnet.dim) == (2, 2048)


@torch.no_grad()
def test_resnet_gives_the_average_of_the_last_feature_map(resnet):
    found = {}
    hook = resnet.layers.layer4.register_forward_hook(lambda module, inputs, output: found.update(maps=output))
    z = resnet(torch.rand(2, 3, 64, 64))
    hook.remove()
    torch.testing.assert_close(z, found["maps"].mean(dim=(2, 3)))


def test_resnet_reads_the_weights_that_lie_in_weights_root(resnet, offline, monkeypatch):
    state = {**resnet.layers.state_dict(), "fc.weight": torch.zeros(1000, 2048), "fc.bias": torch.zeros(1000)}
    torch.save(state, offline / "made.pth")
    digest = hashlib.sha256((offline / "made.pth").read_bytes()).hexdigest()[:8]
    (offline / "made.pth").rename(offline / f"resnet50-{digest}.pth")
    monkeypatch.setitem(resnet50.WEIGHTS_WITH, "weights=imagenet", (f"resnet50-{digest}.pth | resnet50-01234567.pth",))
    torch.manual_seed(1)
    again = resnet50.build({"weights": "imagenet"}, (3, 64, 64))
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in resnet.state_dict().items())


def test_missing_or_spoilt_weights_are_an_error_that_says_how_to_get_them(offline):
    for build, file, source in (
        (
            lambda: resnet50.build({"weights": "imagenet"}, (3, 64, 64)),
            "resnet50-0676ba61.pth",
            "https://download.pytorch.org/models/",
        ),
        (
            lambda: bert.build({**TINY, "weights": "pretrained"}, (12,)),
            "bert-base-uncased/model.safetensors",
            "https://huggingface.co/",
        ),
    ):
        with pytest.raises(InputError) as error:
            build()
        for word in (str(offline / file), source, "no route to host", "DESPUR_WEIGHTS_ROOT"):
            assert word in str(error.value)
        (offline / file).parent.mkdir(exist_ok=True)
        (offline / file).write_bytes(b"<html>404</html>")
        with pytest.raises(InputError) as error:
            build()
        for word in (str(offline / file), source):
            assert word in str(error.value)
        assert (offline / file).exists()


@torch.no_grad()
def test_bert_gives_what_the_pooler_gives_and_padding_changes_nothing(tiny):
    tokens = torch.tensor([[2, 5, 6, 7, 3], [2, 5, 3, 0, 0]], dtype=torch.int32)
    z = tiny(tokens)
    assert z.shape == (2, tiny.dim) == (2, 64)
    torch.testing.assert_close(z[:1], tiny.network(tokens[:1]).pooler_output)
    torch.testing.assert_close(z[1:], tiny.network(tokens[1:, :3]).pooler_output)
    torch.testing.assert_close(tiny(torch.nn.functional.pad(tokens, (0, 7))), z)
    assert (tiny(torch.tensor([[2, 6, 3, 0, 0]])) - z[1:]).abs().max() > 1e-3


def test_bert_drops_out_in_training_only(tiny):
    tokens = torch.tensor([[2, 5, 6, 7, 3]])
    tiny.train()
    first, second = tiny(tokens), tiny(tokens)
    tiny.eval()
    assert not torch.equal(first, second) and torch.equal(tiny(tokens), tiny(tokens))


def test_bert_reads_the_weights_that_lie_in_weights_root(tiny, offline):
    tiny.network.save_pretrained(offline / "bert-base-uncased")
    torch.manual_seed(1)
    again = bert.build({**TINY, "weights": "pretrained"}, (12,))
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in tiny.state_dict().items())


@pytest.mark.parametrize("change", [{"layers": 2}, {"hidden": 128}])
def test_weights_that_do_not_fill_the_network_are_an_error(tiny, offline, change):
    tiny.network.save_pretrained(offline / "bert-base-uncased")
    with pytest.raises(
        InputError, match=r"bert-base-uncased/model\.safetensors does not hold the weights of this BertModel"
    ):
        bert.build({**TINY, **change, "weights": "pretrained"}, (12,))


def test_encoders_refuse_inputs_of_another_kind():
    with pytest.raises(SettingError, match="three channels"):
        resnet50.build({"weights": "random"}, (300,))
    with pytest.raises(
        SettingError, match=r"lenet takes images of 3x32x32, not vectors or tokens of 300: \+encoder=NAME, .*mlp takes"
    ):
        lenet.build({}, (300,))
    with pytest.raises(SettingError, match=r"not images of 3x28x28: .*convnet .*nothing is enlarged"):
        lenet.build({}, (3, 28, 28))
    with pytest.raises(
        SettingError, match=r"not images of 3x224x224: .*size=32 of the data set, .*bring_your_own.resize=32 resizes"
    ) as larger:
        lenet.build({}, (3, 224, 224))
    assert "enlarged" not in str(larger.value)
    with pytest.raises(SettingError, match=r"identity takes embeddings, not images of 3x28x28: .*; clip takes images"):
        identity.build({}, (3, 28, 28))
    with pytest.raises(SettingError, match="takes tokens"):
        bert.build(TINY, (3, 64, 64))
    with pytest.raises(SettingError, match="hidden=100"):
        bert.build({**TINY, "hidden": 100}, (12,))


def test_tokens_stay_whole_numbers_and_large_samples_are_encoded_a_few_at_once():
    tokens = torch.arange(600, dtype=torch.int32).view(2, 300)
    shown = InputBatcher(tokens)
    assert torch.equal(shown.batch(np.array([1]), np.random.default_rng(0)), tokens[1:])
    assert shown.max_batch == 72
    assert InputBatcher(torch.zeros(1, 224, 224, 3, dtype=torch.uint8), 224).max_batch == 111
    assert InputBatcher(torch.zeros(1, 40, 40, 3, dtype=torch.uint8), 32).max_batch == 2048
    assert InputBatcher(torch.zeros(1, 768)).max_batch == 2048


SMALL = "accumulation=2+num_negatives=2+num_positives=2"


@pytest.mark.parametrize("batchnorm", ["eval", "train"])
def test_cnc_trains_with_or_without_the_statistics_of_the_batch(batchnorm):
    y, predicted = np.repeat([0, 0, 1, 1], 4), np.tile([0, 0, 1, 1], 4)
    torch.manual_seed(0)
    spec = resolve("methods", f"cnc+batchnorm={batchnorm}+encoder=resnet50+encoder.weights=random+{SMALL}").points[0]
    method = CNC(task(y, predicted), spec)
    before = {name: value.clone() for name, value in method.networks.state_dict().items()}
    method.step(method.batches(np.random.default_rng(0))[0], np.random.default_rng(0))
    moved = {name for name, value in method.networks.state_dict().items() if not torch.equal(value, before[name])}
    assert {"encoder.layers.conv1.weight", "encoder.layers.bn1.weight"} <= moved
    assert ("encoder.layers.bn1.running_mean" in moved) == (batchnorm == "train")


@pytest.mark.parametrize("batchnorm", ["eval", "train"])
def test_cnc_switches_the_dropout_of_bert_as_well(batchnorm):
    y, predicted = np.repeat([0, 0, 1, 1], 4), np.tile([0, 0, 1, 1], 4)
    tokens = torch.randint(5, 100, (16, 6), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    spec = resolve("methods", f"cnc+batchnorm={batchnorm}+encoder=bert+{BERT_NAME}+{SMALL}").points[0]
    method = CNC(Task(InputBatcher(tokens), y, 2, torch.device("cpu"), predicted), spec)
    method.step(method.batches(np.random.default_rng(0))[0], np.random.default_rng(0))
    assert all(module.training == (batchnorm == "train") for module in method.networks["encoder"].modules())


def run(root, dataset, method):
    """Build a data set, train, evaluate: the metrics of the test split, and the folder."""
    data.build(result(root, f"data/{dataset}"), Namespace(data_root=root))
    where = finish_run(root, f"runs/{dataset}/{method}/s0")
    table = pd.read_csv(where.folder / "metrics.csv").query("split == 'test' and selection == 'last'")
    return {
        (metric, group): value
        for metric, group, value in zip(table["metric"], table["group"].fillna(""), table["value"], strict=True)
    }, where


def predictions(where):
    dataset = load_dataset(where.data.folder, where.dataset)
    rows = dataset.rows("test")
    (one,) = where.runs()
    logits = Container(where.folder / "outputs.safetensors")[f"{one.key}/last/logits"]
    return dataset, rows, logits[rows].argmax(axis=1) == dataset.y[rows]


@pytest.mark.long
def test_erm_trains_a_resnet_on_miniature_waterbirds(tmp_path, made_up_sizes):
    waterbirds(tmp_path)
    method = "erm+batch_size=4+encoder.weights=random+epochs=1"
    found, where = run(tmp_path, "waterbirds+size=32", method)
    dataset, rows, correct = predictions(where)
    assert found["samples", "waterbird, land"] == 1
    assert found["average_accuracy", ""] == pytest.approx(correct.mean())
    assert found["worst_group_accuracy", ""] == float(correct.all())  # one bird a group
    model = despur.load(where.folder, selection="last")  # needs no pretrained weights
    assert (model.predict(dataset.inputs[rows]) == np.where(correct, dataset.y[rows], 1 - dataset.y[rows])).all()


def test_erm_trains_a_bert_on_miniature_civilcomments_and_is_evaluated_over_overlapping_groups(
    tmp_path, monkeypatch, made_up_sizes
):
    civilcomments(tmp_path, monkeypatch)
    found, where = run(tmp_path, "civilcomments+tokens=12", f"erm+batch_size=4+{BERT_NAME}+epochs=1")
    dataset, rows, correct = predictions(where)
    each = {
        name: [bool(hit) for hit, inside in zip(correct, dataset.groups[rows][:, i], strict=True) if inside]
        for i, name in enumerate(dataset.about["groups"])
    }
    for name, hits in each.items():
        assert found["samples", name] == len(hits)
        np.testing.assert_equal(found["accuracy", name], np.mean(hits) if hits else np.nan)
    assert found["samples", "not toxic, white"] == found["samples", "toxic, white"] == 1
    assert found["worst_group_accuracy", ""] == pytest.approx(min(np.mean(hits) for hits in each.values() if hits))
    assert found["average_accuracy", ""] == pytest.approx(correct.mean())  # with the comment in no group
    # as many in each cell as in training
    assert found["weighted_average_accuracy", ""] == pytest.approx(correct.mean())
