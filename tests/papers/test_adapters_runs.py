"""The paper adapters in the published configuration, and what it shares in the bundled one: settings of data sets,
runs, claims."""

import itertools
from pathlib import Path

import pandas as pd
import pytest
import yaml
from making import write_run

from despur.evidence.claims.claim_format import read_claims
from despur.evidence.claims.decisions import find_tier
from despur.evidence.numbers.tables import compare
from despur.evidence.runs.artifact_metrics import load_metrics
from despur.evidence.runs.changed_settings import describe_changes
from despur.evidence.statistics.formulas import Correlation
from despur.evidence.verdicts import Tier
from despur.orchestration import configuration, experiments, paper_folders
from despur.papers.adapters import method_names
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve

CONFIG = yaml.safe_load(Path("config/published.yaml").read_text())
EXPERIMENTS = experiments.load_experiments("adapters")
USED = {name: parse(experiments.list_substitutes(CONFIG, name)[0])[0] for name in EXPERIMENTS["datasets"]}


@pytest.mark.parametrize("paper_dataset", USED)
@pytest.mark.parametrize("method", ["linear_probe", "wise_ft", "adapter", "contrastive_adapter"])
def test_what_is_trained_on_embeddings_is_trained_as_in_the_released_code(paper_dataset, method):
    settings = resolve("methods", method, USED[paper_dataset]).points[0].settings
    rates = {"optimizer": "sgd", "learning_rate": 1e-3, "momentum": 0.9, "weight_decay": 5e-5}
    rates |= {"decay": "none", "clip": 0}
    assert {key: settings[key] for key in rates} == rates and settings["batch_size"] == 128
    assert settings["epochs"] == (50 if paper_dataset == "celeba" else 100)
    if method == "contrastive_adapter":
        assert settings["anchor_fraction"] == (1 if paper_dataset == "waterbirds" else 0.1)


def waterbirds_runs(artifact, **changes):
    """The runs of an artifact on Waterbirds, and the settings in which each differs from the paper's."""
    for artifact_run in experiments.list_artifact_runs(CONFIG | changes, "adapters", artifact):
        if artifact_run.paper_dataset == "waterbirds":
            run = locate_result(artifact_run.folders[0]).runs()[0]
            yield artifact_run.dataset, describe_changes(artifact_run, run.data.name, run.spec.name)


def test_an_encoder_or_weights_that_the_paper_did_not_use_are_another_encoder_on_its_data():
    for encoder, tier in (
        ("", Tier.PAPER),
        ("+stage1.classes=means+stage1.encoder=hf", Tier.OTHER_ENCODER),
        ("+stage1.encoder.checkpoint=laion2b_s34b_b79k+stage1.encoder.model=ViT-B-32", Tier.OTHER_ENCODER),
    ):
        for printed, method in (("wise_ft", "wise_ft+alpha=0"), ("contrastive_adapter", "contrastive_adapter")):
            name = resolve("methods", method + encoder, "waterbirds").points[0].name
            folders = (f"results/runs/waterbirds+fit=clip/{name}/s0",)
            artifact_run = experiments.ArtifactRun("waterbirds", "waterbirds", printed, folders, "table_3", "adapters")
            changed = describe_changes(artifact_run, "waterbirds+fit=clip", name)
            assert find_tier(pd.DataFrame({"substitute": [False], "changed": [changed]})) == tier


def test_another_width_is_the_same_encoder():
    changed = "encoder.width=8;encoder.pooling=mean"
    assert find_tier(pd.DataFrame({"substitute": [False], "changed": [changed]})) == Tier.PAPER


def test_the_configuration_of_frozen_encoders_runs_what_its_claims_are_about():
    config = configuration.load_configuration(Path("config/frozen.yaml"))
    runs = experiments.list_artifact_runs(config, "adapters", "claims")
    assert {run.dataset for run in runs} == {"waterbirds+fit=clip"}
    assert {run.paper_method for run in runs} == {"zero_shot", "wise_ft", "dfr", "contrastive_adapter"}
    for run in runs:
        for point in locate_result(run.folders[0]).sweep.points:
            assert point.components["stage1"].components["encoder"].settings["checkpoint"] == "laion2b_s34b_b79k"


def test_waterbirds_are_this_papers_as_clip_sees_them_and_stretched_ones_are_flagged():
    assert set(waterbirds_runs("table_4")) == {("waterbirds+fit=clip", "")}
    as_clip = {"waterbirds": "waterbirds+fit=clip"}
    assert set(waterbirds_runs("table_4", datasets=as_clip)) == {("waterbirds+fit=clip", "")}
    stretched = {"artifacts": {"adapters": {"table_4": {"data": "fit=stretch"}}}}
    assert set(waterbirds_runs("table_4", **stretched)) == {("waterbirds", "fit=stretch")}
    bundled = {"artifacts": {"adapters": {"table_4": {"methods": {"zero_shot": "prompting"}}}}}
    assert set(waterbirds_runs("table_4", **bundled, datasets={"waterbirds": "scene_digits"})) == {("scene_digits", "")}
    cnc = experiments.list_artifact_runs(CONFIG, "cnc", "table_1")
    assert "waterbirds" in {artifact_run.dataset for artifact_run in cnc}


