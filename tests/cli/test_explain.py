"""despur: what it says, what it refuses, what it leaves alone."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from despur.cli.check import check, find_statement
from despur.cli.explain import explain
from despur.cli.list import list_kind
from despur.cli.unused import list_unused
from despur.datasets import waterbirds
from despur.orchestration import configuration, experiments
from despur.specs.declarations import list_components
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage import raw_files
from despur.storage.digest import list_checkpoints, locate_checkpoints
from despur.storage.store import Dataset, InputError, Lazy

RUN = "results/runs/colored_digits/cnc+lambda=0.5~0.9/s0-2"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with one configuration and nothing else."""
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(
        "papers: [cnc]\nseeds: 3\ndatasets: {cmnist: colored_digits}\n"
        "artifacts: {cnc: {table_a5: {methods: {cnc: cnc+lambda=0.5~0.9}}}}\nmatrix: {data: colored_digits, "
        "methods: {con: con}}\n"
    )
    return tmp_path


def said(lines):
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("methods", "cnc"),
        ("datasets", "waterbirds"),
        ("encoders", "lenet"),
        ("inference", "clusters"),
        ("losses", "supervised_contrastive"),
        ("samplers", "ContrastiveSampler"),
        ("metrics", "worst_group_accuracy"),
        ("papers", "fair_cl"),
        ("claims", "cnc"),
    ],
)
def test_lists_name_what_there_is(what, name):
    lines = list(list_kind(what))
    assert any(line.split()[0] == name for line in lines)
    assert all(len(line.split()) > 1 for line in lines)
    assert what == "claims" or len(lines) == len({line.split()[0] for line in lines})


@pytest.mark.parametrize("kind", ["papers", "claims"])
def test_papers_and_claims_are_listed_outside_a_checkout_too(tmp_path, monkeypatch, kind):
    inside = list(list_kind(kind))
    monkeypatch.chdir(tmp_path)
    experiments.load_experiments.cache_clear()
    assert list(list_kind(kind)) == inside


def test_each_table_that_shows_a_run_is_named_once_behind_its_configuration_and_paper(here):
    lines = list(explain("/home/somebody/papers/despur/results/runs/colored_digits/erm/s0-2"))
    names = next(line for line in lines if line.startswith("shown by")).removeprefix("shown by config.yaml: cnc ")
    assert names.startswith("table_1, ") and len(names.split(", ")) == len({*names.split(", ")})
    assert "         config.yaml: matrix erm" in lines


def test_a_path_is_explained_with_the_source_of_every_value(here):
    text = said(explain(f"{RUN}/metrics.csv", defaults=True))
    assert text.startswith(f"{RUN}: trained models, their outputs and metrics (not made yet)")
    assert "reads    results/data/colored_digits, results/groups/colored_digits/" in text
    assert "shown by config.yaml: cnc table_a5" in text
    assert "runs     6: 1 of data x 2 of the method x seeds 0-2" in text
    assert "  lambda = 0.5 ~ 0.9  (the path)" in text
    assert "(stated in datasets/colored_digits.py)" in text
    assert "  two_sided = true  (default: App. C.2, A.4)" in text
    assert "groups.stage1: erm" in text


def test_settings_at_their_defaults_are_counted_and_listed_on_request(here):
    short, long = (list(explain(RUN, defaults)) for defaults in (False, True))
    assert "  lambda = 0.5 ~ 0.9  (the path)" in short and not any("(default: " in line for line in short)
    counts = [int(line.split()[1]) for line in short if line.endswith("at their defaults: --all lists them")]
    assert sum(counts) == len([line for line in long if "(default: " in line]) > 20


def test_a_setting_of_a_part_comes_from_the_path(here):
    text = said(explain("results/runs/colored_digits/jtt+groups=oracle+groups.noise=0.2/s0"))
    assert "  groups = oracle  (the path)" in text and "  groups.noise = 0.2  (the path)" in text
    text = said(explain("results/runs/colored_digits/jtt+stage1.epochs=7/s0"))
    assert "  groups.stage1.epochs = 7  (the path)" in text
    text = said(explain("results/runs/waterbirds/contrastive_adapter/s0", defaults=True))
    assert (
        "  stage1 = zero_shot  (default: " in text and "  groups.stage1 = zero_shot  (as the method's stage 1)" in text
    )
    text = said(explain("results/runs/waterbirds/contrastive_adapter/s0"))
    assert "  and 3 at their defaults, or as the method's stage 1: --all lists them" in text
    text = said(explain("results/runs/waterbirds/dfr/s0"))
    assert "  stage1.weight_decay = 0.0001  (as erm is trained alone)" in text


def test_an_artifact_is_explained_with_its_runs_in_each_configuration(here):
    text = said(explain("results/papers/cnc/table_a5.csv"))
    assert "Table A.5 of Correct-N-Contrast" in text and "{'methods': {'cnc': 'cnc+lambda=0.5~0.9'}}" in text
    assert f"  cnc on colored_digits instead of cmnist: {RUN}" in text


