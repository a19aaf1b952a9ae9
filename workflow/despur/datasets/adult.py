"""Adult (Kohavi 1996; as fairlib has it, Han et al. 2022): does a person earn more than 50,000 dollars a year? From the
census of 1994; sex or race as the protected attribute. Neither is a feature, but ``relationship`` tells the sex of
husbands and wives.

From ``adult.data`` and ``adult.test`` of UCI under DESPUR_DATA_ROOT. Persons with unknown values are left out."""

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
    "attribute": choice("sex", "fairlib: sex, race, or both together", "sex", "race", "both"),
    "val_fraction": float_(0.1, "fairlib: of adult.data, at random", above=0, below=1),
    "draw": draw("which random split"),
}

PAPER_HYPERPARAMETERS = {"*": read_declarations("datasets", "moji")["PAPER_HYPERPARAMETERS"]["*"]}  # fairlib's

RAW = ("adult/adult.data | adult.data", "adult/adult.test | adult.test")
PUBLISHED_SIZES = {"test": 15_060}  # UCI, adult.names: of persons without unknown values
SOURCE = "https://archive.ics.uci.edu/dataset/2/adult"
LICENSE = "CC BY 4.0"
DOWNLOADS = tuple(
    {
        "url": f"https://archive.ics.uci.edu/ml/machine-learning-databases/adult/{name}",
        "file": f"adult/{name}",
        "checksum": f"sha256:{checksum}",
        "read_in": "HanXudong/fairlib, fairlib/datasets/Adult/Adult.py; the checksum: copies of others on GitHub",
    }
    for name, checksum in (
        ("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
        ("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
    )
)
REMEDY = f"Download adult.data and adult.test of {SOURCE} (again) into adult/ in the folder that DESPUR_DATA_ROOT names"

NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
WORDS = ("workclass", "education", "marital-status", "occupation", "relationship", "native-country")
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
INCOMES = {"<=50K": 0, ">50K": 1, "<=50K.": 0, ">50K.": 1}  # with a dot in adult.test
SEXES = {"Female": 0, "Male": 1}
RACES = {"Amer-Indian-Eskimo": 0, "Asian-Pac-Islander": 1, "Black": 2, "Other": 3, "White": 4}


def read_persons(path: Path) -> pd.DataFrame:
    """The persons of a file without unknown values. Raises InputError for a line of another form and for a value that
    is no number or not known."""
    lines = [line for line in metadata_tables.read_lines(path, REMEDY) if line.strip() and line[0] != "|"]
    fields = [[field.strip() for field in line.split(",")] for line in lines]
    for number, line_fields in enumerate(fields, 1):
        if len(line_fields) != len(COLUMNS):
            raise InputError(f"{path}: person {number} has {len(line_fields)} fields. {REMEDY}")
    table = pd.DataFrame(fields, columns=list(COLUMNS))
    known = ~table.eq("?").any(axis=1)
    table = parse_numbers(path, table, NUMBERS, REMEDY)
    for column, meaning in {"income": INCOMES, "sex": SEXES, "race": RACES}.items():
        table[column] = metadata_tables.decode(path, table[column], meaning, REMEDY)
    return table[known].reset_index(drop=True)


def build(settings: Settings, data_root: Path) -> Dataset:
    """Every person is an original."""
    paths = [metadata_tables.find(data_root, pattern, REMEDY) for pattern in RAW]
    trained, tested = map(read_persons, paths)
    split = np.repeat(["train", "test"], [len(trained), len(tested)])
    order = derive_generator("adult", settings["draw"]).permutation(len(trained))
    split[order[: int(settings["val_fraction"] * len(trained))]] = "val"
    persons = pd.concat([trained, tested], ignore_index=True)
    values = {"sex": persons["sex"], "race": persons["race"], "both": persons["race"] * len(SEXES) + persons["sex"]}
    names = {"sex": SEXES, "race": RACES, "both": [f"{race}, {sex}" for race in RACES for sex in SEXES]}
    table = pd.DataFrame({"split": split, "y": persons["income"], "a": values[settings["attribute"]]})
    about = {
        "classes": ["at most 50K", "more than 50K"],
        "attribute": {"both": "race and sex"}.get(settings["attribute"], settings["attribute"]),
        "attributes": list(names[settings["attribute"]]),
        "sha256": metadata_tables.sha256(*paths),
    }
    inputs = encode_columns(persons, NUMBERS, WORDS, split == "train")
    return embedding_files.dataset(paths[0].parent, inputs, table, about)
