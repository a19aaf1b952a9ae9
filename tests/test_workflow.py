"""The workflow: what each configuration and path makes, what is refused, what an edit makes Snakemake do again."""

import ast
import contextlib
import re
from functools import cache
from pathlib import Path

import forked
import pandas as pd
import pytest
from project import CONFIGS, FIGURE, TABLE, Project, tiny_project

from despur.orchestration import artifact_files, configuration, matrix
from despur.orchestration.locks import clear_stale_locks
from despur.specs.paths import locate_result

SMALL = {"config.yaml", "config/smoke.yaml", "config/frozen.yaml"}  # the others: make test-long
ARTIFACTS = {"cnc_table_1", "cnc_figure_5"}
EVALUATIONS = {"evaluate colored_digits/erm/s0-1", "evaluate colored_digits/cnc/s0-1"}
OF_CNC = {"train_stage2 colored_digits/cnc/s0-1", "evaluate colored_digits/cnc/s0-1", *ARTIFACTS}
METHOD = "workflow/despur/methods/cnc.py"


@pytest.fixture
def project(tmp_path):
    """The project without results."""
    return Project.fresh(tmp_path / "project")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return tiny_project(tmp_path_factory)


@pytest.fixture
def finished(tiny, tmp_path):
    """A copy of a finished tiny run, to be edited."""
    return tiny.copy(tmp_path / "project")


def again(finished):
    """The jobs that another call would start, apart from ``all``."""
    return set(finished.plan(TABLE, FIGURE))


# what is made


def load(project, config):
    with contextlib.chdir(project.root):
        return configuration.load_configuration(Path(config))


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """A configuration of the project, and its plan: made once for all tests."""
    project = Project.fresh(tmp_path_factory.mktemp("planned") / "project")
    return cache(lambda config: (load(project, config), project.plan("--configfile", config)))


@pytest.mark.parametrize(
    "config", [pytest.param(each, marks=[] if each in SMALL else [pytest.mark.long]) for each in CONFIGS]
)
def test_every_configuration_plans_all_its_artifacts_from_data_to_figures(planned, config):
    config, plan = planned(config)
    drawn = {
        f"{paper}_{artifact}" for paper in config["papers"] for artifact in artifact_files.list_artifacts(config, paper)
    }
    runs = {name.removeprefix("train_stage2 ") for name in plan if name.startswith("train_stage2 ")}
    read = {file for paper in config["papers"] for artifact in artifact_files.list_artifacts(config, paper)
            for file in artifact_files.list_inputs(config, paper, artifact)}  # fmt: skip
    read |= set(matrix.list_inputs(config))
    wanted = {str(Path(file).parent) for file in read if re.match("results/(runs|stage1|groups)/", file)}
    assert drawn | {"all", "scorecard"} <= set(plan) and ("matrix" in plan) == ("matrix" in config)
    assert {f"results/runs/{run}" for run in runs} == {
        folder for folder in wanted if folder.startswith("results/runs/")
    }
    assert {f"build_data {locate_result(folder).data.dataset}" for folder in wanted} <= set(plan)


def test_the_bundled_configuration_shares_stage_1_and_stays_within_its_processes(planned):
    _, plan = planned("config.yaml")
    assert len(plan) <= 345
    bases = [name for name in plan if name.startswith("train_stage1 colored_digits/erm/")]
    assert "train_stage1 colored_digits/erm/s0" in bases


@pytest.mark.long
def test_the_reference_trains_all_that_the_bundled_run_trains(planned):
    one, ten = (list_trained(planned(config)[1]) for config in ("config.yaml", "config/reference.yaml"))
    assert one and one < ten


def list_trained(plan):
    """The keys of all runs, each point of a sweep by itself."""
    folders = (name.removeprefix("train_stage2 ") for name in plan if name.startswith("train_stage2 "))
    return {run.key for folder in folders for run in locate_result(f"results/runs/{folder}").runs()}


def test_only_the_methods_that_are_asked_for_are_run_and_no_figure_is_drawn_of_nothing(project):
    (project.root / "oracle.yaml").write_text(
        "papers: [cnc]\nmethods: [gdro]\nseeds: 1\ndatasets: {cmnist: colored_digits}\n"
    )
    plan = set(project.plan("--configfile", "oracle.yaml"))
    assert {name for name in plan if not name.startswith("cnc_")} == {
        "build_data colored_digits",
        *(
            f"{rule} colored_digits/{name}/s0"
            for rule, name in (("infer_groups", "oracle"), ("train_stage2", "gdro"), ("evaluate", "gdro"))
        ),
        "scorecard",
        "all",
    }
    assert "cnc_table_1" in plan and not any(name.startswith("cnc_figure") for name in plan)


