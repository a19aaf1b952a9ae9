"""MultiNLI (Williams et al. 2018; Sagawa et al. 2019): does a sentence contradict another one, follow from it, or
neither? Words of negation in the second sentence go with contradiction.

From your copies under DESPUR_DATA_ROOT: the corpus, and Sagawa et al.'s list of its pairs with split and negation
(nobody, no, never, nothing), half of the corpus for training. 412,349 pairs, tokenized once: 0.2 GB of disk under
results/data.

The released code also tells BERT by numbers of segments which sentence a token is of; here [SEP] alone tells it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import metadata_tables
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, int_
from despur.storage.store import Dataset, InputError
from despur.storage.tokenizers import tokenize

SETTINGS = {
    "tokens": int_(
        128, "released code: a pair is cut after so many, the longer sentence first", at_least=8, at_most=512
    ),
    "vocabulary": read_declarations("datasets", "civilcomments")["SETTINGS"]["vocabulary"],
}

PAPER_HYPERPARAMETERS = {
    "*": {  # Sagawa et al. 2019, README of the released code; optimizer, decay, clip: its run_expt.py
        "encoder": "bert",
        "optimizer": "adamw",
        "learning_rate": 2e-5,
        "weight_decay": 0.0,
        "batch_size": 32,
        "epochs": 3,
        "decay": "linear",
        "clip": 1.0,
    },
    "afr": read_declarations("datasets", "civilcomments")["PAPER_HYPERPARAMETERS"]["afr"],
}

# Of each group in about["groups"]: the authors' list, as the code of others has its counts.
PUBLISHED_SIZES = {
    "train": [57_498, 11_158, 67_376, 1_521, 66_630, 1_992],
    "val": [22_814, 4_634, 26_949, 613, 26_655, 797],
    "test": [34_597, 6_655, 40_496, 886, 39_930, 1_148],
}

RAW = (  # the corpus in the order in which the list counts its pairs; the list
    "multinli_1.0/multinli_1.0_train.jsonl | multinli/multinli_1.0/multinli_1.0_train.jsonl",
    "multinli_1.0/multinli_1.0_dev_matched.jsonl | multinli/multinli_1.0/multinli_1.0_dev_matched.jsonl",
    "multinli_1.0/multinli_1.0_dev_mismatched.jsonl | multinli/multinli_1.0/multinli_1.0_dev_mismatched.jsonl",
    "multinli/data/metadata_random.csv | multinli/metadata_random.csv",
)
SOURCE = "https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip"
LICENSE = "OANC; fiction: CC BY 3.0, CC BY-SA 3.0 or public domain"
DOWNLOADS = (
    {
        "brings": "multinli_1.0",
        "checksum": "sha256:049f507b9e36b1fcb756cfd5aeb3b7a0cfcb84bf023793652987f7e7e0957822",
        "read_in": "tensorflow/datasets, multi_nli; the checksum: dellison/NLIDatasets.jl, src/multinli.jl",
    },
    {
        "url": "https://raw.githubusercontent.com/kohpangwei/group_DRO/master/dataset_metadata/"
        "multinli/metadata_random.csv",
        "file": "multinli/data/metadata_random.csv",
        "license": "MIT",
        "read_in": "kohpangwei/group_DRO, README.md",
    },
)
REMEDY = f"Unpack {SOURCE} and put {DOWNLOADS[1]['url']} into multinli/data/, in the folder that DESPUR_DATA_ROOT names"

CLASSES = ["contradiction", "entailment", "neutral"]
ATTRIBUTES = ["no negation", "negation"]
FIELDS = ["gold_label", "sentence1", "sentence2"]
POSITION = "Unnamed: 0"  # how pandas calls a column without a title


def read_pairs(path: Path) -> pd.DataFrame:
    """Label and both sentences of each line, as texts. Raises InputError for a line that has no such."""
    rows = []
    with path.open(encoding="utf-8") as lines:
        try:
            for line in lines:
                pair = json.loads(line)
                rows.append([str(pair[field]) for field in FIELDS])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: line {len(rows) + 1} is no pair of sentences ({error!r}). {REMEDY}") from error
    return pd.DataFrame(rows, columns=FIELDS)


def build(settings: Settings, data_root: Path) -> Dataset:
    """The authors' split; a pair is an original. Pairs without a label on which annotators agree are not listed."""
    *texts, path = (metadata_tables.find(data_root, pattern, REMEDY) for pattern in RAW)
    columns = [POSITION, "gold_label", "sentence2_has_negation", "split"]
    listed = metadata_tables.read_table(path, columns, REMEDY, unique=[POSITION])
    label = metadata_tables.decode(path, listed["gold_label"], dict(enumerate(CLASSES)), REMEDY)
    metadata_tables.decode(path, listed["sentence2_has_negation"], dict(enumerate(ATTRIBUTES)), REMEDY)
    split = metadata_tables.decode_splits(path, listed["split"], metadata_tables.SPLITS, REMEDY)
    pairs = pd.concat([read_pairs(text) for text in texts], ignore_index=True).reindex(listed[POSITION])
    wrong = np.flatnonzero(pairs["gold_label"].to_numpy() != label)
    if len(wrong):
        other = f"the corpus ({', '.join(map(str, texts))}) has {pairs['gold_label'].iloc[wrong[0]]}. {REMEDY}"
        raise metadata_tables.fault(path, listed["gold_label"], int(wrong[0]), other)
    table = pd.DataFrame(
        {
            "split": split,
            "y": listed["gold_label"].astype(np.int64),
            "a": listed["sentence2_has_negation"].astype(np.int64),
            "original": listed[POSITION].astype(np.int64),
        }
    )
    about = {
        "classes": CLASSES,
        "attribute": "negation",
        "attributes": ATTRIBUTES,
        "vocabulary": settings["vocabulary"],
        "sha256": metadata_tables.sha256(path, *texts),
    }
    first, second = (list(pairs[field]) for field in ("sentence1", "sentence2"))
    return Dataset(tokenize(first, settings["tokens"], settings["vocabulary"], second), table, about)