@pytest.mark.parametrize(("fit", "verdict"), [("+fit=clip", "not known"), ("", "other settings")])
def test_only_waterbirds_as_clip_sees_them_are_compared(fit, verdict, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = locate_result(f"results/runs/waterbirds{fit}/prompting/s0-2")
    rows = [
        {"dataset": run.data.name, "method": run.spec.name, "seed": run.seed, "metric": metric, "value": value}
        for run in result.runs()
        for metric, value in (("worst_group_accuracy", 0.366), ("samples", 5794))
    ]
    folder = write_run(result.folder, pd.DataFrame(rows).assign(split="test"))
    own = experiments.ArtifactRun("waterbirds", f"waterbirds{fit}", "zero_shot", (folder,), "table_3", "adapters")
    number = {"dataset": "waterbirds", "method": "zero_shot", "setting": "", "metric": "worst_group_accuracy"}
    printed = pd.DataFrame([{**number, "mean": 36.6, "std": float("nan"), "note": ""}])
    assert compare(printed, load_metrics([own]), 3)["verdict"].tolist() == [verdict]


def test_texts_are_those_of_gpt_neo():
    for artifact_run in experiments.list_artifact_runs(CONFIG, "adapters", "figure_4_text"):
        (data,) = resolve("datasets", artifact_run.dataset).points
        for run in locate_result(artifact_run.folders[0]).runs():
            stage1 = run.spec.components["stage1"]
            assert stage1.components["encoder"].settings["model"] == "gpt-neo-1.3B"
            assert data.settings["vocabulary"] == "gpt2" and stage1.settings["templates"] == "gpt_neo"


def test_figure_3_has_zero_shot_and_the_erm_adapter_on_every_clip_model():
    found = set()
    for artifact_run in experiments.list_artifact_runs(CONFIG, "adapters", "figure_3"):
        for point in locate_result(artifact_run.folders[0]).sweep.points:
            names = method_names.identify(artifact_run.paper_method, point.name, artifact_run.dataset)[:2]
            found.add((artifact_run.paper_dataset, *names))
    datasets = EXPERIMENTS["artifacts"]["figure_3"]["datasets"]
    asked = itertools.product(datasets, ["zero_shot", "adapter"], method_names.BACKBONES.values())
    assert set(asked) <= found


CLAIMS, _ = read_claims(paper_folders.PAPERS / "adapters/claims.yaml")


class Anything:
    """As if every level had been run."""

    def levels(self, key, measurement):
        return [100, 250] if key == "data.samples" else [1.0, 2.0]


def asked(claim):
    """Methods, foundation models (None: any) and numbers of training samples (0: all) that a claim uses."""
    for part in claim.formulas(claim.datasets[:1], Anything()).leaves():
        if isinstance(part, Correlation):  # of the models, those that every claim about it has
            models = [model for model in part.of["backbone"] if model in ("clip_rn50", "clip_vit_l14")]
            yield from itertools.product(part.of["method"], models, [0])
        else:
            yield from ((one["method"], one.get("backbone"), one.get("data.samples", 0)) for _, one in part.terms)


def ran(claim, paper_dataset):
    """What the published configuration runs for a claim on a data set; the paper's names, foundation models, numbers
    of samples."""
    every = {run for name in claim.artifacts for run in experiments.list_artifact_runs(CONFIG, "adapters", name)}
    own = [run for run in every if run.paper_dataset == paper_dataset and run.artifact in claim.artifacts]
    for artifact_run in own:
        for run in locate_result(artifact_run.folders[0]).runs():
            printed, backbone, alpha = method_names.identify(artifact_run.paper_method, run.spec.name, run.data.name)
            for method in (printed, *(["linear_probe"] if alpha == 0 else [])):
                yield from ((method, model, run.data.settings.get("samples", 0)) for model in (backbone, None))


@pytest.mark.parametrize("claim", [each for each in CLAIMS if not each.not_executed], ids=lambda claim: claim.name)
def test_what_a_claim_asks_for_is_run_in_the_published_configuration(claim):
    assert set(claim.artifacts) <= set(EXPERIMENTS["artifacts"]["claims"]["from"])
    wanted = set(asked(claim))
    assert wanted
    for paper_dataset in claim.datasets:
        assert wanted <= set(ran(claim, paper_dataset)), paper_dataset


def test_benchmarks_of_figure_4_are_judged_and_in_sentences():
    claims = [claim for claim in CLAIMS if claim.name.startswith("contrastive_adapter_beats_zero_shot")]
    judged = {paper_dataset for claim in claims for paper_dataset in claim.datasets}
    assert judged == set(EXPERIMENTS["datasets"])
    of_sentences = experiments.list_artifact_runs(CONFIG, "adapters", "prose")
    assert {artifact_run.paper_dataset for artifact_run in of_sentences} == judged


def test_in_the_bundled_run_table_6_and_figure_3_cost_nothing():
    bundled = configuration.load_configuration(Path("config.yaml"))

    def list_folders(paper, *names):
        runs = [run for name in names for run in experiments.list_artifact_runs(bundled, paper, name)]
        return {folder for run in runs for folder in run.folders}

    table_6 = experiments.list_artifact_runs(bundled, "adapters", "table_6")
    own = {(run.paper_method, run.paper_dataset) for run in table_6 if run.artifact == "table_6"}
    assert own == {("jtt", "waterbirds"), ("cnc", "waterbirds"), ("jtt", "celeba"), ("cnc", "celeba")}
    others = list_folders("cnc", "table_1") | list_folders("adapters", "table_3", "figure_5")
    assert list_folders("adapters", "table_6", "figure_3") <= others
