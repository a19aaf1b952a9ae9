"""What counts as screened is best on validation data among the records of the whole grid."""

import pytest
from project import SOURCE

from despur.evidence.ledger import files
from despur.orchestration.experiments import load_experiments
from despur.specs.resolution import resolve

PAPER, DATA, SHORT = "domain_temperature", "cmnist_3v5", "+epochs=50"
FIGURE = load_experiments(PAPER)["artifacts"]["figure_1"]
RULES = {rule["method"]: rule for rule in FIGURE["screened"]}


@pytest.fixture(scope="module")
def validation():
    """Validation accuracy with one percent of the labels, by method, of seed 0."""
    records = [record for record in files.load(SOURCE / files.LEDGER)[0] if record.content["dataset"] == DATA]
    screened = [record for record in records if SHORT in record.content["method"] and record.content["seed"] == 0]
    return {record.content["method"]: record.metrics()["best"]["val", "probe_accuracy", "1%"] for record in screened}


@pytest.mark.parametrize("method", RULES)
def test_a_screening_leaves_over_what_is_best_on_validation_data(method, validation):
    points = resolve("methods", FIGURE["methods"][method] + SHORT, DATA).points
    assert {point.name for point in points} <= validation.keys(), "the whole grid is recorded"
    best = max(points, key=lambda point: validation[point.name])
    assert best.name in {resolve("methods", name + SHORT, DATA).name for name in RULES[method]["runs"]}
