import re
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from despur.specs.declarations import read_declarations
from despur.specs.paths import ResultPath, chunk_seeds, chunk_size, locate_result, parse_seeds
from despur.specs.resolution import resolve, resolve_canonical
from despur.specs.settings import SettingError

quick = settings(deadline=None, derandomize=True, database=None)

FOLDERS = {
    "results/data/colored_digits": ResultPath(Path("results"), "data", "colored_digits"),
    "results/data/cmnist+draw=0~1+p_corr=0.9": ResultPath(Path("results"), "data", "cmnist+draw=0~1+p_corr=0.9"),
    "results/stage1/cmnist/erm/s0-2": ResultPath(Path("results"), "stage1", "cmnist", "erm", "s0-2"),
    "results/groups/cmnist/clusters+stage1.epochs=1/s3": ResultPath(
        Path("results"), "groups", "cmnist", "clusters+stage1.epochs=1", "s3"
    ),
    "results/runs/cmnist+p_corr=0.9/cnc+lambda=0.2~0.4+temperature=1e-05/s0-2": ResultPath(
        Path("results"), "runs", "cmnist+p_corr=0.9", "cnc+lambda=0.2~0.4+temperature=1e-05", "s0-2"
    ),
}


@pytest.mark.parametrize(("path", "result"), FOLDERS.items())
def test_a_path_says_which_result_it_is(path, result):
    assert locate_result(path) == result
    assert result.folder == Path(path)


@pytest.mark.parametrize("path", FOLDERS)
def test_a_file_in_a_folder_asks_for_the_folder(path):
    assert locate_result(f"{path}/outputs.safetensors") == locate_result(f"{path}/") == locate_result(Path(path))


@pytest.mark.parametrize("root", ["/tmp/elsewhere/results", "a/runs/b", "."])
def test_results_may_lie_anywhere(root):
    result = locate_result(Path(root, "runs/cmnist/erm/s0"))
    assert result.root == Path(root)
    assert result.data.root == Path(root)
    assert result.folder == Path(root, "runs/cmnist/erm/s0")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "results",
        "results/runs/cmnist/erm",
        "results/runs/cmnist/erm/0-2",
        "results/runs/cmnist/erm/s0-2/more/files.csv",
        "results/models/cmnist/erm/s0",
        "results/runs/CMNIST/erm/s0",
        "results/runs/cmnist/erm,epochs=1/s0",
        "results/runs/cmnist/erm+epochs/s0",
        "results/runs/cmnist/erm+epochs=1 /s0",
    ],
)
def test_other_paths_are_refused_by_name(path):
    with pytest.raises(SettingError) as error:
        locate_result(path)
    assert str(error.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("results/runs/cmnist/erm", "lacks a range of seeds"),
        ("results/runs/cmnist/erm/s2-0", "'s2-0' is no range of seeds"),
        ("results/runs/cmnist/cnc+lambda=/s0", "'cnc+lambda=' is no name"),
        ("results/data", "lacks a data set"),
        ("/data/mine/results/runs/Foo/cnc/s0", "'Foo' is no data set"),
        ("results/scorecard.html", "none of its folders is data, "),
        ("results/data/cmnist/more/files.csv", "more/files.csv is no file in it"),
    ],
)
def test_the_part_of_a_path_that_is_wrong_is_named(path, told):
    with pytest.raises(SettingError, match=re.escape(f"{path}: ") + ".*" + re.escape(told)):
        locate_result(path)


@pytest.mark.parametrize("text", ["s3-3", "s3-2"])
def test_one_seed_has_one_spelling_and_ranges_run_forwards(text):
    with pytest.raises(SettingError, match=text):
        parse_seeds(text)


def test_chunks_that_name_a_seed_twice_are_refused():
    with pytest.raises(SettingError, match="twice"):
        chunk_seeds(["0-2", "2-4"], 5)


def test_a_base_that_reads_another_stage_is_refused():
    with pytest.raises(SettingError, match="gdro"):
        resolve_canonical("methods", "cnc+stage1=gdro")


@quick
@given(st.integers(1, 60), st.integers(1, 12))
def test_chunks_hold_every_seed_once_and_are_aligned(seeds, size):
    found = [parse_seeds(text) for text in chunk_seeds(seeds, size)]
    assert list(chain(*found)) == list(range(seeds))
    assert all(part[0] % size == 0 and len(part) == size for part in found[:-1])
    assert found[-1][0] % size == 0


@quick
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 12))
def test_more_seeds_keep_the_chunks_that_are_full(few, more, size):
    full = few // size
    assert chunk_seeds(few, size)[:full] == chunk_seeds(few + more, size)[:full]


def test_explicit_chunks_are_taken_as_they_are():
    assert chunk_seeds(["0-2", "3-9", "12"], 5) == ["s0-2", "s3-9", "s12"]


@pytest.mark.parametrize("method", ["erm", "cnc+temperature=0.1", "jtt+stage1.epochs=1"])
def test_the_encoder_says_how_many_seeds_travel_together(method):
    assert (
        chunk_size(locate_result(f"results/runs/colored_digits+draw=1/{method}/s0"))
        == read_declarations("encoders", "lenet")["SEED_CHUNK"]
    )


