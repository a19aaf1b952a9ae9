"""Bios: professions of short biographies, gender as the protected attribute (De-Arteaga et al. 2019; Shen et al. 2021,
Experiment 3).

Under ``bios/``, for each of train, dev and test: ``SPLIT.parquet`` with columns profession and gender, or the
``SPLIT.pickle`` of Ravfogel et al. 2020 (p, g); and ``SPLIT_cls.npy``, the vectors of BERT's [CLS], row by row; or,
with features=tokens, a column hard_text, the biography without its first line, which names the profession (else
text)."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import embedding_files, metadata_tables, text
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, int_
from despur.storage.store import Dataset

SETTINGS = {
    "professions": choice("all", "Experiment 3: 28; Table 2: nurse and surgeon alone", "all", "nurse_surgeon"),
    "features": choice(
        "vectors",
        "Experiment 3: BERT's [CLS], not fine-tuned; tokens: words, for an encoder such as bigru",
        "vectors",
        "tokens",
    ),
    "length": int_(128, "with features=tokens: words of a text; not stated", at_least=1),
    "words": int_(15_000, "with features=tokens: most frequent words; not stated", at_least=1),
}

PAPER_HYPERPARAMETERS = {
    "*": read_declarations("datasets", "moji")["PAPER_HYPERPARAMETERS"]["*"],
    "inlp": {"min_accuracy": 0.0},  # released code
}

PUBLISHED_SIZES = {"train": 257e3, "val": 40e3, "test": 99e3}  # Shen et al. 2021, Experiment 3: rounded

RAW = tuple(f"bios/{part}.parquet | bios/{part}.pickle" for part in ("train", "dev", "test"))
DOWNLOADS = tuple(
    {
        "url": f"https://storage.googleapis.com/ai2i/nullspace/{folder}/{part}{end}",
        "file": f"bios/{part}{end}",
        "only_with": needed,
        "read_in": "shauli-ravfogel/nullspace_projection, download_data.sh",
    }
    for folder, end, needed in (("biasbios", ".pickle", ""), ("bert_encode_biasbios", "_cls.npy", "features=vectors"))
    for part in ("train", "dev", "test")
)
RAW_WITH = {"features=vectors": ("bios/train_cls.npy", "bios/dev_cls.npy", "bios/test_cls.npy")}

SOURCE = "https://storage.googleapis.com/ai2i/nullspace/biasbios/"
LICENSE = "Common Crawl; see De-Arteaga et al. 2019"
VECTORS = "https://storage.googleapis.com/ai2i/nullspace/bert_encode_biasbios/"  # of the same texts: BERT's [CLS]
PROFESSIONS = [
    "accountant", "architect", "attorney", "chiropractor", "comedian", "composer", "dentist", "dietitian", "dj",
    "filmmaker", "interior_designer", "journalist", "model", "nurse", "painter", "paralegal", "pastor",
    "personal_trainer", "photographer", "physician", "poet", "professor", "psychologist", "rapper", "software_engineer",
    "surgeon", "teacher", "yoga_teacher",
]  # fmt: skip
GENDERS = ["m", "f"]
NAMES = {"p": "profession", "g": "gender"}


def read_split(folder: Path, split: str) -> tuple[Path, pd.DataFrame]:
    """A split's table with profession, gender and, where there is one, text."""
    remedy = f"Download the three pickles of {SOURCE} there"
    path = metadata_tables.find(folder, f"{split}.parquet | {split}.pickle", remedy)
    table = embedding_files.read_table(path, ())
    table = table.rename(columns={old: new for old, new in NAMES.items() if new not in table})
    metadata_tables.require_columns(path, ("gender", "profession"), table)
    written = table.get("hard_text", table.get("text", [""] * len(table)))
    texts = [text if isinstance(text, str) else " ".join(text) for text in written]  # or lists of words
    return path, table.assign(text=texts)


def build(settings: Settings, data_root: Path) -> Dataset:
    """All three splits one after the other, as they are given."""
    folder = data_root / "bios"
    classes = PROFESSIONS if settings["professions"] == "all" else ["nurse", "surgeon"]
    files, tables, inputs = [], [], []
    for split in ("train", "dev", "test"):
        path, table = read_split(folder, split)
        files.append(path)
        kept = np.flatnonzero(table["profession"].isin([*classes, *(PROFESSIONS.index(c) for c in classes)]))
        if settings["features"] == "vectors":
            remedy = f"{VECTORS} has them; or use features=tokens"
            encoded, vectors = embedding_files.find_vectors(path, "_cls.npy", len(table), remedy)
            files.append(encoded)
            inputs.append(np.asarray(vectors[kept], np.float32))
        table = table.iloc[kept].reset_index(drop=True)
        names = [PROFESSIONS[p] if not isinstance(p, str) else p for p in table["profession"]]
        y = embedding_files.encode_labels(names, classes, "profession", path)
        a = embedding_files.encode_labels(table["gender"], GENDERS, "gender", path)
        tables.append(pd.DataFrame({"split": split, "y": y, "a": a, "text": table["text"]}))
    table = pd.concat(tables, ignore_index=True)
    about = {
        **{"classes": classes, "attributes": GENDERS, "attribute": "gender"},
        "sha256": metadata_tables.sha256(*files),
    }
    if settings["features"] == "tokens":
        vocabulary = text.vocabulary(table["text"][table["split"] == "train"], settings["words"])
        inputs = [text.tokens(list(table["text"]), vocabulary, settings["length"])]
        about["words"] = vocabulary
    return embedding_files.dataset(folder, np.concatenate(inputs), table.drop(columns="text"), about)
