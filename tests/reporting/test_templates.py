"""What pages show of numbers, names and durations."""

import pytest

from despur.reporting.templates import break_name, format_number


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123456, "0.123"), (1234.5, "1,234"), (None, "–"), (float("nan"), "–"), (0.0, "0"), (-56.78, "-56.8")],
)
def test_how_a_number_is_shown(value, text):
    assert format_number(value) == text


def test_a_long_name_goes_on_in_the_next_line_between_its_parts():
    assert break_name("a_b+c=1;d").split("\u200b") == ["a_", "b+", "c=1;", "d"]
    assert break_name("0.3 [+0.1, +0.5]") == "0.3 [+0.1, +0.5]"  # a sign stays with its number
