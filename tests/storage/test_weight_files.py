"""Weights of encoders: what is made from them follows their contents, and missing ones are named early."""

import json
import os
import shutil

import pooch
import pytest
from conftest import forget
from project import Project

from despur.cli.check import describe_weights
from despur.orchestration import jobs
from despur.specs import extensions
from despur.specs.declarations import find_component, list_components, read_declarations
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.storage import raw_files
from despur.storage.digest import cache_key
from despur.storage.pretrained import fetch
from despur.storage.reading import InputError
from despur.storage.weight_files import list_encoders, list_missing

ENCODER = '''"""A network with weights of mine."""

from despur.specs.settings import choice

SETTINGS = {"size": choice("small", "mine", "small", "large", "none")}
WEIGHTS_WITH = {"size=none": (), "size=*": ("mine/{size}.safetensors",)}
'''
RUN = "results/runs/colored_digits/erm+encoder=stored/s0"


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """The folder of weights, with those of an extension's encoder."""
    (tmp_path / "extension/encoders").mkdir(parents=True)
    (tmp_path / "extension/encoders/stored.py").write_text(ENCODER)
    (tmp_path / "weights/mine").mkdir(parents=True)
    (tmp_path / "weights/mine/small.safetensors").write_bytes(b"first")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(extensions.VARIABLE, str(tmp_path / "extension"))
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(tmp_path / "weights"))
    forget()
    yield tmp_path / "weights"
    forget()


def ask(path=RUN):
    """What identifies the weights of a result, read anew."""
    cache_key.cache_clear()
    return json.loads(cache_key(locate_result(path))).get("weights", {})


def test_weights_that_change_under_the_same_name_change_what_is_made_from_them(weights):
    file = weights / "mine/small.safetensors"
    first, times = ask(), file.stat()
    assert first == {"mine/small.safetensors": raw_files.sha256(file)}
    file.write_bytes(b"other")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    assert ask() == {"mine/small.safetensors": raw_files.sha256(file)} != first
    assert ask(RUN.replace("stored", "stored+encoder.size=none")) == ask(RUN.replace("+encoder=stored", "")) == {}
    assert ask("results/runs/colored_digits/jtt+stage1.encoder=stored/s0") == {}  # it is made again as stage 1 is
    assert ask("results/stage1/colored_digits/erm+encoder=stored/s0") == ask()


def test_weights_are_read_once(weights, monkeypatch):
    first = ask()
    monkeypatch.setattr(raw_files, "sha256", lambda file: pytest.fail("it is read again"))
    assert ask() == first


def test_weights_that_were_deleted_count_as_they_were(weights):
    first = ask()
    about = locate_result(RUN).folder / "about.json"
    about.parent.mkdir(parents=True)
    about.write_text(json.dumps({"specification": {"weights": first}}))
    (weights / "mine/small.safetensors").unlink()
    assert ask() == first
    assert not [*jobs.list_missing(locate_result(RUN))]


def test_a_download_changes_nothing_and_what_replaces_it_does(weights, monkeypatch):
    path = "results/runs/colored_digits/erm+encoder=bert/s0"
    monkeypatch.setattr(
        pooch, "retrieve", lambda url, known, name, folder, **_: shutil.copy(weights / "mine/small.safetensors", file)
    )
    file = weights / "bert-base-uncased/model.safetensors"
    file.parent.mkdir()
    assert ask(path) == {}
    fetch("bert-base-uncased/model.safetensors", "https://huggingface.co/")
    assert ask(path) == {} and file.exists()
    file.write_bytes(b"another")
    assert ask(path) == {"bert-base-uncased/model.safetensors": raw_files.sha256(file)}


def test_published_weights_are_known_by_their_checksum(weights, monkeypatch):
    (weights / "resnet50-0676ba61.pth").write_bytes(b"published")
    (published,) = read_declarations("encoders", "resnet50")["DOWNLOADS"]
    monkeypatch.setattr(raw_files, "sha256", lambda file: published["checksum"].removeprefix("sha256:"))
    assert ask("results/runs/colored_digits/erm+encoder=resnet50/s0") == {}


def test_missing_weights_are_named_before_anything_is_made(weights):
    (weights / "mine/small.safetensors").unlink()
    with pytest.raises(InputError, match=r"weights/mine/small\.safetensors is not there, .* encoder stored starts"):
        [*jobs.list_missing(locate_result(RUN))]
    (line,) = jobs.list_missing(locate_result(RUN.replace("stored", "bert")))
    assert "bert-base-uncased/model.safetensors is not there" in line and "the job that needs it downloads it" in line
    assert not [*jobs.list_missing(locate_result(RUN.replace("stored", "bert+encoder.weights=random")))]
    rows = describe_weights(resolve("methods", "erm+encoder=stored~bert").points)
    assert {row.values["name"]: row.values["state"] for row in rows} == {"stored": "missing", "bert": "download"}


