"""Adult and COMPAS: tables of people, as published, whole and faulty; and what is encoded of them."""

import numpy as np
import pandas as pd
import pytest
from helpers import fails, read, well_formed

from despur.datasets import adult
from despur.datasets.sources.tabular import encode_columns
from despur.storage import published_sizes

PERSON = "39, {work}, 77516, Bachelors, 13, Divorced, Sales, Husband, {race}, {sex}, {gain}, 0, 40, Cuba, {income}"
FAULTLESS = {"work": "Private", "race": "White", "sex": "Male", "gain": 0, "income": ">50K"}
HEADER = "age,age_cat,sex,race,juv_fel_count,juv_misd_count,juv_other_count,priors_count,days_b_screening_arrest,"
HEADER += "c_charge_degree,is_recid,score_text,two_year_recid"
DEFENDANT = "{age},25 - 45,{sex},{race},0,0,0,{priors},-1,F,0,Low,{again}"
LEFT_OUT = [  # ordinary traffic offense, no score, arrested too late or not known when
    *("30,25 - 45,Male,Other,0,0,0,1,-1,O,0,Low,0", "30,25 - 45,Male,Other,0,0,0,1,-1,F,0,N/A,0"),
    *("30,25 - 45,Male,Other,0,0,0,1,31,F,0,Low,0", "30,25 - 45,Male,Other,0,0,0,1,,F,0,Low,0"),
]


def test_numbers_are_standardized_and_words_told_one_by_one_by_training_rows_alone():
    table = pd.DataFrame({"age": [1.0, 3.0, 9.0], "same": [2, 2, 5], "word": ["b", "a", "c"], "left": [0, 0, 0]})
    encoded = encode_columns(table, ["age", "same"], ["word"], np.array([True, True, False]))
    assert encoded.dtype == np.float32
    assert encoded.tolist() == [[-1, 0, 0, 1], [1, 0, 1, 0], [7, 3, 0, 0]]


def write_adult(folder, *more):
    """Forty persons of each file; a dot ends the incomes of adult.test, whose first line is none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, first, dot in (("adult.data", "", ""), ("adult.test", "|1x3 Cross validator\n", ".")):
        lines = [
            PERSON.format(
                work="Private" if number % 5 else "State-gov",
                race=[*adult.RACES][number % 5],
                sex=[*adult.SEXES][number % 2],
                gain=number,
                income=("<=50K", ">50K")[number // 3 % 2] + dot,
            )
            for number in range(40)
        ]
        (folder / name).write_text(first + "\n".join([*lines, *(line + dot for line in more)]) + "\n\n")


@pytest.fixture
def persons(tmp_path, monkeypatch):
    monkeypatch.setattr(published_sizes, "read_declarations", lambda *_: {})
    write_adult(tmp_path / "adult", PERSON.format(**FAULTLESS | {"work": "?"}))
    return tmp_path


def test_adult_has_splits_incomes_and_attributes_and_no_unknown_values(persons):
    dataset = well_formed(read("adult", persons))
    assert dataset.table["split"].value_counts().to_dict() == {"test": 40, "train": 36, "val": 4}
    tested = dataset.rows("test")
    assert dataset.y[tested].tolist() == [number // 3 % 2 for number in range(40)]
    assert dataset.a[tested].tolist() == [number % 2 for number in range(40)]
    race, both = read("adult+attribute=race", persons), read("adult+attribute=both", persons)
    assert race.a[tested].tolist() == [number % 5 for number in range(40)] and race.about["attributes"][2] == "Black"
    assert both.a[tested].tolist() == [number % 5 * 2 + number % 2 for number in range(40)]
    assert both.about["attributes"][0] == "Amer-Indian-Eskimo, Female"
    assert race.inputs.shape[1] == both.inputs.shape[1] == 6 + 2 + 5  # numbers, two kinds of work, five constant words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("39, Private", "person 42 has 2 fields"),
        (PERSON.format(**FAULTLESS | {"race": "Green"}), "column race is 'Green' for 42. sample"),
        (PERSON.format(**FAULTLESS | {"gain": "much"}), "column capital-gain is 'much' for 42. sample"),
        (PERSON.format(**FAULTLESS | {"income": "rich"}), "column income is 'rich' for 42. sample"),
    ],
)
def test_a_person_that_cannot_be_used_is_named(persons, line, words):
    write_adult(persons / "adult", PERSON.format(**FAULTLESS | {"work": "?"}), line)
    fails("adult", persons, str(persons / "adult/adult.data"), words, "DESPUR_DATA_ROOT")


@pytest.fixture
def defendants(tmp_path):
    races = ("African-American", "Caucasian", "Hispanic")
    lines = [
        DEFENDANT.format(age=20 + n, sex=("Male", "Female")[n % 2], race=races[n % 3], priors=n % 7, again=n // 6 % 2)
        for n in range(60)
    ]
    (tmp_path / "compas").mkdir()
    (tmp_path / "compas/compas-scores-two-years.csv").write_text("\n".join([HEADER, *LEFT_OUT, *lines]) + "\n")
    return tmp_path


def test_compas_has_the_defendants_of_the_analysis(defendants):
    dataset = well_formed(read("compas", defendants))
    assert dataset.table["split"].value_counts().to_dict() == {"train": 38, "test": 18, "val": 4}
    assert dataset.y.tolist() == [n // 6 % 2 for n in range(60)] and dataset.a.tolist() == [n % 3 for n in range(60)]
    sex = read("compas+attribute=sex", defendants)
    assert sex.a.tolist() == [1 - n % 2 for n in range(60)] and (sex.inputs == dataset.inputs).all()
    assert dataset.inputs.shape == (60, 7)  # five numbers, an age and a degree that all share


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("two_year_recid", "recid", "no column two_year_recid"),
        ("\n20,", "\nold,", "column age is 'old' for 5. sample"),  # after four that are left out
        ("Female", "Unknown", "column sex is 'Unknown'"),
        (",-1,F", ",-99,F", "has no defendant"),
    ],
)
def test_a_table_of_defendants_that_cannot_be_used_is_named(defendants, old, new, words):
    path = defendants / "compas/compas-scores-two-years.csv"
    path.write_text(path.read_text().replace(old, new))
    fails("compas", defendants, str(path), words, "DESPUR_DATA_ROOT")
