"""CivilComments-WILDS (Borkan et al. 2019; Koh et al. 2021; Zhang et al. 2022, App. E.1): is a comment toxic, whomever
it mentions?

From your copy under DESPUR_DATA_ROOT. 448,000 comments, tokenized once: 0.5 GB of disk under results/data.

Evaluation has 16 groups, class x mentioned identity. A comment that mentions several identities is in several of them,
one that mentions none is in none and counts for the average only. Where a method or a metric needs one disjoint
attribute, it is "mentions any of the eight identities" (Sec. 5: "A denotes whether the comment mentions one of eight
demographic identities"), as in the code of JTT. For Group DRO the paper states none; WILDS trains it on label x Black:
civilcomments+attribute=black. With attribute=identity the groups are fine in training, too, as in SubpopBench (Yang et
al. 2023): a comment is a sample of each identity that it mentions, and of none if it mentions none. ``despur check``
compares the sizes of WILDS's splits; published sizes of these fine groups could not be looked up."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import metadata_tables
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, for_each, int_, name
from despur.storage.store import Array, Dataset, InputError
from despur.storage.tokenizers import tokenize

SETTINGS = {
    "tokens": int_(300, "App. E.2.2: a comment is cut after so many", at_least=8, at_most=512),
    "vocabulary": name(
        "bert",
        "App. E.2.2: of bert-base-uncased; gpt2: of GPT-Neo, roberta: of RoBERTa and BART (encoder=language_model); "
        "any other: the model of encoder=hf",
    ),
    "attribute": choice(
        "any",
        "Sec. 5: mentions an identity; black: as WILDS trains Group DRO; identity: which one it mentions, as "
        "SubpopBench's CivilCommentsFine",
        *("any", "black", "identity"),
    ),
}

# Where Zhang et al. copy a result ("we defer to the original papers", App. E.2.5), the original's settings as far as
# the text or released codes say them; what none of them states is as for ERM.
PAPER_HYPERPARAMETERS = {
    # WILDS's defaults, which App. E.2.2 follows, with AdamW; decay and clip as in CNC's released code.
    "*": {
        "encoder": "bert",
        "optimizer": "adamw",
        "learning_rate": 1e-5,
        "weight_decay": 1e-2,
        "batch_size": 16,
        "epochs": 5,
        "decay": "linear",
        "clip": 1.0,
    },
    "afr": {
        **read_declarations("datasets", "waterbirds")["PAPER_HYPERPARAMETERS"]["afr"],
        "decay": "none",
        "optimizer": "sgd",
    },
    "zero_shot": {"encoder": "sentence"},  # ours: a small model. The paper's are GPT-Neo, RoBERTa and BART
    # App. E.2.2. Its ReduceLROnPlateau does nothing within two epochs; no clipping is stated.
    "stage1/erm": {"optimizer": "sgd", "momentum": 0.9, "epochs": 2, "decay": "none", "clip": 0},
    # App. E.2.4; anchor_fraction, decay and clip: released code. The head's gradient is cleared at each step: kept
    # over an epoch, as the released code does, it would be most of the norm that is clipped, and the encoder would not
    # learn.
    **for_each(  # supcon: App. A.3: as cnc; the paper does not run it
        "cnc supcon",
        num_positives=16,
        num_negatives=16,
        temperature=0.1,
        learning_rate=1e-4,
        epochs=10,
        accumulation=128,
        anchor_fraction=0.1,
        at_once=1,
    ),
    # Liu et al. 2021, released code; the factor as their text has it (in the code 1 + 6 times). Its stage 1 has T = 2
    # epochs (Table A.8: of 1, 2) of AdamW; no schedule or clipping is stated.
    "jtt": {
        "upsampling": "constant",
        "factor": 6,
        "epochs": 3,
        "stage1.optimizer": "adamw",
        "stage1.learning_rate": 2e-5,
        "stage1.weight_decay": 0.0,
        "stage1.batch_size": 24,
        "stage1.epochs": 2,
    },
    "eiil": {"second": "gdro"},  # App. E.2.6: with GDRO's hyper-parameters; Creager et al.'s are not in the text
    "pgi": {"num_positives": 16, "num_negatives": 16},  # App. E.2.5: batches as CNC's; the paper does not run it
    # Zhang & Re 2022: for these data nothing is stated. As the released code trains elsewhere on embeddings; of the
    # anchors a tenth an epoch, as on all its data but Waterbirds.
    **for_each(
        {"linear_probe dfr_probe wise_ft adapter": {}, "contrastive_adapter": {"anchor_fraction": 0.1}},
        optimizer="sgd",
        learning_rate=1e-3,
        weight_decay=5e-5,
        batch_size=128,
        epochs=100,
        decay="none",
        clip=0,
    ),
}

PUBLISHED_SIZES = {"train": 269_038, "val": 45_180, "test": 133_782}  # Koh et al. 2021

RAW = ("civilcomments_v1.0/all_data_with_identities.csv",)

SOURCE = "https://worksheets.codalab.org/rest/bundles/0x8cd3de0634154aeaad2ee6eb96723c6e/contents/blob/"
LICENSE = "CC0"
REMEDY = (
    f"Download {SOURCE} (WILDS's CivilComments) and unpack it (again) into civilcomments_v1.0/ in the folder that "
    "DESPUR_DATA_ROOT names"
)
DOWNLOADS = (  # WILDS's
    {
        "name": "civilcomments_v1.0.tar.gz",
        "size": 90_644_480,
        "into": "civilcomments_v1.0",
        "read_in": "p-lambda/wilds, wilds/datasets/civilcomments_dataset.py",
    },
)
IDENTITIES = ["male", "female", "LGBTQ", "christian", "muslim", "other_religions", "black", "white"]
SPLITS = {name: name for name in ("train", "val", "test")}


def shares(path: Path, column: pd.Series) -> Array:
    """Whether at least half of the annotators said so, (N,). Raises InputError for what is not a share."""
    value = pd.to_numeric(column, errors="coerce")
    wrong = np.flatnonzero(~value.between(0, 1))
    if len(wrong):
        raise metadata_tables.fault(path, column, int(wrong[0]), f"expected: from 0 to 1. {REMEDY}")
    return value.to_numpy() >= 0.5


def list_samples(mentioned: Array, attribute: str) -> tuple[Array, Array, list[str]]:
    """The comment of each sample and its attribute, (N,) each, and names of the attribute's values. ``mentioned``:
    which comment mentions which identity, (comments, 8)."""
    if attribute == "identity":
        comment, identity = np.nonzero(mentioned)
        return comment, identity, IDENTITIES
    comment = np.arange(len(mentioned))
    if attribute == "any":
        return comment, np.asarray(mentioned.any(axis=1)), ["no identity", "an identity"]
    return comment, mentioned[:, IDENTITIES.index("black")], ["not black", "black"]


def build(settings: Settings, data_root: Path) -> Dataset:
    """WILDS's splits; a comment is an original."""
    path = metadata_tables.find(data_root, RAW[0], REMEDY)
    columns = ["comment_text", "split", "toxicity", *IDENTITIES]
    may_be_empty = ["comment_text", *IDENTITIES]
    raw = metadata_tables.read_table(path, columns, REMEDY, may_be_empty, keep_default_na=False)  # "NA" is a comment
    split = metadata_tables.decode_splits(path, raw["split"], SPLITS, REMEDY)
    y = shares(path, raw["toxicity"]).astype(np.int64)
    identities = raw[IDENTITIES].replace("", "0")  # as WILDS reads them: an empty one is not mentioned
    mentioned = np.stack([shares(path, identities[name]) for name in IDENTITIES], axis=1)
    for part in SPLITS:
        if not mentioned[split == part].any():
            raise InputError(
                f"{path}: no comment of the split {part} mentions an identity, so that it has no groups. {REMEDY}"
            )
    comment, a, attributes = list_samples(mentioned, settings["attribute"])
    table = pd.DataFrame({"split": split[comment], "y": y[comment], "a": a.astype(np.int64), "original": comment})
    classes = ["not toxic", "toxic"]
    about = {
        "classes": classes,
        "attribute": "identity",
        "attributes": attributes,
        "vocabulary": settings["vocabulary"],
        "groups": [f"{label}, {name}" for label in classes for name in IDENTITIES],
        "sha256": metadata_tables.sha256(path),
    }
    named = mentioned if settings["attribute"] != "identity" else a[:, None] == np.arange(len(IDENTITIES))
    groups = np.concatenate([named & (y[comment] == label)[:, None] for label in (0, 1)], axis=1)
    inputs = tokenize(list(raw["comment_text"].iloc[comment]), settings["tokens"], settings["vocabulary"])
    return Dataset(inputs, table, about, groups)
