"""What stages 1 and 2 share: train all runs of a result path and write their models, outputs and history."""

import argparse
import copy
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from despur.compute import compiling, distributed
from despur.compute.input_batcher import present
from despur.compute.machine import Machine, device_name, set_up_machine
from despur.compute.randomness import derive_generator, derive_seed
from despur.methods.base import GradientMethod, Method
from despur.methods.families.fitted import FittedMethod
from despur.specs.hyperparameters import RULES
from despur.specs.paths import ResultPath, Run
from despur.specs.settings import SettingError
from despur.storage.containers import save_arrays
from despur.storage.digest import locate_checkpoints
from despur.storage.provenance import write_about
from despur.storage.store import Array, Dataset, write_csv
from despur.training.fitting import fit_once
from despur.training.inputs import RunInputs, load_method_class
from despur.training.loop import Trainer
from despur.training.progress import Progress, State
from despur.training.validation import Evaluator

HISTORY = ["epoch", "step", "name", "value"]
Kept = tuple[dict[str, Array], dict[str, Array], float]  # weights, outputs, seconds of what is fitted after training


class RunJob:
    """Trains the runs of a result path one after the other, then writes all results."""

    def __init__(self, result: ResultPath, machine: Machine) -> None:
        self.result, self.machine = result, machine
        self.started = time.perf_counter()
        self.inputs = RunInputs(result, machine.device)
        self.checkpoints = locate_checkpoints(result)
        self.models: dict[str, Array] = {}
        self.outputs: dict[str, Array] = {}
        self.history: list[pd.DataFrame] = []
        self.about: dict[str, Any] = {}
        self.data: dict[str, Any] = {}
        self.trained: dict[str, tuple[State, Progress]] = {}  # networks after the last step, by what steps depend on

    def train_run(self, run: Run) -> tuple[Method, Progress]:
        """Train one run, or take the training of an earlier one that differs only in what is set after training.
        Initialization and order depend on data set, method and seed only, so sweeps are paired. Raises SettingError if
        several processes share a method that cannot be shared."""
        dataset = self.inputs.load_dataset(run)
        method_class = load_method_class(run.spec.base_name)
        if distributed.processes() > 1 and not method_class.PARALLEL:
            raise SettingError(f"{run.spec.base_name} compares or counts within a process: start it without torchrun")
        key = f"{run.data.base_name}/{run.spec.base_name}/{run.seed}"
        with torch.random.fork_rng():
            torch.manual_seed(derive_seed(key, -1))
            method = method_class(self.inputs.build_task(run, dataset), run.spec)
            if not method_class.SET_AFTER_TRAINING:
                return method, self.train_method(run, method, dataset, key)
            alike = identify_training(run, method_class.SET_AFTER_TRAINING)
            if alike not in self.trained:
                progress = self.train_method(run, method, dataset, key)
                self.trained[alike] = copy.deepcopy(method.networks.state_dict()), progress
            networks, progress = self.trained[alike]
            method.networks.load_state_dict(networks)
            return method, progress

    def train_method(self, run: Run, method: Method, dataset: Dataset, key: str) -> Progress:
        """Train or fit a method. One that needs neither has made no step."""
        checkpoint = self.checkpoints / f"{derive_seed(run.key)},s{run.seed}.pt"
        if isinstance(method, GradientMethod):
            rules = RULES if method.settings["selections"] == "rules" else ()
            score = Evaluator(dataset, self.machine, key, method.settings.get("criterion", "objective"), rules)
            return Trainer(method, key, score, self.machine, checkpoint, score.compared).run()
        if isinstance(method, FittedMethod):
            score = Evaluator(dataset, self.machine, key, method.settings.get("criterion", "worst_group_accuracy"))
            return fit_once(method, key, score, self.machine, checkpoint)
        return Progress(finished=True)

    def keep_run(self, run: Run, method: Method, progress: Progress) -> None:
        """Keep a run's models and outputs after the step that is best on validation data and the last one, of each
        snapshot and rule; its diagnostics, history and metadata. A step is computed once; a rule whose step is kept
        under another name has that one."""
        states = progress.states | {progress.step: copy.deepcopy(method.networks.state_dict())}
        steps = {"best": progress.best_step, "last": progress.step, **progress.steps}
        kept: dict[int, Kept] = {}
        names: dict[int, str] = {}  # the first selection of each step
        for selection, step in sorted(steps.items(), key=lambda item: item[0] in RULES):
            if step not in kept:
                kept[step] = self.finish_state(run, method, states[step])
            if selection in RULES and step in names:
                continue
            names.setdefault(step, selection)
            weights, outputs, _ = kept[step]
            prefix = f"{run.key}/{selection}"
            self.models |= {f"{prefix}/{name}": value for name, value in weights.items()}
            self.outputs |= {f"{prefix}/{name}": value for name, value in outputs.items()}
        for name, arrays in progress.diagnostics.items():
            self.outputs[f"{run.key}/diagnostics/{name}"] = torch.stack(arrays).cpu().numpy()
        history = pd.DataFrame(progress.history, columns=HISTORY)
        self.history.append(history.assign(dataset=run.data.name, method=run.spec.name, seed=run.seed))
        self.about[run.key] = self.describe_run(method, progress, progress.seconds + kept[progress.best_step][2])
        if by_rule := {rule: names[steps[rule]] for rule in RULES if rule in steps}:
            self.about[run.key]["selections"] = by_rule
        self.data[run.data.name] = {**self.inputs.load_dataset(run).about, "shape": method.task.batcher.shape}

    def describe_run(self, method: Method, progress: Progress, seconds: float) -> dict[str, Any]:
        """What about.json says about a run."""
        return {
            "seconds": round(seconds, 2),
            "steps": progress.step,
            "best_step": progress.best_step,
            "compiled": compiling.mode_of(method, self.machine.compile),
            "training_images": progress.images,
            "trained_parameters": sum(p.numel() for p in method.networks.parameters() if p.requires_grad),
            **method.metadata(),
        }

    def finish_state(self, run: Run, method: Method, state: State) -> Kept:
        """Load a state of a run, fit what is fitted after training, and compute the outputs of all samples."""
        method.networks.load_state_dict(state)
        started = time.perf_counter()
        method.on_train_end(derive_generator(run.key, -4))
        seconds = time.perf_counter() - started
        weights = {name: value.cpu().numpy().copy() for name, value in method.networks.state_dict().items()}
        checkpoint = self.checkpoints / f"{derive_seed(run.key)}.npy"
        outputs = compute_outputs(method, self.inputs.load_dataset(run), run, self.machine, checkpoint)
        return weights, outputs, seconds

    def write_results(self) -> None:
        """Write all results, each atomically. The checkpoints are then deleted."""
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
        shutil.rmtree(self.checkpoints, ignore_errors=True)


def identify_training(run: Run, set_after: tuple[str, ...]) -> str:
    """All that the training of a run depends on: its specification without what is set after training."""
    kept = {key: value for key, value in run.spec.resolved().items() if key not in set_after}
    return json.dumps([run.data.name, kept, run.seed], sort_keys=True)


def compute_outputs(method: Method, dataset: Dataset, run: Run, machine: Machine, checkpoint: Path) -> dict[str, Array]:
    """``z`` and (with a head) ``logits`` of every sample of a data set, in its order."""
    crop = dataset.about.get("test_crop", "centre")
    batcher = present(dataset, np.arange(len(dataset.inputs)), crop, machine.device)
    return method.outputs(batcher, derive_generator(run.key, -2), checkpoint)


def train_all(result: ResultPath, arguments: argparse.Namespace) -> None:
    """Train every run of a result path and write the results."""
    job = RunJob(result, set_up_machine(arguments))
    for run in result.runs():
        method, progress = job.train_run(run)
        if distributed.rank() == 0:
            job.keep_run(run, method, progress)
    if distributed.rank() == 0:
        job.write_results()
    distributed.leave()