@pytest.mark.parametrize(
    "path", ["results/runs/colored_digits/cnk/s0", "results/papers/cnc/table_99.csv", "elsewhere/x"]
)
def test_what_does_not_exist_is_refused(here, path):
    with pytest.raises(SettingError):
        list(explain(path))


def test_raw_data_is_checked(here, monkeypatch):
    text = said(check("scene_digits"))
    assert "scene_digits: right; 2,088 train, 540 val, 898 test" in text and "license: CC BY 4.0" in text
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(here / "raw"))
    lines = check("waterbirds")
    assert "license: CUB-200-2011 and Places: non-commercial research" in next(lines) and "DESPUR_DATA_ROOT" in next(
        lines
    )
    with pytest.raises(InputError, match=r"waterbird_complete95_forest2water2\.tar\.gz"):
        next(lines)


def test_data_that_a_model_represents_are_made_from_it_and_checked_by_what_it_reads(here, monkeypatch, made_up_sizes):
    base = Path("results/stage1/hate_speech_tweets/erm/s0")
    assert f"reads    {base}\n" in said(explain("results/data/hate_speech"))
    Path("data/hate_speech").mkdir(parents=True)
    for split in ("train", "valid", "test"):
        Path(f"data/hate_speech/{split}.tsv").write_text("text\tage\tlabel\na b\t1\t0\nb\t0\t1\n")
    monkeypatch.setenv("DESPUR_DATA_ROOT", "data")
    assert "hate_speech: right; 2 train, 2 val, 2 test" in said(check("hate_speech"))
    Path("config.yaml").write_text("papers: [fair_cl]\nseeds: 3\ndatasets: {hate_speech: hate_speech}\n")
    base.mkdir(parents=True)
    assert str(base) not in said(list_unused())


def test_a_check_downloads_nothing_and_says_how_to_get_the_files(here, monkeypatch):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(here / "raw"))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a download"))
    with pytest.raises(InputError, match=r"this check downloads nothing.*put them there from https://"):
        list(check("cmnist"))
    assert not (here / "raw").exists()


def test_a_check_downloads_no_tokenizer(here, monkeypatch, made_up_sizes):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(here))
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(here / "weights"))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a download"))
    with pytest.raises(InputError, match=r"this check downloads nothing: .*bert-base-uncased/vocab.txt is not there"):
        list(check("civilcomments"))
    with pytest.raises(InputError, match=r"hf/me--small/config.json is not there.*me--small--COMMIT"):
        list(check("civilcomments+vocabulary=me--small"))


def test_a_check_decodes_images_of_each_split(monkeypatch, made_up_sizes):
    def make(rows):
        if rows.start <= 9 < rows.stop:
            raise InputError("9.jpg cannot be used")
        return np.zeros((1, 4, 4, 3), np.uint8)

    table = pd.DataFrame({"split": ["train"] * 9 + ["test"], "y": 0, "a": 0, "original": range(10)})
    about = {"size": 4, "classes": ["0"], "attribute": "a", "attributes": ["0"], "select": "val", "headline": "test"}
    made = Dataset(Lazy((10, 4, 4, 3), np.uint8, make), table, about)
    monkeypatch.setattr(waterbirds, "build", lambda *_: made)
    with pytest.raises(InputError, match=r"9\.jpg"):
        list(check("waterbirds"))


@pytest.mark.parametrize("dataset", list_components("datasets"))
def test_the_license_of_a_data_set_is_known_without_its_files(dataset):
    known = {"cifar10", "cifar100", "cifar10_001", "cifar10_02", "stl10"}  # whose authors state none
    assert find_statement(dataset, "LICENSE").startswith("not stated") == (dataset in known)


@pytest.mark.parametrize("dataset", list_components("datasets"))
def test_the_table_of_raw_files_has_the_data_sets_that_cannot_be_made_without(dataset, here, monkeypatch):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(here / "raw"))
    (point,) = resolve("datasets", dataset).points
    raw = point.source or point
    needed = raw_files.list_patterns(raw)
    try:
        list(check(dataset))
        lacking = False
    except InputError:
        lacking = True
    assert lacking == bool(needed)
    if needed and dataset != "bring_your_own":
        assert find_statement(raw.base_name, "SOURCE").startswith("http")


def test_the_raw_data_of_a_configuration_is_looked_for_and_not_read(here, monkeypatch):
    Path("own.yaml").write_text(
        "papers: [cnc]\nseeds: 1\nmethods: [erm]\ndatasets: {waterbirds: waterbirds, celeba: celeba, cmnist: cmnist}\n"
    )
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(here / "raw"))
    for name in ("waterbirds_v1.0/metadata.csv", "celeba/Anno/list_attr_celeba.txt", "celeba/img_align_celeba/1.jpg"):
        (here / "raw" / name).parent.mkdir(parents=True)
        (here / "raw" / name).touch()
    lines = []
    with pytest.raises(SettingError, match=r"1 of \d+ data sets are missing: celeba"):
        for line in check(configfile=Path("own.yaml")):
            lines.append(line)
    assert "present   waterbirds" in lines
    (celeba,) = (line for line in lines if line.startswith("missing"))
    assert celeba.startswith("missing   celeba: celeba/list_eval_partition.txt; from https://mmlab")
    assert any(line.startswith("download  cmnist: mnist/train-images") for line in lines)
    (here / "raw/celeba/list_eval_partition.csv").touch()
    assert not any(line.startswith("missing") for line in check(configfile=Path("own.yaml")))


