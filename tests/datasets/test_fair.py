"""Loaders of embeddings and texts with a protected attribute, on miniature files, whole and faulty."""

import os
import pickle
from argparse import Namespace
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch
from helpers import OPTIONS, read, result, some, well_formed
from PIL import Image

from despur import data
from despur.datasets.bios import PROFESSIONS
from despur.datasets.sources import text
from despur.encoders import bigru
from despur.evaluate import evaluate
from despur.specs.resolution import resolve
from despur.storage.containers import Container
from despur.storage.store import InputError, load_dataset, save_dataset
from despur.training.runs import train_all

RNG = np.random.default_rng


def sizes(dataset, split):
    rows = dataset.rows(split)
    return Counter(zip(dataset.y[rows].tolist(), dataset.table["a"].to_numpy()[rows].tolist(), strict=True))


# Moji


MOJI = "moji+held_out=8+train=40"


@pytest.fixture
def moji(tmp_path):
    """Four files of 40 rows; a vector says which file and row it is."""
    (tmp_path / "moji").mkdir()
    for number, name in enumerate(("neg_neg", "neg_pos", "pos_neg", "pos_pos")):
        np.save(tmp_path / "moji" / f"{name}.npy", np.stack([np.full(40, number), np.arange(40), np.zeros(40)], axis=1))
    return tmp_path


def test_moji_has_the_skew_of_the_paper_and_balanced_held_out_splits(moji):
    dataset = well_formed(read(MOJI, moji))
    assert sizes(dataset, "train") == {(1, 1): 16, (1, 0): 4, (0, 1): 4, (0, 0): 16}
    assert sizes(dataset, "val") == sizes(dataset, "test") == dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)], 2)
    assert sizes(read(f"{MOJI}+ratio=0.5", moji), "train") == dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)], 10)
    assert dataset.inputs.dtype == np.float32


def test_moji_rows_belong_to_their_files_and_to_one_split(moji):
    dataset = read(MOJI, moji)
    assert (dataset.inputs[:, 0] == 2 * dataset.y + dataset.table["a"]).all()
    assert (dataset.inputs[:, 1] == dataset.table["row"]).all()
    assert not dataset.table.duplicated(["y", "a", "row"]).any()
    other = read(f"{MOJI}+draw=1", moji)
    assert (other.table["row"] != dataset.table["row"]).any() and read(MOJI, moji).table.equals(dataset.table)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a[:, 0], ["pos_neg.npy", "(40,)"]),
        (lambda a: a.astype(int), ["pos_neg.npy", "int64"]),
        (lambda a: a[:, :2], ["dimensions", "[2, 3]"]),
        (lambda a: a[:7], ["pos_neg.npy", "7 rows", "8 are needed"]),
        (lambda a: some(a, (slice(None), 2), np.nan), ["moji", "finite"]),
        (lambda a: some(a, (slice(None), 2), np.inf), ["finite"]),
    ],
)
def test_faulty_moji_files_are_refused_by_name(moji, change, words):
    path = moji / "moji" / "pos_neg.npy"
    np.save(path, change(np.load(path)))
    with pytest.raises(InputError) as error:
        read(MOJI, moji)
    assert all(word in str(error.value) for word in words)


def test_what_is_no_array_and_what_is_missing_is_refused(moji):
    path = moji / "moji" / "pos_neg.npy"
    path.write_text("not an array")
    with pytest.raises(InputError, match="pos_neg"):
        read(MOJI, moji)
    with path.open("wb") as file:
        np.savez(file, vectors=np.zeros((40, 3)))
    with pytest.raises(InputError, match=r"pos_neg.*several arrays, as an .npz"):
        read(MOJI, moji)
    path.unlink()
    with pytest.raises(InputError, match=r"pos_neg.*Download"):
        read(MOJI, moji)


# Bios


