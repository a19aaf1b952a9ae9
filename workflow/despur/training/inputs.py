"""What the runs of a result path are trained on: data sets, and results of stage 1 and of group inference."""

import dataclasses
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path

import numpy as np
import torch

from despur.compute.held_out import divide_held_out
from despur.compute.input_batcher import present
from despur.compute.task import Stage1Outputs, Task
from despur.methods.base import Method
from despur.specs.paths import ResultPath, Run, spell_split_key
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.storage.reading import name_remedy
from despur.storage.store import HELD_OUT, MISSING, Array, Dataset, InputError, load_dataset


def load_method_class(name: str) -> type[Method]:
    """The method that a file of methods/ defines: the class that no other one of the file extends, or that chooses
    among others (``__new__``). Raises SettingError where it defines none, or several."""
    module = import_module(f"despur.methods.{name}")
    defined = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Method) and value.__module__ == module.__name__
    ]
    last = {value for value in defined if not any(value in other.__mro__[1:] for other in defined)}
    last = {value for value in defined if "__new__" in vars(value)} or last
    if len(last) == 1:
        return last.pop()
    if not last:
        raise SettingError(
            f"{module.__file__} defines no method: let its class extend GradientMethod or another method"
        )
    names = ", ".join(sorted(value.__name__ for value in last))
    raise SettingError(f"{module.__file__} defines several methods, {names}: each needs a file of its own")


class RunInputs:
    """Reads the inputs of the runs of one result path; what several runs share is read once."""

    def __init__(self, result: ResultPath, device: torch.device) -> None:
        self.result, self.device = result, device
        self.load_stored = cache(partial(load_dataset, result.data.folder))
        self.load_represented = lru_cache(maxsize=1)(self.replace_inputs)
        self.divided: tuple[str, Dataset] | None = None  # the last run that was asked for

    def load_dataset(self, run: Run) -> Dataset:
        """The data set that a run is trained and evaluated on, with its held-out samples that train. If the method
        declares ``stage1_selection``, its inputs are the stage-1 model's representations."""
        if self.divided is None or self.divided[0] != run.key:
            self.divided = run.key, divide_held_out(self.load_undivided(run), run)
        return self.divided[1]

    def load_undivided(self, run: Run) -> Dataset:
        """As :meth:`load_dataset`, where all of the split that selects does so."""
        if "stage1_selection" not in run.spec.settings:
            return self.load_stored(run.data.name)
        outputs = self.result.find_upstream("stage1", run).folder / "outputs.safetensors"
        return self.load_represented(run.data.name, outputs, f"{self.stage1_key(run)}/z")

    def replace_inputs(self, data: str, outputs: Path, key: str) -> Dataset:
        """A data set with stage-1 representations, float32 (N,D), in the place of its inputs."""
        return dataclasses.replace(self.load_stored(data), inputs=Container(outputs)[key].astype(np.float32))

    def stage1_key(self, run: Run) -> str:
        """The key of a run's stage-1 model, at the step that the method reads."""
        return f"{run.find_upstream_key('stage1')}/{run.spec.settings['stage1_selection']}"

    def load_stage1_outputs(self, run: Run, rows: Array) -> Stage1Outputs | None:
        """Outputs of the stage-1 model for the samples at these rows. None if the method reads none, or if that model
        has no logits."""
        if "stage1_selection" not in run.spec.settings:
            return None
        folder, key = self.result.find_upstream("stage1", run).folder, self.stage1_key(run)
        outputs = Container(folder / "outputs.safetensors")
        if f"{key}/logits" not in outputs.keys:
            return None
        weights = Container(folder / "models.safetensors").load_arrays(key)
        return Stage1Outputs(
            outputs[f"{key}/logits"][rows],
            weights["head.weight"],
            weights.get("group_prompts"),
            weights.get("length", np.ones(1)).item(),
            weights.get("head.bias"),
        )

    def load_stage1_encoder(self, run: Run) -> dict[str, torch.Tensor] | None:
        """The weights of the stage-1 encoder, if the method starts from them."""
        if "stage1_weights" not in run.spec.settings:
            return None
        folder = self.result.find_upstream("stage1", run).folder
        key = f"{run.find_upstream_key('stage1')}/{run.spec.settings['stage1_weights']}"
        weights = Container(folder / "models.safetensors").load_arrays(key)
        return {k.removeprefix("encoder."): torch.from_numpy(v) for k, v in weights.items() if k.startswith("encoder.")}

    def load_inferred_attribute(self, run: Run, rows: Array) -> Array | None:
        """The inferred attribute of the samples at these rows, if the method reads one. Raises SettingError if some
        have none, since their inference looks at other splits."""
        if "groups" not in run.spec.components:
            return None
        dataset = self.load_stored(run.data.name)
        groups = Container(self.result.find_upstream("groups", run).folder / "groups.safetensors")
        inferred = np.full(len(dataset.table), MISSING)
        for split in dataset.splits:
            if (key := spell_split_key(run.find_upstream_key("groups"), split)) in groups.keys:
                attribute, places = groups[key], dataset.rows(split)
                if len(attribute) != len(places):
                    counts = f"{len(attribute)} samples, but the split {split} has {len(places)}"
                    raise InputError(f"{groups.path}: {key} is of {counts}: {name_remedy(groups.path)}")
                inferred[places] = attribute
        if (unknown := inferred[rows] == MISSING).any():
            splits = dataset.table["split"].iloc[rows[unknown]].unique()
            inference = run.spec.components["groups"].base_name
            raise SettingError(
                f"{run.spec.base_name} trains on samples of the split {', '.join(splits)}, but to {unknown.sum():,} of "
                f"{len(rows):,} {inference} gives no attribute: fill in the true one, for +groups=oracle; or "
                "choose groups of training samples that are inferred without it (+groups=clusters, predictions, ssa), "
                "or a method that needs none (erm, jtt, cnc)"
            )
        return inferred[rows]

    def find_rows(self, run: Run, dataset: Dataset) -> Array:
        """The samples that train. Raises SettingError where there are none, and where they select, too."""
        name, held_out = run.spec.base_name, "held_out_share" in run.spec.settings
        splits = (HELD_OUT,) if held_out else load_method_class(name).TRAINED_ON
        if evaluated := {dataset.about["select"], *dataset.test_splits} & set(splits):
            raise SettingError(
                f"{name} trains on {min(evaluated)}, which selects or tests: of what selects it may train on a part, "
                "by the setting of on_held_out (docs/adding_a_method.md)"
            )
        rows = np.flatnonzero(dataset.table["split"].isin(splits))
        if not len(rows):
            raise SettingError(
                f"{run.data.name} has no sample of the split {' or '.join(splits)}, on which {name} trains"
            )
        return rows

    def build_task(self, run: Run, dataset: Dataset) -> Task:
        """The training samples of a run, and all that its method may know about them."""
        rows = self.find_rows(run, dataset)
        return Task(
            present(dataset, rows, dataset.about.get("train_crop", "centre"), self.device),
            dataset.y[rows],
            len(dataset.about["classes"]),
            self.device,
            self.load_inferred_attribute(run, rows),
            about={"dataset": run.data.base_name, **dataset.about},
            originals=dataset.table["original"].to_numpy()[rows],
            class_embeddings=dataset.class_embeddings,
            stage1_outputs=self.load_stage1_outputs(run, rows),
            label_rank=dataset.table["label_rank"].to_numpy()[rows] if "label_rank" in dataset.table else None,
            start=self.load_stage1_encoder(run),
        )
