"""The command fetch."""

import io

import numpy as np
import open_clip
import pytest

from despur.cli import fetch
from despur.encoders import clip
from despur.encoders.language_model import REPOSITORIES
from despur.specs.declarations import list_components
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.downloads import Download
from despur.storage.pretrained import HUB
from despur.storage.raw_files import list_patterns
from despur.storage.store import InputError
from despur.storage.tokenizers import VOCABULARIES

MODEL = ("config.json", "model.safetensors")


@pytest.fixture
def moji(tmp_path, monkeypatch):
    """Moji's four files, as a download writes them; the checks of the loader are its own."""
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path))
    asked = []

    def place(download, root, report):
        asked.append(download.url)
        (root / download.file).parent.mkdir(exist_ok=True)
        with (root / download.file).open("wb") as file:
            np.save(file, np.zeros((10, 3), np.float32))
        return "sha256:0"

    monkeypatch.setattr(fetch, "fetch_file", place)
    monkeypatch.setattr(fetch, "check_dataset", lambda text: [f"{text}: right"])
    return asked


def test_it_says_what_it_downloads_and_checks_it(moji):
    lines = [*fetch.fetch("moji", yes=True)]
    assert len(moji) == 4 and lines[-1] == "moji: right"
    said = "\n".join(lines)
    assert (
        "license: derived from tweets" in said and "never tried" in said and "not published, recorded: sha256:0" in said
    )


def test_what_is_there_is_not_downloaded_again(moji):
    [*fetch.fetch("moji", yes=True)]
    [*fetch.fetch("moji")]
    assert len(moji) == 4


@pytest.mark.parametrize(
    ("kind", "text", "there", "missing"),
    [
        ("datasets", "waterbirds", ["waterbirds_v1.0/metadata.csv"], []),
        ("datasets", "amazon", ["amazon_v2.0/reviews.csv"], ["amazon_v2.1.tar.gz"]),
        ("datasets", "amazon", ["amazon_v2.0/reviews.csv", "amazon_v2.0/splits/category_subpopulation.csv"], []),
        ("datasets", "bios+features=tokens", ["bios/train.parquet"], ["dev.pickle", "test.pickle"]),
        ("encoders", "resnet50", ["resnet50-19c8e357.pth"], []),
        ("encoders", "clip", ["clip/RN50-openai/open_clip_model.safetensors"], []),
        ("encoders", "clip", ["clip/RN101.pt"], ["RN50.pt"]),
    ],
)
def test_what_is_there_under_another_name_is_not_downloaded(tmp_path, kind, text, there, missing):
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (point,) = resolve(kind, text).points
    downloads = [each for each in fetch.list_downloads(kind, point.base_name) if each.is_needed(point.settings)]
    patterns = list_patterns(point)
    assert [each.local_name for each in downloads if not each.is_there(tmp_path, patterns)] == missing


def test_nothing_is_downloaded_without_a_yes(moji, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(SettingError, match="--yes"):
        [*fetch.fetch("moji")]
    terminal = io.StringIO("no\n")
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)
    with pytest.raises(SettingError, match="nothing was downloaded"):
        [*fetch.fetch("moji")]
    assert moji == []


def test_what_needs_an_account_says_the_steps():
    assert "make an account at https://image-net.org" in fetch.read_declarations("datasets", "living17")["BY_HAND"]
    assert any("ask the authors" in line for line in fetch.fetch("hate_speech"))


def test_bundled_data_needs_no_download():
    assert "needs no download" in [*fetch.fetch("scene_digits")][-1]


@pytest.mark.parametrize("name", ["hf", "timm"])
def test_a_model_that_is_brought_is_not_called_bundled(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(tmp_path))
    said = [*fetch.fetch(name)][-1]
    assert said.startswith(f"bring {tmp_path / name}/") and "--COMMIT" in said
    assert "comes by itself" in [*fetch.fetch(f"{name}+model=a--{40 * '0'}")][-1]


def test_a_file_that_data_sets_share_has_the_same_addresses_in_each():
    downloads = [each for name in list_components("datasets") for each in fetch.list_downloads("datasets", name)]
    addresses = {}
    for each in downloads:
        file = each.file, each.brings, each.into, each.checksum
        assert addresses.setdefault(file, each.addresses) == each.addresses
    assert len(addresses) < len(downloads)


def list_needed(text, kind="encoders"):
    """The files that a component with settings needs, with their addresses."""
    (point,) = resolve(kind, text).points
    downloads = fetch.list_downloads(kind, point.base_name)
    return {each.file: each.url for each in downloads if each.is_needed(point.settings)}


def test_bios_is_fetched_with_the_vectors_that_it_reads():
    tables, vectors = ([f"bios/{part}{end}" for part in ("train", "dev", "test")] for end in (".pickle", "_cls.npy"))
    assert list(list_needed("bios", "datasets")) == tables + vectors
    assert list(list_needed("bios+features=tokens", "datasets")) == tables


