import itertools
from pathlib import Path

import pytest
import yaml

from despur.orchestration import artifact_files, configuration, paper_folders, targets
from despur.orchestration.artifact_files import format_label, list_artifacts, list_inputs, list_outputs
from despur.orchestration.configuration import check_configuration, load_configuration
from despur.orchestration.experiments import (
    ArtifactRun,
    list_artifact_runs,
    list_run_folders,
    list_substitutes,
    load_experiments,
)
from despur.orchestration.paper_folders import list_papers
from despur.specs.declarations import list_components
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError

REPOSITORY = Path(__file__).parents[2]
CONFIGS = [REPOSITORY / "config.yaml", *sorted((REPOSITORY / "config").glob("*.yaml"))]
CONFIG = {
    "papers": ["toy"],
    "datasets": {"cmnist": "colored_digits", "waterbirds": ["colored_digits", "cmnist"]},
    "seeds": 7,
}
TOY = {
    "datasets": ["cmnist", "waterbirds", "celeba"],
    "methods": {"erm": "erm", "hot": "cnc+temperature=.5+lambda=0.75", "dro": "gdro"},
    "artifacts": {
        "table_1": {"datasets": ["cmnist", "waterbirds", "celeba"], "methods": ["erm", "hot"]},
        "figure_1": {"datasets": ["celeba"], "methods": ["dro"]},
        "figure_2": {"from": ["table_1"], "methods": ["hot"], "reads": ["projections"]},
        "projections": {"from": ["figure_2", "figure_1"], "inputs": ["outputs"]},
    },
}


@pytest.fixture(autouse=True)
def fresh_paper_folders():
    load_experiments.cache_clear()
    yield
    load_experiments.cache_clear()


@pytest.fixture
def toy(tmp_path, monkeypatch):
    for paper in ("toy", "other"):
        (tmp_path / paper).mkdir()
        (tmp_path / paper / "experiments.yaml").write_text(yaml.safe_dump(TOY))
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(paper_folders, "PAPERS", tmp_path)
    monkeypatch.setattr(artifact_files, "PAPERS", tmp_path)


def test_a_room_is_a_folder_with_experiments(toy):
    assert list_papers() == ["other", "toy"]
    assert load_experiments("toy") == TOY


def test_an_unknown_paper_names_the_nearest(toy):
    with pytest.raises(SettingError, match=r"'toi'; did you mean toy\? Known: other, toy"):
        load_experiments("toi")


def test_which_data_set_is_used_for_a_papers():
    assert list_substitutes(CONFIG, "cmnist") == ["colored_digits"]
    assert list_substitutes(CONFIG, "waterbirds") == ["colored_digits", "cmnist"]
    assert list_substitutes(CONFIG, "celeba") == []


def test_the_runs_of_an_artifact_are_every_data_set_and_method(toy):
    found = [
        (artifact_run.paper_dataset, artifact_run.dataset, artifact_run.paper_method)
        for artifact_run in list_artifact_runs(CONFIG, "toy", "table_1")
    ]
    assert found == [
        (paper_dataset, dataset, method)
        for paper_dataset, dataset in (
            ("cmnist", "colored_digits"),
            ("waterbirds", "colored_digits"),
            ("waterbirds", "cmnist"),
        )
        for method in ("erm", "hot")
    ]


def test_an_artifact_without_a_data_set_has_no_runs(toy):
    assert list_artifact_runs(CONFIG, "toy", "figure_1") == []


def test_an_artifact_may_read_the_runs_of_others_and_have_its_own(toy, monkeypatch):
    wider = {"from": ["table_1"], "datasets": ["cmnist"], "methods": {"first": "stage1/erm"}}
    monkeypatch.setitem(load_experiments("toy")["artifacts"], "prose", wider)
    monkeypatch.setitem(load_experiments("toy")["artifacts"], "claims", {"from": ["table_1"]})
    others = list_artifact_runs(CONFIG, "toy", "table_1")
    assert list_artifact_runs(CONFIG, "toy", "claims") == others
    assert list_artifact_runs(CONFIG, "toy", "prose")[:-1] == others
    assert list_artifact_runs(CONFIG, "toy", "prose")[-1].folders[0].startswith("results/stage1/colored_digits/erm/")


