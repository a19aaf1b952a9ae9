"""What stages 1 and 2 share: train every run of a folder and keep its models, outputs and history."""

import argparse
import copy
import dataclasses
import hashlib
import shutil
import time
from functools import cache, lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from despur.compute import compiling, distributed
from despur.compute.machine import Machine, device_name, machine
from despur.compute.randomness import generator, number
from despur.compute.task import Stage1Outputs, Task, present
from despur.methods.base import Method
from despur.specs.paths import ResultPath, Run
from despur.specs.settings import SettingError
from despur.storage.digest import cache_key
from despur.storage.provenance import write_about
from despur.storage.store import Array, Container, Dataset, load_dataset, save_arrays, write_csv
from despur.training.loop import Progress, State, Trainer
from despur.training.validation import Evaluator

HISTORY = ["epoch", "step", "name", "value"]


def load_method_class(name: str) -> type[Method]:
    """The method that a file of methods/ defines."""
    module = import_module(f"despur.methods.{name}")
    return next(
        c
        for c in vars(module).values()
        if isinstance(c, type) and issubclass(c, Method) and c.__module__ == module.__name__
    )


class RunJob:
    """One question of stage 1 or 2 at work: trains its runs one after the other, then writes all results."""

    def __init__(self, result: ResultPath, facts: Machine) -> None:
        self.result, self.machine = result, facts
        self.started = time.perf_counter()
        self.stored = cache(partial(load_dataset, result.data.folder))
        self.represented = lru_cache(maxsize=1)(self.representations)
        asked = cache_key(result) + ("bf16" if facts.precision == "bf16" else "")  # also where it is asked for by hand
        self.resume = result.root / ".resume" / hashlib.sha256(asked.encode()).hexdigest()[:16]
        self.models: dict[str, Array] = {}
        self.outputs: dict[str, Array] = {}
        self.history: list[pd.DataFrame] = []
        self.about: dict[str, Any] = {}
        self.data: dict[str, Any] = {}

    def dataset(self, run: Run) -> Dataset:
        """What a run is trained and evaluated on: its data set or, if the method declares a stage 1, how that model
        represents it."""
        if "stage1_selection" not in run.spec.settings:
            return self.stored(run.data.name)
        return self.represented(
            run.data.name,
            run.spec.components["stage1"].base_name,
            f"{run.of('stage1')}/{run.spec.settings['stage1_selection']}/z",
        )

    def representations(self, data: str, base: str, key: str) -> Dataset:
        """A data set with stage-1 representations, float (N,D), in the place of its inputs."""
        z = Container(self.upstream("stage1", base) / "outputs.safetensors")[key].astype(np.float32)
        return dataclasses.replace(self.stored(data), inputs=z)

    def upstream(self, part: str, base: str) -> Path:
        """The folder of a component that this question reads."""
        return next(p.folder for p in self.result.upstream(part) if p.sweep.base_name == base)

    def stage1_outputs(self, run: Run, rows: Array) -> Stage1Outputs | None:
        """What the stage-1 model that the method reads says of the samples at these rows; nothing if it has learned
        without labels."""
        if "stage1_selection" not in run.spec.settings:
            return None
        source = self.upstream("stage1", run.spec.components["stage1"].base_name)
        key = f"{run.of('stage1')}/{run.spec.settings['stage1_selection']}"
        outputs, kept = Container(source / "outputs.safetensors"), Container(source / "models.safetensors").under(key)
        if f"{key}/logits" not in outputs.keys:
            return None
        return Stage1Outputs(
            outputs[f"{key}/logits"][rows],
            kept["head.weight"],
            kept.get("group_prompts"),
            kept.get("length", np.ones(1)).item(),
        )

    def start(self, run: Run) -> dict[str, torch.Tensor] | None:
        """The weights of the stage-1 encoder, if the method goes on from them."""
        if "stage1_weights" not in run.spec.settings:
            return None
        models = Container(self.upstream("stage1", run.spec.components["stage1"].base_name) / "models.safetensors")
        weights = models.under(f"{run.of('stage1')}/{run.spec.settings['stage1_weights']}")
        return {k.removeprefix("encoder."): torch.from_numpy(v) for k, v in weights.items() if k.startswith("encoder.")}

    def task(self, run: Run, dataset: Dataset) -> Task:
        """The training set, with the groups inferred for this run if the method reads them, and its base."""
        splits = load_method_class(run.spec.base_name).TRAINED_ON
        rows = np.flatnonzero(dataset.table["split"].isin(splits))
        groups = None
        if "groups" in run.spec.components:
            source = self.upstream("groups", run.spec.components["groups"].base_name)
            groups = Container(source / "groups.safetensors")[run.of("groups")].astype(int)
        shown = present(dataset, rows, dataset.about.get("train_crop", "centre"), self.machine.device)
        rank = dataset.table["label_rank"].to_numpy()[rows] if "label_rank" in dataset.table else None
        return Task(
            shown,
            dataset.y[rows],
            len(dataset.about["classes"]),
            self.machine.device,
            groups,
            about={"dataset": run.data.base_name, **dataset.about},
            originals=dataset.table["original"].to_numpy()[rows],
            class_embeddings=dataset.class_embeddings,
            stage1_outputs=self.stage1_outputs(run, rows),
            label_rank=rank,
            start=self.start(run),
        )

    def train(self, run: Run) -> tuple[Method, Progress]:
        """Train one run; its initialisation and order depend on data set, method and seed only, so sweeps are
        paired."""
        dataset = self.dataset(run)
        key = f"{run.data.base_name}/{run.spec.base_name}/{run.seed}"
        with torch.random.fork_rng():
            torch.manual_seed(number(key, -1))
            if distributed.processes() > 1 and not load_method_class(run.spec.base_name).PARALLEL:
                raise SettingError(
                    f"{run.spec.base_name} compares or counts within a process: start it without torchrun"
                )
            method = load_method_class(run.spec.base_name)(self.task(run, dataset), run.spec)
            evaluate = Evaluator(dataset, self.machine, key, method.settings.get("criterion", "objective"))
            trainer = Trainer(method, key, evaluate, self.machine, self.resume / f"{number(run.key)},s{run.seed}.pt")
            return method, trainer.run()

    def keep(self, run: Run, method: Method, progress: Progress, selections: tuple[str, ...]) -> None:
        """Keep weights, history, and representations and logits of every sample, for each selection rule; diagnostics
        by epoch."""
        last = copy.deepcopy(method.networks.state_dict())
        best = last if progress.best_step == progress.step else progress.best
        states = {"last": last, "best": best, **progress.snapshots}
        found: dict[
            int, tuple[dict[str, Array], dict[str, Array], float]
        ] = {}  # by state: what is last and best is finished once
        for selection in (*selections, *progress.snapshots):
            prefix, state = f"{run.key}/{selection}", states[selection]
            found[id(state)] = found.get(id(state)) or self.finished(run, method, state)
            for kept, arrays in zip((self.models, self.outputs), found[id(state)][:2], strict=True):
                kept |= {f"{prefix}/{name}": value for name, value in arrays.items()}
        self.outputs |= {
            f"{run.key}/diagnostics/{name}": torch.stack(each).cpu().numpy()
            for name, each in progress.diagnostics.items()
        }
        self.history.append(
            pd.DataFrame(progress.history, columns=HISTORY).assign(
                dataset=run.data.name, method=run.spec.name, seed=run.seed
            )
        )
        self.about[run.key] = {
            "seconds": round(progress.seconds + found[id(best)][2], 2),
            "steps": progress.step,
            "best_step": progress.best_step,
            "compiled": compiling.mode_of(method, self.machine.compile),
            "training_images": progress.images,
            "trained_parameters": sum(p.numel() for p in method.networks.parameters() if p.requires_grad),
            **method.metadata(),
        }
        self.data[run.data.name] = {**self.dataset(run).about, "shape": method.task.batcher.shape}

    def finished(self, run: Run, method: Method, state: State) -> tuple[dict[str, Array], dict[str, Array], float]:
        """A state of a run as it is kept: weights, outputs of every sample, and seconds of what is fitted when
        training is over."""
        method.networks.load_state_dict(state)
        started = time.perf_counter()
        method.on_train_end(generator(run.key, -4))
        spent = time.perf_counter() - started
        weights = {name: value.cpu().numpy().copy() for name, value in method.networks.state_dict().items()}
        return (
            weights,
            outputs(method, self.dataset(run), run, self.machine, self.resume / f"{number(run.key)}.npy"),
            spent,
        )

    def write(self) -> None:
        """Write all results, each atomically; then the checkpoints are no longer needed."""
        for name, arrays in (("models", self.models), ("outputs", self.outputs)):
            save_arrays(self.result.folder / f"{name}.safetensors", arrays)
        write_csv(self.result.folder / "history.csv", pd.concat(self.history))
        write_about(
            self.result,
            self.started,
            device=device_name(self.machine),
            precision=self.machine.precision,
            deterministic=torch.are_deterministic_algorithms_enabled(),
            processes=distributed.processes(),
            threads=torch.get_num_threads(),
            runs=self.about,
            data=self.data,
        )
        shutil.rmtree(self.resume, ignore_errors=True)


def outputs(method: Method, dataset: Dataset, run: Run, facts: Machine, checkpoint: Path) -> dict[str, Array]:
    """``z`` and (with a head) ``logits`` of every sample of a data set, in its order."""
    crop = dataset.about.get("test_crop", "centre")
    shown = present(dataset, np.arange(len(dataset.inputs)), crop, facts.device)
    return method.outputs(shown, generator(run.key, -2), checkpoint)


def make(result: ResultPath, arguments: argparse.Namespace, selections: tuple[str, ...]) -> None:
    """Train and keep every run that a path asks for."""
    folder = RunJob(result, machine(arguments))
    for run in result.runs():
        method, progress = folder.train(run)
        if distributed.rank() == 0:
            folder.keep(run, method, progress, selections)
    if distributed.rank() == 0:
        folder.write()
    distributed.leave()