def biographies(count=56):
    professions = [PROFESSIONS[i % 28] for i in range(count)]
    return pd.DataFrame(
        {
            "profession": professions,
            "gender": ["mf"[(i // 28) % 2] for i in range(count)],
            "text": [f"A {p}." for p in professions],
        }
    )


@pytest.fixture
def bios(tmp_path):
    (tmp_path / "bios").mkdir()
    for split in ("train", "dev", "test"):
        biographies().to_parquet(tmp_path / "bios" / f"{split}.parquet")
        np.save(tmp_path / "bios" / f"{split}_cls.npy", RNG(0).normal(size=(56, 6)).astype(np.float32))
    return tmp_path


def test_bios_in_28_professions_and_as_a_pair(bios):
    dataset = well_formed(read("bios", bios))
    assert dataset.inputs.shape == (168, 6) and len(dataset.about["classes"]) == 28
    assert sizes(dataset, "train") == {(y, a): 1 for y in range(28) for a in (0, 1)}
    pair = well_formed(read("bios+professions=nurse_surgeon", bios))
    assert pair.about["classes"] == ["nurse", "surgeon"] and len(pair.table) == 12
    rows = np.flatnonzero(np.isin(dataset.y, [PROFESSIONS.index("nurse"), PROFESSIONS.index("surgeon")]))
    np.testing.assert_array_equal(pair.inputs, dataset.inputs[rows])


def test_bios_from_pickles_is_the_same_and_runs_no_code(bios, tmp_path):
    expected = read("bios", bios)
    for split in ("train", "dev", "test"):
        (bios / "bios" / f"{split}.parquet").unlink()
        rows = (
            biographies()
            .assign(text=lambda t: t["text"].str.split())
            .rename(columns={"profession": "p", "gender": "g", "text": "hard_text"})
            .to_dict("records")
        )
        (bios / "bios" / f"{split}.pickle").write_bytes(pickle.dumps(rows))
    as_words = read("bios+features=tokens", bios)
    assert as_words.inputs[0, :3].tolist() == [
        2 + as_words.about["words"].index(word) for word in ("a", "accountant", ".")
    ]
    found = read("bios", bios)
    assert found.table.equals(expected.table) and (found.inputs == expected.inputs).all()

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trace"),)

    (bios / "bios/dev.pickle").write_bytes(pickle.dumps([Evil()]))
    with pytest.raises(InputError, match=r"dev.pickle.*mkdir"):
        read("bios", bios)
    assert not (tmp_path / "trace").exists()


def test_the_words_of_a_biography_are_those_without_its_first_line(bios):
    """Pickles as INLP writes them: ``text`` is the whole biography, whose first line names the profession."""
    for split in ("train", "dev", "test"):
        (bios / "bios" / f"{split}.parquet").unlink()
        rows = [
            {
                **{"g": row.gender, "p": row.profession, "text": f"Kim is a {row.profession}. Kim lives.", "start": 9},
                **{
                    "hard_text": " Kim lives.",
                    "text_without_gender": "_ lives.",
                    "hard_text_tokenized": "  Kim lives .",
                },
            }
            for row in biographies().itertuples()
        ]
        (bios / "bios" / f"{split}.pickle").write_bytes(pickle.dumps(rows))
    dataset = read("bios+features=tokens", bios)
    assert sorted(dataset.about["words"]) == [".", "kim", "lives"]


def test_bios_as_words(bios):
    dataset = well_formed(read("bios+features=tokens+length=5+words=4", bios))
    assert dataset.inputs.shape == (168, 5) and dataset.inputs.dtype == np.int32
    assert dataset.about["words"][:2] == [".", "a"]  # 56 times each, then in alphabetical order
    assert dataset.inputs[0].tolist() == [3, 4, 2, 0, 0]  # a, accountant, .


def test_missing_vectors_of_bert_are_named_with_their_address(bios):
    (bios / "bios/dev_cls.npy").unlink()
    with pytest.raises(InputError, match=r"dev_cls.npy.*bert_encode_biasbios.*features=tokens"):
        read("bios", bios)
    np.save(bios / "bios/dev_cls.npy", np.full((56, 6), np.nan))
    with pytest.raises(InputError, match=r"dev_cls.npy.*: sample 56 .*finite"):
        read("bios", bios)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.assign(gender="m"), ["same attribute"]),
        (lambda t: t.assign(profession="nurse"), ["no training sample of class", "split val"]),
        (lambda t: t.assign(gender="x"), ["train", "'x'", "m, f"]),
        (lambda t: t.assign(gender=b"m"), ["train", "b'm'", "m, f"]),
        (lambda t: t.drop(columns="gender"), ["train.parquet", "gender"]),
        (lambda t: t[:30], ["train_cls.npy", "56", "30"]),
    ],
)
def test_faulty_biographies_are_refused(bios, change, words):
    change(biographies()).to_parquet(bios / "bios/train.parquet")
    with pytest.raises(InputError) as error:
        read("bios", bios)
    assert all(word in str(error.value) for word in words)