def test_an_artifact_reads_its_printed_numbers_and_what_it_names(toy, monkeypatch):
    monkeypatch.setitem(load_experiments("toy")["artifacts"], "claims", {"from": [], "reads": ["claims.yaml"]})
    reported = paper_folders.PAPERS / "toy/reported"
    reported.mkdir()
    (reported / "table_1.csv").touch()
    folder = "workflow/despur/papers/toy"
    assert artifact_files.list_paper_inputs(CONFIG, "toy", "table_1") == [f"{folder}/reported/table_1.csv"]
    assert artifact_files.list_inputs(CONFIG, "toy", "claims") == [f"{folder}/claims.yaml"]


def test_a_method_may_be_another_on_each_data_set_or_several(toy):
    named = {"erm": "erm", "hot": {"cmnist": ["cnc+lambda=0.5", "cnc+temperature=0.5"], "celeba": "cnc"}}
    config = CONFIG | {
        "datasets": dict.fromkeys(("cmnist", "celeba", "waterbirds"), "colored_digits"),
        "artifacts": {"toy": {"table_1": {"methods": named}}},
    }
    found = [
        (artifact_run.paper_dataset, artifact_run.paper_method, locate_result(artifact_run.folders[0]).name)
        for artifact_run in list_artifact_runs(config, "toy", "table_1")
    ]
    assert [artifact_run for artifact_run in found if artifact_run[1] == "hot"] == [
        ("cmnist", "hot", "cnc+lambda=0.5"),
        ("cmnist", "hot", "cnc+temperature=0.5"),
        ("celeba", "hot", "cnc"),
    ]
    assert [paper_dataset for paper_dataset, printed, _ in found if printed == "erm"] == [
        "cmnist",
        "waterbirds",
        "celeba",
    ]


def test_only_the_methods_that_the_configuration_asks_for(toy):
    assert {
        artifact_run.paper_method
        for artifact_run in list_artifact_runs(CONFIG | {"methods": ["hot", "dro"]}, "toy", "table_1")
    } == {"hot"}


def test_an_artifact_may_show_some_of_the_runs_of_others(toy):
    hot = [
        artifact_run
        for artifact_run in list_artifact_runs(CONFIG, "toy", "table_1")
        if artifact_run.paper_method == "hot"
    ]
    assert list_artifact_runs(CONFIG, "toy", "figure_2") == list_artifact_runs(CONFIG, "toy", "projections") == hot
    assert (
        list_artifact_runs(CONFIG | {"datasets": {"celeba": "cmnist"}}, "toy", "projections")[-1].paper_method == "dro"
    )


def test_an_artifact_may_read_what_another_one_wrote(toy):
    config = CONFIG | {"outputs": "results/here"}
    assert "results/here/papers/toy/projections.parquet" in list_inputs(config, "toy", "figure_2")
    assert {Path(file).name for file in list_inputs(config, "toy", "projections")} == {"outputs.safetensors"}
    assert list_outputs(config, "toy", "projections") == ["results/here/papers/toy/projections.parquet"]


def test_the_words_of_an_artifact_s_name_say_what_is_made(toy):
    assert [Path(file).suffix for file in list_outputs(CONFIG, "toy", "figure_1")] == [".png", ".csv", ".pdf"]
    assert [Path(file).suffix for file in list_outputs(CONFIG, "toy", "table_1")] == [".html", ".csv", ".md", ".tex"]
    assert set(list_artifacts(CONFIG, "toy")) == {"table_1", "figure_2", "projections"}


def test_what_has_no_runs_in_a_configuration_is_not_made(toy):
    assert list_artifacts(CONFIG | {"datasets": {}}, "toy") == []


def test_the_smallest_configuration_makes_what_its_one_run_fills():
    made = list_artifacts(load_configuration(REPOSITORY / "config/smoke.yaml"), "cnc")
    assert made == ["table_1", "figure_5", "figure_theorem_3_1"]


def test_an_artifact_that_a_configuration_leaves_out_is_not_made_and_runs_nothing(toy):
    config = CONFIG | {"artifacts": {"toy": {"figure_1": {"made": False}, "figure_2": {"made": False}}}}
    check_configuration(config)
    assert list_artifacts(config, "toy") == ["table_1"]
    assert list_artifact_runs(config, "toy", "table_1") == list_artifact_runs(CONFIG, "toy", "table_1")


