"""Prompts: how each data set's classes and groups are put into words for a foundation model. No torch here.

``class``: the template of a class prompt; ``cloob``, ``gpt_neo``, ``gpt_neo_125m``: that of one foundation model,
where it has its own. ``group``: the template of a class x attribute prompt ("group-informed prompting"), where groups
can be told in words. ``names``: what to call a class whose name is no good word. ``{Class}`` is ``{class}`` with a
capital letter; ``a {class}`` becomes "an" before a vowel.

Sources: Zhang & Re 2022 print one template ("photo of a [class name]", Sec. 3.2) and one group prompt ("a waterbird on
a land background", Sec. 5.1); the best of their templates and their names of classes stand in their released code
(marked R), their group prompts for other data sets do not (marked N: not stated, worded as the class prompt)."""

import re
from collections.abc import Mapping
from typing import Any

STARS = ("one star", "two stars", "three stars", "four stars", "five stars")
PROMPTS: dict[str, dict[str, Any]] = {
    "waterbirds": {  # R; group: Sec. 5.1
        "class": "This is a picture of a {class}.",
        "cloob": "a {class}",
        "group": "a {class} on a {attribute} background",
    },
    "celeba": {  # R; group: N
        "class": "A photo of a celebrity with {class} hair.",
        "group": "A photo of a {attribute} celebrity with {class} hair.",
        "names": {"not blond": "dark"},
    },
    # R: without a name here, a class of BREEDS has the first name of its synset; group: N, the subclass in the place of
    # the class
    "living17": {
        "class": "This is a picture of a {class}.",
        "group": "This is a picture of a {group}.",
        "names": {"domestic cat": "cat"},
    },
    "nonliving26": {
        "class": "A photo of a {class}.",
        "cloob": "a {class}",
        "group": "A photo of a {group}.",
        "names": {
            "body armor": "armor",
            "digital computer": "computer",
            "dwelling": "home or dwelling",
            "mercantile establishment": "store or shop",
        },
    },
    "entity13": {
        "class": "a picture of a {class}",
        "group": "a picture of a {group}",
        "names": {
            "furniture": "piece of furniture",
            "man-made structure": "structure",
            "wheeled vehicle": "vehicle",
            "produce": "fruit or vegetable",
        },
    },
    "entity30": {
        "class": "a picture of a {class}",
        "group": "a picture of a {group}",
        "names": {
            "serpentes": "snake",
            "passerine": "land bird",
            "saurian": "lizard",
            "arachnid": "arachnid or spider",
            "ungulate": "hoofed mammal",
            "footwear": "pair of footwear or legwear",
            "headdress": "headgear",
            "vessel": "vessel or boat",
            "dish": "food",
            "vegetable": "vegetables",
        },
    },
    "cifar10_001": {"class": "a {class}"},  # R; group: not applicable (Table 3)
    "cifar10_02": {"class": "a {class}"},  # R; group: not applicable (Table 3)
    # R; groups: regions alone
    "fmow": {"class": "satellite view of the {class}.", "cloob": "aerial view of a {class}."},
    # R; groups overlap
    "civilcomments": {"class": "{Class}.", "gpt_neo": "{Class}", "gpt_neo_125m": "{Class}"},
    # R; stars: N; groups are categories alone
    "amazon": {
        "class": "{class}",
        "gpt_neo": "{Class}",
        "gpt_neo_125m": "{Class} review",
        "names": {stars: f"This review gives {stars}." for stars in STARS},
    },
    "metashift": {"class": "a photo of a {class}.", "group": "a {attribute} photo of a {class}."},  # N
    "multinli": {"class": "{Class}."},  # N: as civilcomments
    # As the captions of the bundled model (captions.py); "several": a class "zero or one" has a prompt for each of its
    # digits.
    "scene_digits": {
        "class": "a photo of a {class}",
        "group": "a photo of a {class} on {attribute}",
        "several": " or ",
    },
    "scene_subclasses": {"class": "a photo of a {class}", "group": "a photo of a {group}", "several": " or "},
}
DEFAULT = {"class": "a photo of a {class}."}  # Sec. 3.2
ARTICLE = re.compile(r"\b(a) (?!one\b|uni|eu|us)(?=[aeiou])", re.IGNORECASE)  # a one, a unicycle


def fill(template: str, **words: str) -> str:
    """The template with its words (``{Class}``: with a capital letter), and "an" in the place of "a" before the sound
    of a vowel."""
    capital = {key.capitalize(): word.capitalize() for key, word in words.items()}
    return ARTICLE.sub(r"\1n ", template.format(**words, **capital))


def names(about: Mapping[str, Any]) -> list[list[str]]:
    """What each class is called: one or more words."""
    prompts = PROMPTS.get(about["dataset"], DEFAULT)
    better, several = prompts.get("names", {}), prompts.get("several")
    called = [better.get(name, name) for name in about.get("class_words", about["classes"])]
    return [name.split(several) if several else [name] for name in called]


def class_prompts(about: Mapping[str, Any], family: str = "class") -> list[list[str]]:
    """One or more prompts for each class of a data set; their embeddings are averaged.

    ``family``: "class", or a foundation model with templates of its own ("cloob"), where it has one.
    """
    prompts = PROMPTS.get(about["dataset"], DEFAULT)
    return [
        [fill(prompts.get(family, prompts["class"]), **{"class": word}) for word in words] for words in names(about)
    ]


def group_prompts(about: Mapping[str, Any]) -> list[list[str]]:
    """One or more prompts for each class x attribute, class by class; none where groups are not told in words."""
    template = PROMPTS.get(about["dataset"], DEFAULT).get("group", "")
    cells = [(words, attribute) for words in names(about) for attribute in about["attributes"]]
    if not template or len(cells) != len(about["groups"]):  # other groups than class x attribute
        return []
    return [
        [
            fill(template, **{"class": word, "attribute": attribute, "group": group})
            for word in (words if "{class}" in template else words[:1])
        ]
        for (words, attribute), group in zip(cells, about["groups"], strict=True)
    ]
