"""Prompts of classes and groups: the words of the released code of Zhang & Re 2022."""

import pytest

from despur.datasets.sources import prompts


def test_class_prompts_follow_the_released_code():
    about = {"dataset": "waterbirds", "classes": ["landbird", "waterbird"], "attributes": ["land", "water"]}
    about["groups"] = [f"{y}, {a}" for y in about["classes"] for a in about["attributes"]]
    assert prompts.class_prompts(about) == [["This is a picture of a landbird."], ["This is a picture of a waterbird."]]
    assert prompts.class_prompts(about, "cloob") == [["a landbird"], ["a waterbird"]]
    assert prompts.group_prompts(about)[1] == ["a landbird on a water background"]
    celeba = {
        "dataset": "celeba",
        "classes": ["not blond", "blond"],
        "attributes": ["female", "male"],
        "groups": list("abcd"),
    }
    assert prompts.class_prompts(celeba, "cloob") == prompts.class_prompts(celeba)
    assert prompts.class_prompts(celeba)[0] == ["A photo of a celebrity with dark hair."]
    assert prompts.group_prompts(celeba)[3] == ["A photo of a male celebrity with blond hair."]


@pytest.mark.parametrize(
    ("template", "words", "text"),
    [
        ("This is a picture of a {class}.", {"class": "ape"}, "This is a picture of an ape."),
        ("a {class}", {"class": "unicycle"}, "a unicycle"),
        ("A {class}", {"class": "elephant"}, "An elephant"),
        ("a photo of a {class} on {attribute}", {"class": "eight", "attribute": "land"}, "a photo of an eight on land"),
        ("a photo of a {class}", {"class": "one"}, "a photo of a one"),
    ],
)
def test_articles(template, words, text):
    assert prompts.fill(template, **words) == text


@pytest.mark.parametrize(
    ("dataset", "classes", "family", "expected"),
    [
        ("entity13", ["accessory", "produce"], "class", "a picture of an accessory|a picture of a fruit or vegetable"),
        ("entity30", ["passerine", "aquatic bird"], "cloob", "a picture of a land bird|a picture of an aquatic bird"),
        ("nonliving26", ["body armor", "outbuilding"], "class", "A photo of an armor.|A photo of an outbuilding."),
        ("nonliving26", ["mercantile establishment"], "cloob", "a store or shop"),
        ("living17", ["domestic cat", "ape"], "class", "This is a picture of a cat.|This is a picture of an ape."),
        ("civilcomments", ["not toxic", "toxic"], "class", "Not toxic.|Toxic."),
        ("civilcomments", ["not toxic", "toxic"], "gpt_neo_125m", "Not toxic|Toxic"),
        ("amazon", ["negative", "positive"], "class", "negative|positive"),
        ("amazon", ["negative", "positive"], "gpt_neo", "Negative|Positive"),
        ("amazon", ["negative", "positive"], "gpt_neo_125m", "Negative review|Positive review"),
    ],
)
def test_classes_have_the_words_of_the_released_code(dataset, classes, family, expected):
    found = prompts.class_prompts({"dataset": dataset, "classes": classes}, family)
    assert found == [[text] for text in expected.split("|")]


def test_every_data_set_has_prompts_that_exist_and_groups_without_words_have_none():
    overlapping = {
        "dataset": "civilcomments",
        "classes": ["not toxic", "toxic"],
        "attributes": ["no", "yes"],
        "groups": list("abcdefgh"),
    }
    assert prompts.group_prompts(overlapping) == []
    for name, known in prompts.PROMPTS.items():
        assert "{class}" in known["class"].lower(), name