def test_the_runs_of_an_artifact_are_changed_where_they_stand(toy):
    check_configuration(CONFIG | {"artifacts": {"toy": {"table_1": {"seeds": 1}}}})
    with pytest.raises(SettingError, match="figure_2 shows the runs of table_1: change those"):
        check_configuration(CONFIG | {"artifacts": {"toy": {"figure_2": {"seeds": 1}}}})


def test_folders_are_canonical_and_cover_all_seeds(toy):
    artifact_run = next(
        artifact_run
        for artifact_run in list_artifact_runs(CONFIG, "toy", "table_1")
        if artifact_run.paper_method == "hot"
    )
    places = [locate_result(folder) for folder in artifact_run.folders]
    assert {result.name for result in places} == {
        resolve("methods", "cnc+temperature=0.5+lambda=0.75", "colored_digits").name
    }
    assert [run.seed for result in places for run in result.runs()] == list(range(7))


def test_explicit_seeds_are_folders_of_their_own():
    assert list_run_folders("cmnist", "erm", ["0", "3-4"]) == (
        "results/runs/cmnist/erm/s0",
        "results/runs/cmnist/erm/s3-4",
    )


def test_settings_of_the_data_set_that_is_used_decide_the_name():
    default = resolve("methods", "erm", "colored_digits").points[0].value("epochs")
    (folder,) = list_run_folders("colored_digits+draw=2", f"erm+epochs={default}", 1)
    assert folder == "results/runs/colored_digits+draw=2/erm/s0"


@pytest.mark.parametrize(
    ("paper_dataset", "dataset", "substitute"),
    [
        ("cmnist", "colored_digits", True),
        ("cmnist", "cmnist", False),
        ("cmnist", "cmnist+colors=released", False),
        ("celeba", "cmnist", True),
        ("bios_nurse_surgeon", "bios+professions=nurse_surgeon", False),
        ("bios_nurse_surgeon", "bios", True),
    ],
)
def test_other_data_is_a_substitute(paper_dataset, dataset, substitute):
    assert ArtifactRun(paper_dataset, dataset, "erm", ()).substitute is substitute