# hate speech


@pytest.fixture
def tweets(tmp_path):
    (tmp_path / "hate_speech").mkdir()
    lines = [
        "tid\ttext\tage\tlabel",
        '1\tI love "you\t1\t0',
        "2\tyou all go\t0\t1",
        "3\tunknown age\tx\t1",
        "4\t love love\t1\t1",
        "5\tgo\t0\t0",
    ]
    for split in ("train", "valid", "test"):
        (tmp_path / "hate_speech" / f"{split}.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_tweets_become_words_and_authors_without_age_are_left_out(tweets):
    dataset = well_formed(read("hate_speech_tweets+length=6+words=3", tweets))
    assert dataset.about["words"] == ["love", "go", "you"]
    assert dataset.inputs[:4].tolist() == [
        [1, 2, 1, 4, 0, 0],
        [4, 1, 3, 0, 0, 0],
        [2, 2, 0, 0, 0, 0],
        [3, 0, 0, 0, 0, 0],
    ]
    assert dataset.y[:4].tolist() == [0, 1, 1, 0] and dataset.table["a"][:4].tolist() == [1, 0, 1, 0]


def test_ages_in_years_are_cut_at_29_and_other_text_is_refused(tweets):
    path = tweets / "hate_speech/train.tsv"
    path.write_text("text\tage\tlabel\na b\t29\t0\nb\t30\tno\nc\t18\tspam\nd\t64.5\t1\n")
    dataset = read("hate_speech_tweets", tweets)
    assert dataset.table["a"][:4].tolist() == [1, 0, 1, 0] and dataset.y[:4].tolist() == [0, 0, 1, 1]
    path.write_text("text\tage\tlabel\na b\told\t0\nb\t30\t0\n")
    with pytest.raises(InputError, match=r"train.tsv: age 'old'"):
        read("hate_speech_tweets", tweets)
    path.write_text("text\tlabel\na b\t0\n")
    with pytest.raises(InputError, match=r"train.tsv has no column age"):
        read("hate_speech_tweets", tweets)


def test_tweets_as_vectors(tweets):
    for split in ("train", "valid", "test"):
        np.save(tweets / "hate_speech" / f"{split}.npy", np.arange(10.0).reshape(5, 2))
    dataset = well_formed(read("hate_speech+features=vectors", tweets))
    assert dataset.inputs[:4].tolist() == [[0, 1], [2, 3], [6, 7], [8, 9]]  # without the third
    np.save(tweets / "hate_speech/test.npy", np.zeros((4, 2)))
    with pytest.raises(InputError, match="4 rows"):
        read("hate_speech+features=vectors", tweets)


def test_words_of_a_text():
    assert text.words("It's 2 dogs... OK?") == ["it", "'", "s", "2", "dogs", ".", ".", ".", "ok", "?"]
    assert text.vocabulary(["b a", "a c"], 2) == ["a", "b"]
    assert text.tokens(["", "a z a a"], ["a"], 3).tolist() == [[0, 0, 0], [2, 1, 2]]


def test_a_bigru_reads_a_text_the_same_whatever_the_padding():
    torch.manual_seed(0)
    encoder = bigru.build({"hidden": 5, "words": 9, "embedding": 4, "dropout": 0.0}, (6,)).eval()
    words = torch.tensor([[2, 3, 4, 0, 0, 0], [5, 6, 7, 8, 2, 3], [0, 0, 0, 0, 0, 0]], dtype=torch.int32)
    found = encoder(words)
    assert found.shape == (3, 10) == (3, encoder.dim) and found.isfinite().all()
    torch.testing.assert_close(encoder(words[:1, :3])[0], found[0])
    embedded = encoder.embedding(words[:1, :3])
    # forwards: the state after the last word
    torch.testing.assert_close(encoder.gru(embedded)[0][0, 2, :5], found[0, :5])
    torch.testing.assert_close(encoder.gru(embedded)[0][0, 0, 5:], found[0, 5:])  # backwards: after the first
    with pytest.raises(ValueError, match="bigru"):
        bigru.build({}, (3, 32, 32))


def test_a_bigru_is_trained_first_and_then_represents_the_tweets(tweets):
    results = tweets / "results"
    (base,) = result(results, "data/hate_speech").upstream("stage1")
    assert base == result(results, "stage1/hate_speech_tweets/erm/s0")
    assert not result(results, "data/hate_speech+features=vectors").upstream("stage1")
    save_dataset(base.data.folder, {"hate_speech_tweets": read("hate_speech_tweets", tweets)})
    train_all(base, OPTIONS)
    data.build(result(results, "data/hate_speech"), Namespace(data_root=tweets))
    (run,) = base.runs()
    given, found = (
        load_dataset(base.data.folder, "hate_speech_tweets"),
        load_dataset(results / "data/hate_speech", "hate_speech"),
    )
    z = Container(base.folder / "outputs.safetensors")[f"{run.key}/best/z"]
    assert run.spec.components["encoder"].base_name == "bigru" and z.shape == (12, 400)
    np.testing.assert_array_equal(found.inputs, z.astype(np.float32))
    kept = {k: v for k, v in given.about.items() if k != "words"}
    assert found.table.equals(given.table) and found.about == kept | {"raw": {}}


def test_what_sits_on_fixed_vectors_is_trained_and_evaluated(tweets):
    results = tweets / "results"
    for split in ("train", "valid", "test"):
        np.save(tweets / "hate_speech" / f"{split}.npy", RNG(0).normal(size=(5, 6)))
    name = "hate_speech+features=vectors"
    save_dataset(results / f"data/{name}", {name: read(name, tweets)})
    at = result(results, f"runs/{name}/erm+epochs=2/s0")
    train_all(at, OPTIONS)
    evaluate(at, OPTIONS)
    (run,) = at.runs()
    assert run.spec.components["encoder"].base_name == "mlp" and Container(at.folder / "outputs.safetensors")[
        f"{run.key}/best/z"
    ].shape == (12, 300)
    metrics = (
        pd.read_csv(at.folder / "metrics.csv")
        .query("split == 'test' and selection == 'best'")
        .set_index("metric")["value"]
    )
    assert {"gap", "leakage_representations", "leakage_logits", "leakage_representations_nonlinear"} <= set(
        metrics.index
    )
    assert set(pd.read_csv(at.folder / "history.csv")["name"]) > {"val_log_likelihood"}


# imSitu


@pytest.fixture
def imsitu(tmp_path):
    folder = tmp_path / "imsitu"
    (folder / "images").mkdir(parents=True)
    verbs = ["cooking", "baking", "running", "jumping"]
    (folder / "classes.csv").write_text("verb,class\ncooking,make\nbaking,make\nrunning,move\njumping,move\n")
    for number, split in enumerate(("train", "dev", "test")):
        table = pd.DataFrame(
            {"image": [f"{split}{i}.png" for i in range(4)], "verb": verbs, "gender": ["man", "woman", "woman", "man"]}
        )
        table.to_csv(folder / f"{split}.csv", index=False)
        np.save(folder / f"{split}.npy", np.full((4, 3), float(number)))
        for i, name in enumerate(table["image"]):
            Image.new("RGB", (30, 20), (10 * i, number, 0)).save(folder / "images" / name)
    return tmp_path


def test_imsitu_vectors_and_coarse_classes(imsitu):
    dataset = well_formed(read("imsitu", imsitu))
    assert dataset.about["classes"] == ["make", "move"] and dataset.y[:4].tolist() == [0, 0, 1, 1]
    assert (
        dataset.table["a"][:4].tolist() == [0, 1, 1, 0] and dataset.inputs[:, 0].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    )


def test_imsitu_photographs(imsitu):
    dataset = well_formed(read("imsitu_images+size=16", imsitu))
    assert dataset.inputs.shape == (12, 16, 16, 3) and dataset.inputs.dtype == np.uint8 and dataset.about["size"] == 16
    assert (dataset.inputs[6:7] == [20, 1, 0]).all()
    assert resolve("methods", "erm", "imsitu_images", "stage1").points[0].components["encoder"].base_name == "resnet50"
    (imsitu / "imsitu/images/dev1.png").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"dev1.png"):
        read("imsitu_images", imsitu).inputs[4:6]
    (imsitu / "imsitu/images/dev1.png").unlink()
    with pytest.raises(InputError, match=r"dev1.png is not there \(1 of 12"):
        read("imsitu_images", imsitu)


