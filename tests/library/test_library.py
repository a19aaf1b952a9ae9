"""The package as a library: data sets for torch, and training without Snakemake."""

import os
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from project import SOURCE, Project
from rehearsal.raw_files import write_waterbirds
from torch.utils.data import TensorDataset

import despur
from despur.datasets.sources.own_files import read_npz
from despur.library.own_data import collect_arrays, locate_data, store_input
from despur.library.train import list_unmade, run_program, spell_run, use_data_root
from despur.specs.paths import data_root
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.dataset_checks import build_dataset
from despur.storage.reading import InputError

CNC = "cnc+epochs=1+groups=predictions+stage1.epochs=1"


def make_split(count, seed):
    """Embeddings of which the first number tells the class, the second the attribute."""
    rng = np.random.default_rng(seed)
    y, a = rng.integers(0, 2, count), rng.integers(0, 2, count)
    inputs = rng.normal(size=(count, 4)) + 4 * np.stack([y, a, y * 0, y * 0], axis=1)
    return TensorDataset(torch.tensor(inputs, dtype=torch.float32), torch.tensor(y), torch.tensor(a))


def own_splits():
    return {"train": make_split(80, 0), "val": make_split(40, 1), "test": make_split(40, 2)}


def test_samples_are_inputs_classes_and_attributes():
    digits = despur.dataset("colored_digits", split="val")
    image, y, a = next(iter(torch.utils.data.DataLoader(digits, batch_size=4)))
    assert image.shape == (4, 3, 32, 32) and image.min() >= -1 and image.max() <= 1 and image.dtype == torch.float32
    stored = build_dataset(resolve("datasets", "colored_digits").points[0], digits.root)
    rows = stored.rows("val")
    assert len(digits) == len(rows) and (y == torch.from_numpy(stored.y[rows[:4]])).all()
    assert (a == torch.from_numpy(stored.a[rows[:4]])).all()
    center = stored.inputs[rows[0]][4:36, 4:36].transpose(2, 0, 1) / 127.5 - 1
    np.testing.assert_allclose(image[0].numpy(), center, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "shape"), [("domain_digits", (3, 16, 16)), ("scene_subclasses", (3, 32, 32)), ("scene_embeddings", (32,))]
)
def test_bundled_data_sets_give_samples_of_the_stated_shape(name, shape, tmp_path):
    samples = despur.dataset(name, split="val", root=tmp_path)
    shown, y, a = samples[len(samples) - 1]
    assert shown.shape == shape and shown.dtype == torch.float32
    assert y in range(len(samples.classes)) and a in range(len(samples.attributes))
    assert samples.group_mask.shape == (len(samples), len(samples.groups)) and samples.group_mask[-1].any()


@pytest.mark.usefixtures("made_up_sizes")
def test_raw_files_are_read_below_the_root(tmp_path):
    write_waterbirds(tmp_path)
    birds = despur.dataset("waterbirds", root=tmp_path, split="test")
    image, y, a = birds[0]
    assert image.shape == (3, 224, 224)
    assert birds.group_mask[0, birds.groups.index(f"{birds.classes[y]}, {birds.attributes[a]}")]


def test_a_split_or_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingError, match="no split dev; it has train, "):
        despur.dataset("colored_digits", split="dev")
    with pytest.raises(InputError, match="waterbirds"):
        despur.dataset("waterbirds", root=tmp_path)


def test_data_of_ones_own_become_a_file_that_the_pipeline_reads(tmp_path):
    splits = own_splits()
    name, root = locate_data(splits, tmp_path)
    features, table, _ = read_npz(next((root / "bring_your_own").iterdir()))
    inputs, y, a = splits["train"].tensors
    assert np.array_equal(features[:80], inputs) and np.array_equal(table["y"][:80], y) and len(table) == 160
    assert np.array_equal(table["a"][:80], a) and np.array_equal(table["split"], np.repeat(list(splits), [80, 40, 40]))
    assert locate_data(splits, tmp_path) == (name, root)  # the same data have the same name
    assert locate_data({**splits, "test": splits["val"]}, tmp_path)[0] != name
    other = {key: TensorDataset(*bytes_alike(every.tensors)) for key, every in splits.items()}
    assert locate_data(other, tmp_path)[0] != name  # the same bytes, of another shape


def bytes_alike(tensors):
    """Inputs of half the length, of a type that takes twice as many bytes; labels as they are."""
    inputs, *labels = tensors
    return inputs.contiguous().view(torch.float64), *labels


