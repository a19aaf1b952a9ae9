"""How the settings of a run were found that its paper selects."""

from dataclasses import replace

import pytest

from despur.evidence.runs import grids
from despur.evidence.runs.grids import describe_grid
from despur.orchestration.experiments import ArtifactRun, load_experiments

DATA = "cmnist_3v5"
EVERY = "0.05~0.075~0.1~0.125~0.15~0.175~0.2~0.25~0.5~1"
SCREENED = [
    {
        "method": "standard_cl",
        "at": {"sigma": 50},
        "runs": ["simclr", "simclr+temperature=0.2"],
        "how": "with one seed",
    }
]


@pytest.fixture(autouse=True)
def screened_paper(monkeypatch):
    describe_grid.cache_clear()
    stated = load_experiments("domain_temperature")
    figure = stated["artifacts"]["figure_1"] | {"screened": SCREENED}
    changed = stated | {"artifacts": stated["artifacts"] | {"figure_1": figure}}
    monkeypatch.setattr(grids, "load_experiments", lambda paper: changed)
    yield
    describe_grid.cache_clear()


def runs_of(name, paper_method="standard_cl", data=DATA):
    return ArtifactRun(DATA, data, paper_method, (f"results/runs/{data}/{name}/s0",), "figure_1", "domain_temperature")


@pytest.mark.parametrize(
    ("runs", "data", "method", "tuned", "screened"),
    [
        ("simclr+temperature=0.1~0.2", DATA, "simclr+temperature=0.2", True, "temperature, screened with one seed"),
        ("simclr+temperature=0.1~0.2", DATA, "simclr", True, "temperature, screened with one seed"),
        ("simclr", DATA, "simclr", False, ""),  # the other point that the screening left over is not measured
        ("simclr+temperature=0.1~0.2~0.5", DATA, "simclr+temperature=0.5", False, ""),
        ("simclr+temperature=0.1~0.2", f"{DATA}+sigma=25", "simclr", False, ""),
        (f"simclr+temperature={EVERY}", f"{DATA}+sigma=25", "simclr+temperature=0.5", True, ""),
    ],
)
def test_a_setting_is_selected_from_its_whole_grid_or_among_the_points_of_a_screening(
    runs, data, method, tuned, screened
):
    grid = describe_grid(runs_of(runs, data=data), data, method)
    assert (grid.tuned == "temperature", grid.untuned == "temperature") == (tuned, not tuned)
    assert grid.screened == screened


def test_only_records_count_as_measured():
    artifact_run = runs_of("simclr+temperature=0.1~0.2")
    elsewhere = replace(artifact_run, sources=((f"{DATA}/simclr/s0", "a record"),))
    assert describe_grid(elsewhere, DATA, "simclr").untuned == "temperature"


def test_a_screening_of_one_method_says_nothing_of_another():
    oracle = runs_of("simclr+augment.color_jitter=2.5+temperature=0.1~0.2", "color_jitter_oracle")
    assert describe_grid(oracle, DATA, "simclr+augment.color_jitter=2.5").untuned == "temperature"


def test_substitutes_select_nothing():
    assert not any(describe_grid(runs_of("simclr", data="domain_digits"), "domain_digits", "simclr"))