def pickled(folder, names, column, cells):
    """Tables as fairlib and the released code pickle them: classes and genders are numbers."""
    folder.mkdir()
    for name in names:
        table = pd.DataFrame({column: cells, "verb": [0, 0, 11, 11], "gender": [0, 1, 1, 0]}, index=[3, 1, 2, 0])
        table.to_pickle(folder / name)
    return folder.parent


def test_pickles_of_imsitu_in_the_form_of_fairlib(tmp_path):
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    standardized = [(torch.full((8, 8, 3), i / 3) - mean).div(deviation).permute(2, 0, 1) for i in range(4)]
    names = [f"imsitu_{split}_df.pkl" for split in ("train", "dev", "test")]
    root = pickled(tmp_path / "imsitu", names, "transformed_images", standardized)
    dataset = well_formed(read("imsitu_images+size=8", root))
    assert dataset.inputs.dtype == np.uint8 and dataset.about["classes"] == ["0", "11"]
    assert dataset.inputs[:4, 5, 5].tolist() == [[85 * i] * 3 for i in range(4)]
    assert dataset.y[:4].tolist() == [0, 0, 1, 1] and dataset.table["a"][:4].tolist() == [0, 1, 1, 0]
    with pytest.raises(InputError, match="use size=8"):
        read("imsitu_images", root)
    pd.DataFrame({"transformed_images": [torch.zeros(3, 8, 8) - 9], "verb": [0], "gender": [0]}).to_pickle(
        root / "imsitu/imsitu_train_df.pkl"
    )
    with pytest.raises(InputError, match=r"imsitu_train_df.pkl.*standardized"):
        read("imsitu_images+size=8", root)


