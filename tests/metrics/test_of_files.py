"""What files of metrics may measure."""

import numpy as np
import pytest

from despur.metrics import of_files
from despur.metrics.of_files import measure_by_files
from despur.storage.store import InputError

WEIGHTS = np.ones((3, 5))


@pytest.fixture
def measure(monkeypatch):
    """What is measured where a file measures this."""

    def measure_with(measured, known=()):
        monkeypatch.setattr(of_files, "load_measures", lambda: {"mine.py": lambda *_: measured})
        return list(measure_by_files(None, np.arange(5), {}, WEIGHTS, known))

    return measure_with


def test_a_number_for_each_row_of_weights_or_one_is_a_metric(measure):
    rows = [("a", "", np.zeros(3)), ("a", "y=0", 0.5), ("b", "", np.array([np.nan, 0, 1]))]
    assert measure(iter(rows)) == rows
    assert measure([["a", "", 0.5]]) == [("a", "", 0.5)]


@pytest.mark.parametrize(
    ("measured", "message"),
    [
        ([("a", "", np.zeros(5))], r"values float64 \(5,\) of a: a number for each of the 3 rows"),
        ([("a", "", np.zeros((3, 2)))], r"values float64 \(3, 2\)"),
        ([("a", "", "high")], "values <U4"),
        ([("a", "", None)], "values object"),
        ([("a", 0.5)], "let it yield"),
        ([("a", 1, 0.5)], "let it yield"),
        ({"a": 0.5}, "measure gives dict: let it yield"),
        (0.5, "measure gives float"),
        ([("a", "", 0.5), ("a", "", 0.6)], "measure gives a of the group '', which is measured already"),
    ],
)
def test_anything_else_is_refused_with_the_file_that_measures_it(measure, measured, message):
    with pytest.raises(InputError, match=rf"mine\.py: .*{message}"):
        measure(measured)


def test_a_metric_that_is_measured_already_is_refused(measure):
    with pytest.raises(InputError, match="average_accuracy of the group '', which is measured already"):
        measure([("average_accuracy", "", 0.5)], {("average_accuracy", "")})
