"""How durations are spelled."""

import pytest

from despur.specs.durations import format_seconds


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (5400, "1.5 h")])
def test_a_duration_has_the_unit_that_people_would_take(seconds, text):
    assert format_seconds(seconds) == text
