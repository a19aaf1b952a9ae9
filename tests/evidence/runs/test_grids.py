"""How the settings of a run were found that its paper selects."""

from dataclasses import replace

import pytest

from despur.evidence.runs import grids
from despur.evidence.runs.grids import Grid, describe_grid, find_measured_methods, name_family
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
    monkeypatch.setattr(
        grids, "load_experiments", lambda paper: changed if paper == "domain_temperature" else load_experiments(paper)
    )
    yield
    describe_grid.cache_clear()


def runs_of(name, paper_method="standard_cl", data=DATA):
    return ArtifactRun(DATA, data, paper_method, (f"results/runs/{data}/{name}/s0",), "figure_1", "domain_temperature")


def describe(artifact_run, method, *others):
    """The grid of a run, and of ``others`` of its method."""
    data = artifact_run.dataset
    measured = find_measured_methods([artifact_run, *others])
    return describe_grid(artifact_run, data, method, measured.get(name_family(artifact_run, data), frozenset()))


@pytest.mark.parametrize(
    ("runs", "data", "method", "tuned", "screened"),
    [
        ("simclr+temperature=0.1~0.2", DATA, "simclr+temperature=0.2", True, "temperature screened with one seed"),
        ("simclr+temperature=0.1~0.2", DATA, "simclr", True, "temperature screened with one seed"),
        ("simclr", DATA, "simclr", False, ""),  # the other point that the screening left over is not measured
        ("simclr+temperature=0.1~0.2~0.5", DATA, "simclr+temperature=0.5", False, ""),
        ("simclr+epochs=50+temperature=0.1~0.2", DATA, "simclr+epochs=50", False, ""),
        ("simclr+temperature=0.1~0.2", f"{DATA}+sigma=25", "simclr", False, ""),
        ("simclr+temperature=0.1~0.2", f"{DATA}+outside=redraw", "simclr", False, ""),
        (f"simclr+temperature={EVERY}", f"{DATA}+sigma=25", "simclr+temperature=0.5", True, ""),
        (f"simclr+temperature={EVERY}", DATA, "simclr", True, ""),  # the whole grid: no screening is needed
    ],
)
def test_a_setting_is_selected_from_its_whole_grid_or_among_the_points_of_a_screening(
    runs, data, method, tuned, screened
):
    grid = describe(runs_of(runs, data=data), method)
    assert (grid.tuned == "temperature", grid.untuned == "temperature") == (tuned, not tuned)
    assert grid.screened == screened
    assert (grid.partial == "") == (EVERY in runs)


def test_the_runs_that_a_screening_left_over_may_be_of_several_jobs():
    first, second = runs_of("simclr"), runs_of("simclr+temperature=0.2")
    assert describe(first, "simclr", second).screened == "temperature screened with one seed"
    assert describe(first, "simclr", replace(second, artifact="figure_5")).untuned == "temperature"


def test_of_a_grid_every_combination_must_be_measured():
    cross = runs_of(f"cl_mmd+temperature={EVERY}", "mmd"), runs_of("cl_mmd+weight=0.01~0.1~1~5", "mmd")
    assert describe(*cross[:1], "cl_mmd", *cross[1:]).untuned == "temperature;weight"
    assert describe(cross[0], "cl_mmd") == Grid("temperature", "weight", "weight", "", "")
    short = runs_of(f"cl_mmd+epochs=50+temperature={EVERY}+weight=0.01~0.1~1~5", "mmd")
    assert describe(runs_of("cl_mmd", "mmd"), "cl_mmd", short).untuned == "temperature;weight"
    assert describe(runs_of(f"cl_mmd+temperature={EVERY}+weight=0.01~0.1~1~5", "mmd"), "cl_mmd").untuned == ""


def test_settings_that_change_together_are_whole_where_all_their_values_were_measured():
    data, one = "waterbirds+fit=clip", "contrastive_adapter+stage1.encoder.model=ViT-B-32"
    for models, untuned in (("ViT-B-32", 2), ("RN101~ViT-B-32", 2), ("RN101~ViT-B-16~ViT-B-32", 0)):
        folder = f"results/runs/{data}/contrastive_adapter+stage1.encoder.model={models}/s0"
        run = ArtifactRun("waterbirds", data, "contrastive_adapter", (folder,), "table_4", "adapters")
        assert len([*filter(None, describe(run, one).untuned.split(";"))]) == untuned


def test_runs_with_fewer_seeds_than_others_are_not_selected_among():
    many = replace(runs_of("simclr"), sources=tuple((f"{DATA}/simclr/s{seed}", "a record") for seed in range(3)))
    few = replace(runs_of("simclr+temperature=0.2"), sources=((f"{DATA}/simclr+temperature=0.2/s0", "a record"),))
    assert describe(many, "simclr", few).untuned == "temperature"
    more = replace(few, sources=tuple((f"{DATA}/simclr+temperature=0.2/s{seed}", "a record") for seed in range(4)))
    screened = "temperature screened with one seed"
    assert (describe(many, "simclr", more).screened, describe(more, "simclr+temperature=0.2", many).screened) == (
        screened,
        screened,
    )  # a further seed of one point changes nothing


def test_of_an_incomplete_search_a_further_seed_of_one_point_changes_nothing():
    seeds = {"simclr": 3, "simclr+temperature=0.5": 4, "simclr+temperature=1": 3}
    runs = [
        replace(runs_of(name), sources=tuple((f"{DATA}/{name}/s{seed}", "a record") for seed in range(count)))
        for name, count in seeds.items()
    ]
    assert [*find_measured_methods(runs).values()] == [frozenset(seeds)]


def test_at_a_printed_point_nothing_is_untuned_but_the_grid_is_not_whole():
    grid = describe(runs_of("domain_weighted_pairs", "domain_weighted_pairs"), "domain_weighted_pairs")
    assert grid == Grid("", "", "tau_alpha;tau_beta", "", "")


def test_only_records_count_as_measured():
    artifact_run = runs_of("simclr+temperature=0.1~0.2")
    elsewhere = replace(artifact_run, sources=((f"{DATA}/simclr/s0", "a record"),))
    assert describe(elsewhere, "simclr").untuned == "temperature"


def test_a_screening_of_one_method_says_nothing_of_another():
    oracle = runs_of("simclr+augment.color_jitter=2.5+temperature=0.1~0.2", "color_jitter_oracle")
    assert describe(oracle, "simclr+augment.color_jitter=2.5").untuned == "temperature"


def test_substitutes_select_nothing():
    assert not any(describe(runs_of("simclr", data="domain_digits"), "simclr"))
