"""Which settings of a run are not the paper's."""

from pathlib import Path

import pytest
from project import SOURCE

from despur.evidence.runs import changed_settings
from despur.evidence.runs.changed_settings import describe_changes, describe_shortening
from despur.orchestration import configuration, experiments
from despur.orchestration.experiments import ArtifactRun
from despur.specs.paths import locate_result


def of(paper, artifact, paper_dataset, printed, data, method, describe=describe_changes):
    return describe(
        ArtifactRun(paper_dataset, data, printed, (f"results/runs/{data}/{method}/s0",), artifact, paper), data, method
    )


@pytest.mark.parametrize(
    ("where", "data", "method", "found"),
    [
        (("cnc", "table_1", "waterbirds", "erm"), "waterbirds", "erm", ""),
        (("cnc", "table_1", "waterbirds", "erm"), "waterbirds+size=64", "erm", "size=64"),
        (("cnc", "table_1", "waterbirds", "erm"), "waterbirds", "erm+snapshots=50", ""),  # more is kept, nothing else
        (("cnc", "table_1", "waterbirds", "erm"), "waterbirds", "erm+encoder.weights=random", "encoder.weights=random"),
        (("cnc", "table_1", "waterbirds", "cnc"), "waterbirds", "cnc+stage1.epochs=1", "groups.stage1.epochs=1"),
        (("cnc", "table_1", "cmnist", "cnc"), "cmnist+colors=released", "cnc", ""),
        (("cnc", "table_1", "cmnist", "cnc"), "cmnist+colors=released+draw=seed", "cnc", ""),
        # substitute data is not compared anyway
        (("cnc", "table_1", "cmnist", "erm"), "colored_digits", "erm+epochs=1", ""),
        (("cnc", "table_a4", "waterbirds", "cnc_one_sided"), "waterbirds", "cnc+two_sided=false", ""),
        (("cnc", "table_a4", "waterbirds", "cnc_one_sided"), "waterbirds", "cnc", "two_sided=true"),
        (
            ("adapters", "table_3", "waterbirds", "wise_ft"),
            "waterbirds+fit=clip",
            "wise_ft+alpha=0+stage1.classes=means+stage1.encoder=timm+stage1.encoder.model=test_vit",
            "stage1.encoder=timm;stage1.classes=means;stage1.encoder.model=test_vit",
        ),
        (("fair_cl", "table_2", "bios_nurse_surgeon", "ce"), "bios+professions=nurse_surgeon", "erm", ""),
        (("fair_cl", "table_1", "moji", "inlp"), "moji", "inlp+iterations=30", ""),  # of the paper folder's grid
        (("fair_cl", "table_1", "moji", "inlp"), "moji", "inlp+iterations=20", "iterations=20"),
        # one job for several printed methods
        (("icl_msr", "table_1", "cifar10", "all"), "cifar10", "linear_classifier+stage1=byol", ""),
        (
            ("domain_temperature", "figure_1", "cmnist_3v5", "mmd"),
            "cmnist_3v5+draw=3+sigma=25",
            "cl_mmd+weight=0.1",
            "",
        ),
        (
            ("domain_temperature", "figure_1", "cmnist_3v5", "mmd"),
            "cmnist_3v5+sigma=30",
            "cl_mmd+epochs=60",
            "sigma=30;epochs=60",
        ),
    ],
)
def test_what_differs_from_the_room_is_named(where, data, method, found):
    assert of(*where, data, method) == found


@pytest.mark.parametrize("sweep", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_published_configuration_changes_nothing(sweep, monkeypatch):
    monkeypatch.chdir(SOURCE)
    config = configuration.load_configuration(Path("config/published.yaml")) | {"sweep": sweep}
    artifact_runs = [
        artifact_run
        for artifact_run in experiments.list_runs_of_papers(config)
        if artifact_run.artifact != "figure_1" or not sweep
    ]  # 190 settings: asked above
    runs = [(artifact_run, locate_result(artifact_run.folders[0]).runs()) for artifact_run in artifact_runs]
    of_one_seed = [(artifact_run, run) for artifact_run, named in runs for run in named if run.seed == named[0].seed]
    assert not any(artifact_run.substitute for artifact_run in artifact_runs)
    assert {describe_changes(artifact_run, run.data.name, run.spec.name) for artifact_run, run in of_one_seed} == {""}


@pytest.mark.parametrize(
    ("where", "data", "method", "found"),
    [
        (("cnc", "table_1", "waterbirds", "erm"), "waterbirds", "erm", ""),
        (("cnc", "table_1", "waterbirds", "erm"), "waterbirds", "erm+epochs=1", "epochs=1 instead of 300"),
        (("cnc", "table_1", "waterbirds", "erm"), "waterbirds", "erm+epochs=400", ""),  # longer
        (("cnc", "table_1", "waterbirds", "erm"), "waterbirds", "erm+learning_rate=0.1", ""),
        (
            ("cnc", "table_1", "waterbirds", "cnc"),
            "waterbirds",
            "cnc+epochs=1+stage1.epochs=1",
            "epochs=1 instead of 5, groups.stage1.epochs=1 instead of 300",
        ),
        (("cnc", "table_1", "cmnist", "eiil"), "cmnist", "eiil+groups.steps=10", "groups.steps=10 instead of 10000"),
        (("cnc", "table_1", "cmnist", "erm"), "colored_digits", "erm+epochs=1", ""),  # substitute data
    ],
)
def test_training_is_shorter_where_any_setting_counts_fewer_epochs_or_steps(where, data, method, found):
    assert of(*where, data, method, describe_shortening) == found


def test_phases_of_training_count_too(monkeypatch):
    differing = [("finetune_epochs", "1", "3"), ("head_epochs", "9", "3"), ("decay_every", "1", "3")]
    monkeypatch.setattr(
        changed_settings, "list_changed_settings", lambda *_: [*differing, ("discriminator_epochs", "1", None)]
    )
    where = ("cnc", "table_1", "waterbirds", "erm")
    assert of(*where, "waterbirds", "erm", describe_shortening) == "finetune_epochs=1 instead of 3"