def test_another_encoder_says_another_size(package):
    package.write("encoders/toy.py", "SEED_CHUNK = 1\n")
    package.write("encoders/silent.py", "")
    assert chunk_size(locate_result("results/runs/cmnist/erm+encoder=toy/s0")) == 1
    assert chunk_size(locate_result("results/stage1/cmnist/erm+encoder=silent/s0")) == 5


def test_the_components_of_a_run_lie_upstream():
    result = locate_result("results/runs/cmnist/cnc+groups.restarts=3+lambda=0.5+stage1.epochs=13/s0-2")
    (groups,) = result.upstream("groups")
    assert groups == locate_result("results/groups/cmnist/clusters+restarts=3+stage1.epochs=13/s0-2")
    (stage1,) = groups.upstream("stage1")
    assert stage1 == locate_result("results/stage1/cmnist/erm+epochs=13/s0-2")
    assert result.upstream("stage1") == stage1.upstream("groups") == []


def test_the_groups_of_a_method_that_reads_a_stage_1_are_inferred_from_it():
    for written in ("dfr+groups=predictions+stage1.epochs=2", "dfr+groups=predictions+groups.stage1.epochs=2"):
        name = resolve("methods", written).name
        result = locate_result(f"results/runs/cmnist/{name}/s0-2")
        (groups,), (stage1,) = result.upstream("groups"), result.upstream("stage1")
        assert name == "dfr+groups=predictions+stage1.epochs=2"
        assert groups == locate_result("results/groups/cmnist/predictions+stage1.epochs=2/s0-2")
        assert stage1 == locate_result("results/stage1/cmnist/erm+epochs=2/s0-2") == groups.upstream("stage1")[0]
        (run,) = [run for run in result.runs() if run.seed == 1]
        assert (
            run.find_upstream_key("stage1") == "cmnist/erm+epochs=2/s1"
            and run.find_upstream_key("groups") == "cmnist/predictions+stage1.epochs=2/s1"
        )


def test_a_sweep_over_the_stage_1_of_a_method_is_one_sweep_of_its_groups():
    result = locate_result("results/runs/cmnist/dfr+groups=oracle~predictions+stage1.epochs=2~3/s0")
    assert [up.name for up in result.upstream("groups")] == ["oracle", "predictions+stage1.epochs=2~3"]
    assert [up.name for up in result.upstream("stage1")] == ["erm+epochs=2~3"]


def test_methods_that_need_the_same_stage_1_share_it():
    jtt, cnc = (
        locate_result(f"results/runs/colored_digits/{name}/s0-2").upstream("groups")[0] for name in ("jtt", "cnc")
    )
    assert jtt.upstream("stage1") == cnc.upstream("stage1")


def test_a_sweep_over_components_reads_each():
    result = locate_result("results/runs/cmnist/jtt+groups=clusters~oracle~predictions/s0")
    assert {up.name for up in result.upstream("groups")} == {"clusters", "oracle", "predictions"}


def test_a_sweep_over_a_component_is_one_sweep_upstream():
    result = locate_result("results/runs/cmnist/jtt+factor=10~20+stage1.epochs=13~17+upsampling=constant/s0")
    (groups,) = result.upstream("groups")
    assert groups.name == "predictions+stage1.epochs=13~17"


def test_a_method_without_components_reads_none():
    assert locate_result("results/runs/cmnist/erm/s0").upstream("groups") == []


def test_runs_are_every_data_set_point_and_seed():
    result = locate_result("results/runs/cmnist+p_corr=0.9~0.99/cnc+lambda=0.2~0.4/s3-4")
    keys = [run.key for run in result.runs()]
    assert keys == [
        f"cmnist+p_corr={p}/cnc+lambda={weight}/s{seed}"
        for p in ("0.9", "0.99")
        for weight in ("0.2", "0.4")
        for seed in (3, 4)
    ]


def test_a_run_keeps_its_key_in_another_folder():
    alone = {run.key for run in locate_result("results/runs/cmnist/cnc+lambda=0.4/s4").runs()}
    assert alone < {run.key for run in locate_result("results/runs/cmnist/cnc+lambda=0.2~0.4/s3-5").runs()}


def test_a_draw_per_seed_gives_each_seed_its_own_data():
    result = locate_result("results/runs/colored_digits+draw=seed/erm/s0-2")
    assert result.data == locate_result("results/data/colored_digits+draw=0~1~2")
    assert [(run.data.settings["draw"], run.seed) for run in result.runs()] == [(0, 0), (1, 1), (2, 2)]


def test_a_fixed_draw_gives_every_seed_the_same_data():
    result = locate_result("results/runs/colored_digits+draw=1/erm/s0-2")
    assert result.data == locate_result("results/data/colored_digits+draw=1")
    assert {run.data.name for run in result.runs()} == {"colored_digits+draw=1"}


@pytest.mark.parametrize(
    "dataset", ["colored_digits", "colored_digits+draw=seed", "colored_digits+draw=3~seed", "cmnist+p_corr=0.9~0.99"]
)
def test_the_data_of_a_place_holds_the_data_of_its_runs(dataset):
    result = locate_result(f"results/runs/{dataset}/erm/s0-1")
    held = {point.name for point in resolve_canonical("datasets", result.data.dataset).points}
    assert {run.data.name for run in result.runs()} == held