@pytest.mark.parametrize("model", REPOSITORIES)
def test_a_language_model_is_fetched_with_its_tokenizer_alone(model):
    vocabulary = VOCABULARIES["gpt2" if model.startswith("gpt") else "roberta"]
    own = {f"{model}/{name}": f"{HUB}{REPOSITORIES[model]}/resolve/main/{name}" for name in MODEL}
    tokenizer = {file: f"{vocabulary.url}{file.rpartition('/')[2]}" for file in vocabulary.files}
    assert list_needed(f"language_model+model={model}") == own | tokenizer


@pytest.mark.parametrize("model", ["RN50", "RN101", "RN50x4", "ViT-B-32", "ViT-B-16", "ViT-L-14", "ViT-L-14-336"])
def test_of_clip_one_model_is_fetched(model):
    url = open_clip.get_pretrained_cfg(model, "openai")["url"]
    assert list_needed(f"clip+model={model}") == {f"clip/{url.rpartition('/')[2]}": url}


@pytest.mark.parametrize("model", ["RN50", "RN50x4"])
def test_of_cloob_one_model_is_fetched(model):
    name = f"cloob_{model.lower()}_yfcc_epoch_28.pt"
    assert list_needed(f"clip+checkpoint=cloob+model={model}") == {f"clip/{name}": f"{clip.CLOOB}{name}"}
    assert list_needed("clip+checkpoint=random") == {}


def test_a_text_model_is_fetched_with_the_vocabulary_of_the_data():
    model = "all-MiniLM-L12-v2"
    names = ("bert-base-uncased/vocab.txt", *(f"{model}/{name}" for name in (*MODEL, "vocab.txt")))
    assert set(list_needed(f"sentence+model={model}")) == set(names)
    assert list_needed("bert")["bert-base-uncased/vocab.txt"] == list_needed("sentence")["bert-base-uncased/vocab.txt"]


@pytest.fixture
def config(tmp_path, monkeypatch):
    """A configuration of which nothing is here."""
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path))
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(tmp_path / "weights"))
    config = tmp_path / "own.yaml"
    datasets = "{waterbirds: waterbirds+size=32, cmnist: cmnist}"
    config.write_text(f"papers: [cnc]\nmethods: [erm]\nseeds: 1\ndatasets: {datasets}\n")
    return config


def test_a_configuration_names_what_it_lacks(config):
    assert fetch.list_missing(config) == ["cmnist", "waterbirds+size=32", "resnet50"]


def test_what_a_configuration_lacks_is_checked_without_a_download(config, monkeypatch):
    monkeypatch.setattr(fetch, "ask_address", lambda address: "there")
    monkeypatch.setattr(fetch, "fetch_file", None)
    _, *rows = fetch.fetch(configfile=config, check=True, yes=True)
    assert rows and {row.values["name"] for row in rows} == {"cmnist", "waterbirds", "resnet50"}


def test_a_configuration_is_fetched_whatever_fails_and_what_failed_is_named_last(config, monkeypatch):
    asked = []

    def place(download, root, report):
        asked.append(download.local_name)
        if "waterbird" in download.url:
            raise InputError("no network")
        (root / download.file).parent.mkdir(exist_ok=True)
        (root / download.file).touch()
        return "sha256:0"

    monkeypatch.setattr(fetch, "fetch_file", place)
    monkeypatch.setattr(fetch, "check_dataset", lambda text: [f"{text}: right"])
    said = []
    with pytest.raises(InputError, match=r"^1 of 3 are not here.*: waterbirds\+size=32$"):
        for line in fetch.fetch(configfile=config, yes=True):
            said.append(line)
    assert "waterbirds+size=32: no network" in said and "cmnist: right" in said
    assert asked[-1] == "resnet50-0676ba61.pth" and (config.parent / "weights" / asked[-1]).exists()


def test_a_name_or_a_configuration_is_needed():
    with pytest.raises(SettingError, match="name a data set"):
        [*fetch.fetch()]
    with pytest.raises(SettingError, match="did you mean waterbirds"):
        [*fetch.fetch("waterbird")]


@pytest.mark.parametrize(
    "name", ["moji+nope=1", "cmnist+nope=1", "cmnist+p_corr=nan", "bring_your_own+name=../../x", "resnet50+nope=1"]
)
def test_settings_that_cannot_be_are_refused_before_anything_is_said(moji, name):
    with pytest.raises(SettingError, match=r"nope|p_corr|name="):
        next(fetch.fetch(name, yes=True))
    assert moji == []


def test_facts_of_a_download_are_shown(tmp_path):
    known = Download(
        "http://a/b.zip", "there", size=2_500_000, checksum="md5:1", license="MIT", mirrors=("https://c/b",)
    )
    said = fetch.describe(known, "other", tmp_path)
    assert "2.5 MB; license: MIT; checksum: md5:1" in said and "read in there" in said
    assert "http://a/b.zip\n  never tried\nhttps://c/b\n  never tried\n" in said
    facts = said.values
    assert (facts["url"], facts["size"], facts["license"]) == ("http://a/b.zip", 2_500_000, "MIT")