def test_pickles_of_imsitu_in_the_form_of_the_released_code_and_code_in_them(tmp_path):
    vectors = [np.arange(5, dtype=np.float32) + i for i in range(4)]
    names = [f"verb_full_{split}_df.pickle" for split in ("train", "val", "test")]
    root = pickled(tmp_path / "imsitu", names, "features", vectors)
    dataset = well_formed(read("imsitu", root))
    assert dataset.inputs[:, 0].tolist() == [0, 1, 2, 3] * 3 and dataset.y[:4].tolist() == [0, 0, 1, 1]

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trace"),)

    pd.DataFrame({"features": [Evil()], "verb": [0], "gender": [0]}).to_pickle(root / "imsitu/verb_full_val_df.pickle")
    with pytest.raises(InputError, match=r"verb_full_val_df.pickle.*mkdir"):
        read("imsitu", root)
    assert not (tmp_path / "trace").exists()


def test_a_resnet50_is_fine_tuned_in_two_phases_and_then_represents_the_photographs(tmp_path):
    """Experiment 4: the last layer with 1e-4 and batches of 128, then all with 1e-5 and 64, at most 60 epochs each."""
    (base,) = result(tmp_path, "data/imsitu+features=embedded").upstream("stage1")
    assert base == result(tmp_path, "stage1/imsitu_images/head_first/s0")
    (run,) = base.runs()
    stated = {
        "head_learning_rate": 1e-4,
        "head_batch_size": 128,
        "head_epochs": 60,
        "learning_rate": 1e-5,
        "batch_size": 64,
        "epochs": 60,
    }
    stated |= {"optimizer": "adam", "patience": 5, "encoder": "resnet50"}
    assert run.spec.settings.items() >= stated.items() and run.spec.components["encoder"].settings == {
        "weights": "imagenet"
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("classes.csv", "baking,make\n", "", ["classes.csv", "baking"]),
        ("train.csv", "woman", "child", ["gender", "'child'", "man, woman"]),
        ("train.csv", "woman", "man", ["same attribute"]),
        ("classes.csv", "move", "make", ["same class"]),
        ("dev.csv", "dev3.png,jumping,man\n", "", ["12 inputs", "11 labels"]),
    ],
)
def test_faulty_imsitu_files_are_refused(imsitu, file, old, new, words):
    path = imsitu / "imsitu" / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError) as error:
        read("imsitu", imsitu)
    assert all(word in str(error.value) for word in words)
