"""The stages, in the order in which data flows: all that rules, result paths, plans, resources, digests and pages know
of a stage stands in one row of this table."""

from collections.abc import Mapping
from typing import NamedTuple


class Stage(NamedTuple):
    """A stage. ``folder``: of its results, below ``results``; a stage that adds to a run's results names the runs'
    folder. ``components``: the folder of the package that holds what it runs. ``part``: the part of a method's
    specification that it runs, nothing for the method itself. ``program``: the module of the package. ``rule``: that of
    Snakemake. ``title``: on pages and in the view of a run. ``result``: what it makes, in words. ``files``: what it
    writes into its folder, by kind. ``reads``: the earlier stages whose results it reads, besides
    data. ``trains``: whether it may take steps on a GPU."""

    name: str
    folder: str
    components: str
    part: str
    program: str
    rule: str
    title: str
    result: str
    files: Mapping[str, str]
    reads: tuple[str, ...] = ()
    trains: bool = False

    @property
    def adds_to_runs(self) -> bool:
        """Whether it reads what a run wrote and adds to it, with no code of the run's components."""
        return self.folder != self.name


TRAINED = {
    "models": "models.safetensors",
    "outputs": "outputs.safetensors",
    "history": "history.csv",
    "about": "about.json",
}
BUILT = {
    "inputs": "inputs.npy",
    "masks": "masks.npy",
    "table": "table.parquet",
    "groups": "groups.npz",
    "about": "about.json",
}

TABLE = (
    Stage(
        "data", "data", "datasets", "", "data", "build_data", "data", "a data set: arrays and a table",
        BUILT,
        reads=("stage1",),
    ),
    Stage(
        "stage1", "stage1", "methods", "stage1", "stage1", "train_stage1", "stage 1",
        "a first model: representations and logits of every sample", TRAINED, trains=True,
    ),
    Stage(
        "groups", "groups", "inference", "groups", "groups", "infer_groups", "groups",
        "an attribute inferred for every training sample",
        {"outputs": "groups.safetensors", "metrics": "agreement.csv", "about": "about.json"}, reads=("stage1",),
    ),
    Stage(
        "runs", "runs", "methods", "", "stage2", "train_stage2", "stage 2", "trained models, their outputs and metrics",
        TRAINED, reads=("stage1", "groups"), trains=True,
    ),
    Stage(
        "evaluate", "runs", "methods", "", "evaluate", "evaluate", "evaluation", "every metric of trained models",
        {"metrics": "metrics.csv", "resamples": "resamples.parquet"}, reads=("runs",),
    ),
    Stage(
        "saliency", "runs", "methods", "", "saliency", "saliency", "saliency maps", "where trained models look",
        {"maps": "saliency.safetensors", "saliency": "saliency.csv"}, reads=("runs", "stage1"),
    ),
)  # fmt: skip
STAGES = {stage.name: stage for stage in TABLE}
RULE_TITLES = {stage.rule: stage.title for stage in TABLE}
OTHER_RULES = "tables and figures"  # what all rules without a stage make
FOLDERS = tuple(dict.fromkeys(stage.folder for stage in TABLE))  # of results
PARTS = tuple(stage.part for stage in TABLE if stage.part)  # stages that run a part of a method's specification


def find_stage(folder: str, file: str) -> Stage:
    """The stage that writes a file of this name into a folder of results; the folder's own for any other name."""
    return next((stage for stage in TABLE if stage.folder == folder and file in stage.files.values()), STAGES[folder])


def find_files(folder: str) -> dict[str, str]:
    """Every file that stages write into a folder of results, by kind."""
    return {kind: file for stage in TABLE if stage.folder == folder for kind, file in stage.files.items()}