def test_a_dry_run_names_missing_weights(weights, tmp_path):
    project = Project.fresh(tmp_path / "project")
    project.environment |= {extensions.VARIABLE: str(tmp_path / "extension"), "DESPUR_WEIGHTS_ROOT": str(weights)}
    text = project.snakemake("-n", f"{RUN.replace('stored', 'bert')}/metrics.csv")
    assert text.count("bert-base-uncased/model.safetensors is not there") == 1 and "build_data" in text
    (weights / "mine/small.safetensors").unlink()
    code, text = project.call_snakemake("-n", f"{RUN}/metrics.csv")
    assert code == 1 and "mine/small.safetensors is not there" in text and "Traceback" not in text


@pytest.mark.parametrize("name", list_components("encoders"))
def test_every_encoder_that_fetches_weights_declares_them(name):
    stated = read_declarations("encoders", name)
    text = find_component("encoders", name).read_text()
    fetches = "fetch(" in text or "find_hub_file(" in text
    assert fetches == bool(stated.get("WEIGHTS") or stated.get("WEIGHTS_WITH")) == bool(stated.get("DOWNLOADED"))


@pytest.mark.parametrize("encoder", ["timm+encoder.model=test_vit", "hf+encoder.model=me--tiny"])
def test_only_weights_of_a_commit_are_downloaded(weights, encoder):
    run = RUN.replace("stored", encoder)
    with pytest.raises(
        InputError,
        match=r"is not there, from which the encoder (timm|hf) starts .*put it there.*is downloaded: .*--COMMIT",
    ):
        [*jobs.list_missing(locate_result(run))]
    pinned = RUN.replace("stored", f"{encoder}--{40 * 'a'}")
    lines = [*jobs.list_missing(locate_result(pinned))]
    assert lines and all(f"--{40 * 'a'}/" in line and "Without a network, put it there" in line for line in lines)


def test_missing_tokenizers_are_named_before_the_data_are_made(weights):
    raw = "amazon cannot be built"
    run = locate_result("results/runs/amazon/erm+encoder=bigru/s0")
    in_data, tokenizer = jobs.list_missing(run)
    assert in_data.startswith(raw) and tokenizer.startswith(f"{weights / 'bert-base-uncased/vocab.txt'} is not there")
    own = locate_result("results/runs/amazon+vocabulary=me--tiny/erm+encoder=bigru/s0")
    with pytest.raises(InputError, match=r"hf/me--tiny/config\.json is not there.*me--tiny--COMMIT"):
        list(jobs.list_missing(own))
    (weights / "hf/me--tiny").mkdir(parents=True)
    for name in ("config.json", "tokenizer_config.json", "vocab.txt"):
        (weights / "hf/me--tiny" / name).touch()
    assert [line.startswith(raw) for line in jobs.list_missing(own)] == [True]
    _, *files = jobs.list_missing(locate_result("results/data/amazon+vocabulary=me--tiny--" + 40 * "a"))
    assert files and all("downloads it" in line for line in files)


def test_all_files_of_a_local_model_count(weights):
    folder, run = weights / "hf/me--tiny", RUN.replace("stored", "hf+encoder.model=me--tiny")
    names = ("config.json", "preprocessor_config.json", "model-1-of-2.safetensors", "model-2-of-2.safetensors")
    folder.mkdir(parents=True)
    for name in (*names, "README.md"):
        (folder / name).write_text(name)
    assert ask(run) == {f"hf/me--tiny/{name}": raw_files.sha256(folder / name) for name in names}
    random = ask(run.replace("me--tiny", "me--tiny+encoder.weights=random"))
    assert set(random) == {"hf/me--tiny/config.json"}


def test_clip_has_the_weights_of_its_checkpoint(weights):
    for checkpoint, expected in {
        "openai": ["clip/RN50-openai/open_clip_model.safetensors"],
        "yfcc15m": ["clip/RN50-yfcc15m/open_clip_model.safetensors"],
        "cloob": ["clip/cloob_rn50_yfcc_epoch_28.pt"],
        "cloob+encoder.model=RN50x4": ["clip/cloob_rn50x4_yfcc_epoch_28.pt"],
        "random": None,
    }.items():
        point = resolve("methods", f"erm+encoder=clip+encoder.checkpoint={checkpoint}").points[0]
        missing = [list_missing(encoder) for encoder in list_encoders([point])]
        assert missing == ([] if expected is None else [[str(weights / file) for file in expected]])
    (weights / "clip").mkdir()
    (weights / "clip/RN50.pt").write_bytes(b"there")
    assert list_missing(resolve("methods", "erm+encoder=clip").points[0].components["encoder"]) == []