def test_images_are_kept_as_bytes():
    image = np.zeros((3, 2, 2), np.float32)
    image[0, 1, 0] = 128 / 255
    assert store_input(image)[1, 0].tolist() == [128, 0, 0] and store_input(image).dtype == np.uint8
    with pytest.raises(InputError, match=r"from -1 to 0: float images are in \[0,1\]"):
        store_input(np.where(image > 0, 0, -1.0))
    with pytest.raises(InputError, match="from nan to nan"):
        store_input(np.full((3, 2, 2), np.nan))
    with pytest.raises(InputError, match=r"\(2, 2, 3\): bring \(C,H,W\)"):
        store_input(image.transpose(1, 2, 0))


def test_samples_that_are_computed_end_with_the_length_of_their_split():
    class Computed(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return np.full(2, i, np.float32), i % 2, 0

    arrays = collect_arrays({"train": Computed(), "val": iter([(np.zeros(2, np.float32), 1, -1)])})
    assert arrays["y"].tolist() == [0, 1, 0, 1, 1] and arrays["a"].tolist() == [0, 0, 0, 0, -1]


@pytest.mark.parametrize("samples", [[(np.zeros(2), 0)], [], [1]])
def test_what_is_no_sample_with_class_and_attribute_is_refused(samples):
    with pytest.raises(SettingError, match=r"^each sample is \(input, class, attribute\)"):
        collect_arrays({"train": samples})


@pytest.mark.parametrize("before", [None, "elsewhere"])
def test_the_folder_of_raw_data_is_another_one_only_meanwhile(monkeypatch, before):
    monkeypatch.setenv("DESPUR_DATA_ROOT", before) if before else monkeypatch.delenv("DESPUR_DATA_ROOT", raising=False)
    with pytest.raises(KeyError), use_data_root(Path("mine")):
        assert data_root() == Path("mine")
        raise KeyError
    assert os.environ.get("DESPUR_DATA_ROOT") == before


def test_names_and_seeds_are_checked_before_anything_runs(tmp_path):
    with pytest.raises(SettingError, match="cnc"):
        spell_run(tmp_path, "cnk", "colored_digits", 1)
    with pytest.raises(SettingError, match="seeds=0"):
        spell_run(tmp_path, "erm", "colored_digits", 0)
    with pytest.raises(SettingError, match="is list: name a data set, or bring"):
        despur.train("erm", [1])


def test_stages_are_made_in_order_and_once(tmp_path):
    run = spell_run(tmp_path, CNC, "colored_digits", 2)
    made = []
    for result in list_unmade(run):
        result.folder.mkdir(parents=True)
        made.append((result.stage, result.seeds))
    assert made == [("data", ""), ("stage1", "s0-1"), ("groups", "s0-1"), ("runs", "s0-1")]
    assert not [*list_unmade(run)]


def test_what_follows_from_changed_data_is_made_again(tmp_path):
    file = tmp_path / "raw/bring_your_own/mine.npz"
    file.parent.mkdir(parents=True)
    run, stages = spell_run(tmp_path, "dfr", "bring_your_own+name=mine", 1), []
    with use_data_root(tmp_path / "raw"):
        for content in ("one", "one", "two"):
            file.write_text(content)
            stages.append([])
            for result in list_unmade(run):
                result.folder.mkdir(parents=True, exist_ok=True)
                stages[-1].append(result.stage)
    assert stages == [(every := ["data", "stage1", "groups", "runs"]), [], every]


def test_what_a_stage_refuses_is_an_error(tmp_path):
    with pytest.raises(SettingError, match=r"^\S+data/colored_digits/table.parquet is not there"):
        run_program("runs", spell_run(tmp_path, "erm", "colored_digits", 1))


def test_warnings_of_a_stage_are_warnings_wherever_it_prints_them(tmp_path, monkeypatch):
    done = SimpleNamespace(returncode=0, stdout="warning: one\nelse\n", stderr="warning: two\n")
    monkeypatch.setattr("subprocess.run", lambda *command, **options: done)
    with pytest.warns(UserWarning) as told:
        run_program("runs", spell_run(tmp_path, "erm", "colored_digits", 1))
    assert [str(warning.message) for warning in told] == ["one", "two"]


@pytest.mark.long
def test_digits_are_those_of_the_pipeline(tmp_path):
    project = Project.fresh(tmp_path / "project")
    target = f"results/runs/colored_digits/{CNC}/s0-1/metrics.csv"
    project.snakemake(target)
    despur.train(CNC, "colored_digits", seeds=2, results=tmp_path / "library")
    ours = tmp_path / f"library/runs/colored_digits/{CNC}/s0-1/metrics.csv"
    assert ours.read_text() == (project.root / target).read_text()


@pytest.mark.long
def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/library.md").read_text(), re.DOTALL)
    exec("\n".join(blocks), {})
    assert re.search(r"^erm +0\.\d+", capsys.readouterr().out, re.MULTILINE)
