"""COMPAS (Angwin et al. 2016; Han et al. 2022, fairlib): is a defendant of Broward County charged again within two
years? Race or sex as the protected attribute; neither is a feature.

From ``compas-scores-two-years.csv`` of ProPublica under DESPUR_DATA_ROOT, with the defendants of its analysis: arrested
within 30 days of their screening, not for an ordinary traffic offense, and with a score. Scores are no features.
Deviations from fairlib: it has all defendants, the label ``is_recid`` and the description of the charge."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.sources import embedding_files, metadata_tables
from despur.datasets.sources.tabular import encode_columns, parse_numbers
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, draw, float_
from despur.storage.store import Dataset, InputError

SETTINGS = {
    "attribute": choice("race", "fairlib: race (two, and all others) or sex", "race", "sex"),
    "test_fraction": float_(0.3, "fairlib", above=0, below=1),
    "val_fraction": float_(0.1, "fairlib: of those who are not tested", above=0, below=1),
    "draw": draw("which random split"),
}

PAPER_HYPERPARAMETERS = {"*": read_declarations("datasets", "moji")["PAPER_HYPERPARAMETERS"]["*"]}  # fairlib's

RAW = ("compas/compas-scores-two-years.csv | compas-scores-two-years.csv",)
SOURCE = "https://github.com/propublica/compas-analysis"
LICENSE = "stated nowhere; public records, published by ProPublica"
DOWNLOADS = (
    {
        "url": "https://raw.githubusercontent.com/propublica/compas-analysis/master/compas-scores-two-years.csv",
        "file": "compas/compas-scores-two-years.csv",
        "checksum": "sha256:c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        "read_in": "propublica/compas-analysis, the file itself",
    },
)
REMEDY = (
    f"Download compas-scores-two-years.csv of {SOURCE} (again) into compas/ in the folder that DESPUR_DATA_ROOT names"
)

NUMBERS = ("age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count")
WORDS = ("age_cat", "c_charge_degree")
FILTERED = ("days_b_screening_arrest", "is_recid", "score_text")
RACES = {"African-American": 0, "Caucasian": 1}  # all others: 2
SEXES = {"Female": 0, "Male": 1}


def read_defendants(path: Path) -> pd.DataFrame:
    """The defendants of ProPublica's analysis (Compas Analysis.ipynb), in the order of the file. Raises InputError for
    values that are no numbers, or not known."""
    columns = [*NUMBERS, *WORDS, *FILTERED, "race", "sex", "two_year_recid"]
    table = metadata_tables.read_table(path, columns, REMEDY, may_be_empty=columns, keep_default_na=False)
    table = parse_numbers(path, table, [*NUMBERS, "two_year_recid"], REMEDY)
    table = table.assign(
        y=metadata_tables.decode(path, table["two_year_recid"], {0: 0, 1: 1}, REMEDY),
        sex=metadata_tables.decode(path, table["sex"], SEXES, REMEDY),
        race=table["race"].map(RACES).fillna(len(RACES)).astype(np.int64),
    )
    days, charged = (pd.to_numeric(table[column], errors="coerce") for column in FILTERED[:2])
    ordinary = table["c_charge_degree"].eq("O") | table["score_text"].eq("N/A") | charged.eq(-1)
    table = table[days.between(-30, 30) & ~ordinary].reset_index(drop=True)
    if not len(table):
        raise InputError(f"{path} has no defendant of ProPublica's analysis. {REMEDY}")
    return table


def build(settings: Settings, data_root: Path) -> Dataset:
    """Every row is an original."""
    path = metadata_tables.find(data_root, RAW[0], REMEDY)
    defendants = read_defendants(path)
    order = derive_generator("compas", settings["draw"]).permutation(len(defendants))
    tested = int(settings["test_fraction"] * len(order))
    validated = tested + int(settings["val_fraction"] * (len(order) - tested))
    split = np.full(len(order), "train", object)
    split[order[:tested]], split[order[tested:validated]] = "test", "val"
    table = defendants[["y"]].assign(split=split, a=defendants[settings["attribute"]])
    about = {
        "classes": ["not charged again", "charged again"],
        "attribute": settings["attribute"],
        "attributes": {"race": [*RACES, "other"], "sex": [*SEXES]}[settings["attribute"]],
        "sha256": metadata_tables.sha256(path),
    }
    inputs = encode_columns(defendants, NUMBERS, WORDS, split == "train")
    return embedding_files.dataset(path.parent, inputs, table, about)