def test_any_path_of_any_stage_can_be_asked_for_and_needs_no_more_than_it_must(project):
    data = {key: f"colored_digits+p_corr=0.{i}" for i, key in enumerate("abcde", start=1)}
    plan = project.plan(
        f"results/data/{data['a']}/table.parquet",
        f"results/stage1/{data['b']}/erm/s0/outputs.safetensors",
        f"results/groups/{data['c']}/clusters+metric=cosine/s4/agreement.csv",
        f"results/runs/{data['d']}/gdro+groups=predictions+stage1.epochs=2/s0-1/models.safetensors",
        f"results/runs/{data['e']}/cnc+groups=oracle+temperature=0.1~0.2/s0-2/metrics.csv",
    )
    assert set(plan) == {
        *(f"build_data {name}" for name in data.values()),
        f"train_stage1 {data['b']}/erm/s0",
        f"train_stage1 {data['c']}/erm/s4",
        f"infer_groups {data['c']}/clusters+metric=cosine/s4",
        f"train_stage1 {data['d']}/erm+epochs=2/s0-1",
        f"infer_groups {data['d']}/predictions+stage1.epochs=2/s0-1",
        f"train_stage2 {data['d']}/gdro+groups=predictions+stage1.epochs=2/s0-1",
        f"infer_groups {data['e']}/oracle/s0-2",
        f"train_stage2 {data['e']}/cnc+groups=oracle+temperature=0.1~0.2/s0-2",
        f"evaluate {data['e']}/cnc+groups=oracle+temperature=0.1~0.2/s0-2",
    }


# what is refused


def refusal(project, *arguments):
    """The error that Snakemake prints. Nothing may have been started, made or deleted."""
    kept = project.root / "results/runs/colored_digits/cnc/s0/metrics.csv"
    kept.parent.mkdir(parents=True)
    kept.write_text("precious\n")
    before = project.results()
    code, text = project.call_snakemake("-c1", *arguments, seconds=100)
    assert code != 0, text
    assert project.results() == before
    assert not JOB_STARTED.search(text), text
    *_, error = text.partition("\nError: ")
    assert error and "Traceback" not in text and 'File "' not in text, text
    return error


JOB_STARTED = re.compile(r"^[\d:]+  start|^FAILED", re.MULTILINE)


# All else that is refused of configurations and names is tested without Snakemake (orchestration, specs).
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("sedes: 3", ["sedes", "did you mean seeds"]),
        ("seeds: 1\nseeds: 2", ["bad.yaml: the key 'seeds' stands in line 1 and again in line 2"]),
    ],
)
def test_a_bad_configuration_is_refused_with_one_clear_message(project, config, expected):
    (project.root / "bad.yaml").write_text(f"{config}\n")
    error = refusal(project, "--configfile", "bad.yaml")
    assert all(text in error for text in expected), error
    assert len(error.splitlines()) <= 2, error


def test_a_bad_path_is_refused_with_one_clear_message(project):
    error = refusal(project, "results/runs/colored_digits/cnc+two_sided=true/s0/metrics.csv")
    assert error.count("cnc+two_sided=true is called cnc ") == len(error.splitlines()) == 1, error


def test_while_another_snakemake_makes_a_file_a_second_and_a_third_are_refused(project):
    locks, target = project.root / ".snakemake/locks", "results/data/colored_digits/table.parquet"
    locks.mkdir(parents=True)
    with clear_stale_locks(locks.parent):  # as the first one does, which lives until here
        (locks / "0.output.lock").write_text(f"{target}\n")
        for _ in range(2):
            code, text = project.call_snakemake("-c1", target, seconds=100)
            assert code == 1 and "cannot be locked" in text


# what comes out


def test_the_table_holds_the_means_of_the_runs(tiny):
    table = pd.read_csv(tiny.root / TABLE)
    table = table[table["paper_dataset"] == "cmnist"].set_index(["method", "metric"])
    assert set(table[table["seeds"] > 0].index.get_level_values("method")) == {"erm", "cnc"}
    for method in ("erm", "cnc"):
        metrics = pd.read_csv(tiny.root / f"results/runs/colored_digits/{method}/s0-1/metrics.csv")
        for metric in ("worst_group_accuracy", "average_accuracy"):
            chosen = metrics[
                (metrics["metric"] == metric) & (metrics["split"] == "test") & (metrics["selection"] == "best")
            ]
            assert sorted(chosen["seed"]) == [0, 1]
            row = table.loc[(method, metric)]
            assert row["ours"] == pytest.approx(100 * chosen["value"].mean())
            assert row["ours_std"] == pytest.approx(100 * chosen["value"].std())
            assert row["data"] == "colored_digits"
            shown = f"{row['ours']:.1f} ({row['ours_std']:.1f})"
            for suffix in (".md", ".tex"):
                assert shown in (tiny.root / TABLE).with_suffix(suffix).read_text()