def test_weights_that_nothing_downloads_are_looked_for_too(here, monkeypatch):
    Path("own.yaml").write_text(
        "papers: [cnc]\nseeds: 1\nmethods: [erm]\ndatasets: {waterbirds: waterbirds}\n"
        "artifacts: {cnc: {table_1: {settings: encoder=timm}}}\n"
    )
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(here / "raw"))
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(here / "weights"))
    (here / "raw/waterbirds_v1.0").mkdir(parents=True)
    (here / "raw/waterbirds_v1.0/metadata.csv").touch()
    with pytest.raises(InputError, match=r"encoder timm starts .*put it there, or set DESPUR_WEIGHTS_ROOT"):
        list(check(configfile=Path("own.yaml")))
    file = here / "weights/timm/vit_small_patch16_224.safetensors"
    file.parent.mkdir(parents=True)
    file.touch()
    assert any(line.startswith("present   weights of timm") for line in check(configfile=Path("own.yaml")))


def test_a_bundled_configuration_needs_no_raw_data_and_one_of_both_is_asked_for(here):
    assert {line.split()[0] for line in list(check(configfile=Path("config.yaml")))[1:]} == {"bundled"}
    for asked in ({}, {"dataset": "cmnist", "configfile": Path("config.yaml")}):
        with pytest.raises(SettingError, match="name a data set"):
            list(check(**asked))


def test_what_no_configuration_asks_for_is_listed_and_kept(here):
    kept = [
        *(
            artifact_run.folders[0]
            for artifact_run in experiments.list_artifact_runs(
                configuration.load_configuration(Path("config.yaml")), "cnc", "table_1"
            )
        ),
        RUN,
        "results/runs/colored_digits/con/s0-2",
        "results/groups/colored_digits/oracle/s0-2",
        "results/stage1/colored_digits/erm/s0-2",
        "results/data/colored_digits",
    ]
    alone = ["results/runs/colored_digits/erm+epochs=1/s0", "results/data/cmnist"]
    for folder in [*kept, *alone]:
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / "about.json").write_bytes(b"x" * 1_500_000)
    *lines, total = list_unused()
    assert sorted(line.split()[-1] for line in lines) == sorted(alone)
    assert all(line.split()[:2] == ["1.5", "MB"] for line in lines) and total.split()[:2] == ["3.0", "MB"]
    assert all((Path(folder) / "about.json").exists() for folder in [*kept, *alone])


def test_checkpoints_from_which_no_training_goes_on_are_listed_and_kept(here):
    kept = [
        *list_checkpoints(locate_result(RUN)),  # in single precision and in bf16
        locate_checkpoints(locate_result("results/stage1/colored_digits/erm/s0-2")),
    ]
    alone = [
        locate_checkpoints(locate_result("results/runs/colored_digits/erm+epochs=1/s0")),
        Path("results/.resume/0123456789abcdef"),  # of other code
    ]
    for folder in [*kept, *alone]:
        folder.mkdir(parents=True)
        (folder / "1,s0.pt").write_bytes(b"x" * 1_500_000)
    *lines, total = list_unused()
    assert sorted(line.split()[-1] for line in lines) == sorted(map(str, alone))
    assert all(line.split()[:2] == ["1.5", "MB"] for line in lines) and total.split()[:2] == ["3.0", "MB"]
    assert all((folder / "1,s0.pt").exists() for folder in [*kept, *alone])


def despur(*words):
    return subprocess.run([sys.executable, "-m", "despur", *words], capture_output=True, text=True)


def test_the_command_line_answers_or_says_what_is_wrong(here):
    assert "Correct-N-Contrast" in despur("list", "papers").stdout
    wrong = despur("explain", "results/runs/colored_digits/gdroo/s0")
    assert wrong.returncode == 1 and wrong.stderr.startswith("error: ") and "did you mean gdro" in wrong.stderr


def test_names_are_explained_without_torch_or_pandas(here):
    code = (
        "import sys; from despur.cli.explain import explain; from despur.cli.list import list_kind; "
        f"from despur.cli.unused import list_unused; list(explain({RUN!r})); list(list_kind('claims')); "
        "list(list_unused()); sys.exit(bool({'torch', 'pandas', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_reader_that_has_enough_ends_it_quietly(here):
    """As in ``| head``; here the reader has gone before the first line."""
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([sys.executable, "-m", "despur", "list", "claims"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert ended.stderr == b""


@pytest.mark.parametrize("part", ["s9", "s09", "s0/"])
def test_a_path_that_cannot_be_is_said_in_short(part):
    with pytest.raises(SettingError) as caught:
        next(explain(f"results/runs/colored_digits/erm/{part}{5000 * '9'}-"))
    assert len(str(caught.value)) < 700