def test_a_good_configuration_passes(toy):
    check_configuration(CONFIG)
    check_configuration(CONFIG | {"methods": ["erm", "dro"], "datasets": {}})


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.name)
def test_the_configurations_that_we_ship_are_good(file, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    configuration.load_configuration(file)


@pytest.mark.parametrize("paper", list_papers())
def test_an_artifact_shows_what_its_room_holds(paper):
    here = load_experiments(paper)
    for name, artifact in here["artifacts"].items():
        assert set(artifact.get("datasets", [])) <= set(here["datasets"])
        assert set(artifact.get("from", [])) <= set(here["artifacts"])
        if isinstance(artifact.get("methods", []), list):
            assert set(artifact.get("methods", [])) <= set(here["methods"])
        read = artifact_files.list_paper_inputs(CONFIG, paper, name)
        assert all((REPOSITORY / file).exists() for file in read if not file.startswith("results/"))
        if not name.startswith("projections"):
            assert (paper_folders.PAPERS / paper / "captions" / f"{name}.rst").exists()


@pytest.mark.parametrize("paper", list_papers())
def test_every_printed_method_has_a_specification_on_every_data_set(paper):
    for dataset, name in itertools.product(list_components("datasets"), load_experiments(paper)["methods"].values()):
        (folder,) = list_run_folders(dataset, name, 1)
        assert locate_result(folder).runs(), f"{name} on {dataset}"


def test_a_part_may_have_methods_of_its_own(toy):
    config = CONFIG | {
        "datasets": {"cmnist": "colored_digits", "waterbirds": {"data": "colored_digits", "methods": ["hot"]}}
    }
    assert [
        (artifact_run.paper_dataset, artifact_run.paper_method)
        for artifact_run in list_artifact_runs(config, "toy", "table_1")
    ] == [("cmnist", "erm"), ("cmnist", "hot"), ("waterbirds", "hot")]
    config["datasets"]["waterbirds"]["methods"] = {"hot": "epochs=2"}
    *_, own = list_artifact_runs(config, "toy", "table_1")
    assert (own.paper_method, parse(locate_result(own.folders[0]).name)[1]["epochs"]) == ("hot", ["2"])
    config["datasets"]["waterbirds"]["methods"] = ["cold"]
    with pytest.raises(SettingError, match=r"datasets.waterbirds: unknown method 'cold'"):
        check_configuration(config | {"papers": ["toy"]})


def test_an_artifact_may_have_seeds_and_data_of_its_own(toy):
    changed = {"toy": {"table_1": {"seeds": {"hot": 1}, "data": "p_corr=0.5~0.9"}}}
    found = list_artifact_runs(
        CONFIG | {"datasets": {"cmnist": "colored_digits+p_corr=0.8"}, "artifacts": changed}, "toy", "table_1"
    )
    assert {artifact_run.paper_method: locate_result(artifact_run.folders[0]).seeds for artifact_run in found} == {
        "erm": "s0-4",
        "hot": "s0",
    }
    assert {artifact_run.dataset for artifact_run in found} == {"colored_digits+p_corr=0.5~0.9"}


def test_an_artifact_may_give_all_its_methods_settings(toy):
    config = CONFIG | {"datasets": {"cmnist": "colored_digits"}}
    config |= {"artifacts": {"toy": {"table_1": {"settings": "epochs=2+temperature=0.1~0.2", "methods": ["hot"]}}}}
    (found,) = list_artifact_runs(config, "toy", "table_1")
    assert locate_result(found.folders[0]).name == "cnc+epochs=2+temperature=0.1~0.2"


@pytest.mark.parametrize(
    ("name", "shown"),
    [("table_1", "Table 1"), ("table_a12", "Table A.12"), ("figure_5", "Figure 5"), ("claims", "Claims")],
)
def test_labels(name, shown):
    assert format_label(name) == shown


def test_a_configuration_stands_alone_or_changes_the_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "config.yaml": "papers: [cnc]\ndatasets: {cmnist: colored_digits}\n",
        "alone.yaml": "papers: [fair_cl]\ndatasets: {}\n",
        "change.yaml": "seeds: 5\ndatasets: {moji: scene_embeddings}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    defaults = {"seeds": 3, "artifacts": {}, "sweep": False, "ledger": True, "outputs": "results"}
    read = {name: configuration.load_configuration(tmp_path / name) for name in files}
    assert read["config.yaml"] == {"papers": ["cnc"], "datasets": {"cmnist": "colored_digits"}, **defaults}
    assert read["alone.yaml"] == {"papers": ["fair_cl"], "datasets": {}, **defaults}
    assert read["change.yaml"] == read["config.yaml"] | {
        "seeds": 5,
        "datasets": {"cmnist": "colored_digits", "moji": "scene_embeddings"},
    }


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("results/runs/colored_digits/cnc/0-2/metrics.csv", "no range of seeds"),
        ("results/runs/colored_digits/cnc/s2-0/metrics.csv", "no range of seeds"),
        ("results/runs/colored_digits/cnc/s2-1/metrics.csv", "the last seed must come after the first"),
        ("results/runs/colored_digits/cnc+lambda/s0/metrics.csv", "no name, as cnc"),
        ("results/runs/colored_digits/cncc/s0/metrics.csv", "did you mean cnc"),
        ("results/data/colored_digit/inputs.npy", "did you mean colored_digits"),
        ("results/runs/cmnist+p_corr=0.995/erm/s0/metrics.csv", "p_corr=0.995 is called cmnist "),
        ("results/runs/colored_digits/cnc/s0-2", "cnc/s0-2/metrics.csv"),
        ("results/papers/cnc/table_9.md", "did you mean table_1"),
        ("results/papers/cncc/table_1.md", "did you mean cnc"),
        ("results/papers/domain_temperature/table_3_8.csv", "did you mean table_"),  # writes table_3 to table_8
    ],
)
def test_a_path_that_nothing_makes_is_refused_with_a_reason(path, message):
    with pytest.raises(SettingError, match=message):
        targets.check_target({"outputs": "results"}, Path(path))


@pytest.mark.parametrize(
    "path",
    [
        "cnc",
        "--cores",
        "mine.csv",
        "results/runs/colored_digits/cnc/s0-2/metrics.csv",
        "results/papers/cnc/table_1.md",
        "results/papers/domain_temperature/table_8.md",
        "results/matrix.csv",
    ],
)
def test_other_words_of_a_command_line_are_not_looked_at(path):
    targets.check_target(load_configuration(REPOSITORY / "config.yaml"), Path(path))