def test_the_figure_shows_the_runs(tiny):
    png = (tiny.root / FIGURE).read_bytes()
    assert png.startswith(b"\x89PNG") and len(png) > 10_000
    assert (tiny.root / FIGURE).with_suffix(".pdf").read_bytes().startswith(b"%PDF")
    values = pd.read_csv((tiny.root / FIGURE).with_suffix(".csv"))
    metrics = pd.read_csv(tiny.root / "results/runs/colored_digits/cnc/s0-1/metrics.csv")
    chosen = metrics[
        (metrics["metric"] == "alignment_loss") & (metrics["split"] == "test") & (metrics["selection"] == "best")
    ]
    shown = values[(values["paper_method"] == "cnc") & (values["metric"] == "alignment_loss")]
    assert shown["value"].tolist() == pytest.approx(chosen[chosen["group"].isna()]["value"].tolist())
    assert len(shown) == 2


# what is done again


def test_a_second_call_does_nothing(finished):
    before = finished.results()
    assert "Nothing to be done" in finished.snakemake(TABLE, FIGURE)
    assert finished.results() == before


def append_code(text):
    return f"{text}\nEDITED = True\n"


def append_comment(text):
    return f"# Edited.\n{text}\n# The end.\n"


def edit_docstrings(text):
    return re.sub(r'("""[^"]+""")', r'"""Edited."""', text)


def test_comments_docstrings_and_formatting_repeat_nothing(finished):
    finished.edit(METHOD, append_comment)
    finished.edit("workflow/despur/methods/erm.py", edit_docstrings)
    finished.edit("workflow/despur/datasets/colored_digits.py", lambda text: ast.unparse(ast.parse(text)))
    finished.edit("workflow/despur/papers/cnc/figures.py", append_comment)
    assert again(finished) == set()


def swap_defaults(text):
    """Snakemake compares the parameters of a job without their names."""
    swapped = {
        '"temperature": float_(0.05': '"temperature": float_(0.75',
        '"lambda": float_(0.75': '"lambda": float_(0.05',
    }
    return re.sub("|".join(map(re.escape, swapped)), lambda found: swapped[found[0]], text)


OF_SEED_2 = {
    "train_stage1 colored_digits/erm/s2",
    "infer_groups colored_digits/predictions/s2",
    *(f"{rule} colored_digits/{method}/s2" for rule in ("train_stage2", "evaluate") for method in ("erm", "cnc")),
}


@pytest.mark.parametrize(
    ("file", "edit", "repeated"),
    [
        (METHOD, append_code, OF_CNC),
        (METHOD, swap_defaults, OF_CNC),
        ("workflow/despur/metrics/alignment.py", append_code, EVALUATIONS | ARTIFACTS),
        ("workflow/despur/papers/cnc/tables.py", append_code, {"cnc_table_1"}),
        ("workflow/despur/papers/cnc/figures.py", append_code, {"cnc_figure_5"}),
        ("config.yaml", lambda text: text.replace('["0-1"]', '["0-1", "2"]'), OF_SEED_2 | ARTIFACTS),
    ],
    ids=["method", "settings", "metric", "table", "figure", "seeds"],
)
def test_an_edit_repeats_what_it_changes_and_what_shows_that(finished, file, edit, repeated):
    finished.edit(file, edit)
    assert again(finished) == repeated


def test_a_broken_file_is_made_again_by_the_commands_that_its_message_names(finished):
    file = finished.root / "results/data/colored_digits/groups.npz"
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    metrics = "results/runs/colored_digits/erm/s0-1/metrics.csv"
    code, text = forked.run(["-m", "despur.evaluate", metrics], finished.root, finished.environment, 100)
    named = re.search(r"groups\.npz is broken \(.*\): delete (\S+), then: snakemake (\S+)$", text.strip())
    assert code == 1 and named, text
    (finished.root / named[1]).unlink()
    finished.snakemake(named[2])
    assert file.read_bytes() == whole
