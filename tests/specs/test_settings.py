import math
import re

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from despur.specs.declarations import list_components, read_declarations
from despur.specs.paths import NAME
from despur.specs.settings import SettingError, bool_, choice, draw, float_, int_, spell

DECLARED = {
    f"{kind}/{name}.{key}": setting
    for kind in ("datasets", "encoders", "inference", "methods")
    for name in list_components(kind)
    for key, setting in read_declarations(kind, name)["SETTINGS"].items()
}


@hypothesis_settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_from_its_spelling(value):
    assert float(spell(value)) == value
    assert spell(float(spell(value))) == spell(value)


@hypothesis_settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_spelled_number_fits_in_a_path(value):
    assert re.fullmatch(NAME, f"cnc+temperature={spell(value)}")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1.0, "1"),
        (-0.0, "0"),
        (100.0, "100"),
        (1e-5, "1e-05"),
        (1e22, "1e22"),
        (3, "3"),
        (True, "true"),
        (False, "false"),
    ],
)
def test_spellings(value, text):
    assert spell(value) == text


@pytest.mark.parametrize(
    ("setting", "allowed", "refused"),
    [
        (
            float_(0.5, "", at_least=0, at_most=1),
            ["0", "1", ".25", "1e-3"],
            ["-0.01", "1.01", "nan", "inf", "half", ""],
        ),
        (float_(0.5, "", above=0, below=1), ["1e-9", "0.999"], ["0", "1", "-1"]),
        (float_(0.0, ""), ["-1e300", "0"], ["inf", "-inf", "nan"]),
        (int_(1, "", at_least=1, at_most=3), ["1", "2", "3", "03"], ["0", "4", "1.0", "1e0", "one"]),
        (bool_(True, ""), ["true", "false"], ["True", "1", "yes", ""]),
        (choice("a", "", "a", "b"), ["a", "b"], ["A", "c", ""]),
        (draw(""), ["0", "12", "seed"], ["-1", "0.5", "seeds"]),
    ],
)
def test_what_is_allowed_and_refused(setting, allowed, refused):
    for text in allowed:
        setting.parse("key", text)
    for text in refused:
        with pytest.raises(SettingError):
            setting.parse("key", text)


def test_parsed_values_have_their_type():
    assert float_(0.5, "").parse("key", "1") == 1.0
    assert isinstance(float_(1, "").parse("key", "1"), float)
    assert isinstance(float_(1, "").default, float)
    assert int_(1, "").parse("key", "07") == 7
    assert bool_(True, "").parse("key", "false") is False
    assert draw("").parse("key", "seed") == "seed"
    assert draw("").parse("key", "3") == 3


@pytest.mark.parametrize(
    ("setting", "text", "words"),
    [
        (float_(0.05, "", above=0), "0", ["temperature=0", "a number", "above 0", "default 0.05"]),
        (float_(0.5, "", at_least=0, below=1), "1", ["temperature=1", "at least 0", "below 1"]),
        (
            int_(32, "", at_least=1, at_most=64),
            "1.5",
            ["temperature=1.5", "a whole number", "at least 1", "at most 64", "default 32"],
        ),
        (bool_(True, ""), "yes", ["temperature=yes", "true or false", "default true"]),
        (choice("image", "", "image", "centre"), "center", ["temperature=center", "image, centre", "default image"]),
        (draw(""), "none", ["temperature=none", "whole number", "seed"]),
    ],
)
def test_a_refusal_names_key_value_and_what_is_allowed(setting, text, words):
    with pytest.raises(SettingError) as error:
        setting.parse("temperature", text)
    for word in words:
        assert word in str(error.value)


def test_every_declared_default_is_allowed_and_has_a_source():
    def wrong(setting):
        return setting.parse("key", spell(setting.default)) != setting.default or not setting.source

    assert DECLARED and [name for name, setting in DECLARED.items() if wrong(setting)] == []


def test_no_declared_number_may_be_infinite():
    numbers = {name: setting for name, setting in DECLARED.items() if isinstance(setting.default, float)}
    assert numbers and all(math.isfinite(setting.default) for setting in numbers.values())
    for name, setting in numbers.items():
        with pytest.raises(SettingError, match=re.escape(name)):
            setting.parse(name, "inf")


def test_several_values_between_commas_are_told_their_spelling():
    setting = read_declarations("methods", "cnc")["SETTINGS"]["lambda"]
    with pytest.raises(SettingError, match=r"lambda=0.5,0.6: .*; several values are written 0.5~0.6"):
        setting.parse("lambda", "0.5,0.6")
