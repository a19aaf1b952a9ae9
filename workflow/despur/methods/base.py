"""What every trained method shares: an encoder, a linear head, an optimiser, and the hooks of the training loop."""

import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute import distributed
from despur.compute.compiling import eager
from despur.compute.task import InputBatcher, Task, encode, head_of
from despur.specs.settings import Settings
from despur.specs.spec import Spec
from despur.storage.store import Array

Losses = dict[str, Tensor]


def build_encoder(spec: Spec, shape: tuple[int, ...]) -> nn.Module:
    """The encoder that a specification names, for samples of this shape; ``.dim`` is the size of its
    representations."""
    part = spec.components["encoder"]
    return import_module(f"despur.encoders.{part.base_name}").build(part.settings, shape)


def fused(parameters: list[nn.Parameter]) -> bool | None:
    """Whether an optimiser takes its step in one kernel, or (None) as torch likes: in one on a GPU, unless gradients
    are averaged over processes, which changes their layout. On a CPU it saved 2 % of a LeNet's step, which is not
    worth other digits."""
    return (distributed.processes() == 1 and all(p.is_cuda for p in parameters)) or None


def restore(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """The state of an optimiser, which steps in one kernel or not as it was built, wherever it was saved: that keeps
    counts on the GPU."""
    built = [group["fused"] for group in optimizer.param_groups]
    optimizer.load_state_dict(state)
    for group, one in zip(optimizer.param_groups, built, strict=True):
        group["fused"] = one
        for p in group["params"]:
            if "step" in optimizer.state[p]:
                optimizer.state[p]["step"] = optimizer.state[p]["step"].to(p.device if one else "cpu")


class Method:
    """An encoder with a linear head, trained by SGD on shuffled mini-batches.

    A method overrides what it changes: :meth:`epoch` (what it samples), :meth:`losses` (what it minimises), or
    :meth:`step` when it owns several networks. ``losses`` returns scalars, "loss" is minimised, all are logged; and
    arrays, of which those of an epoch's last step are kept."""

    TRAINED_ON: tuple[str, ...] = ("train",)  # splits
    PARALLEL = False  # whether several processes can share its batches: it gathers what it compares
    epochs_done = 0  # the loop sets it before it asks for an epoch's batches,
    steps_done = 0  # and this before each step
    plateau = (
        -math.inf,
        0,
        1.0,
    )  # with decay=plateau: highest loss, evaluations since then or since the last drop, share of the rate

    def __init__(self, task: Task, spec: Spec) -> None:
        self.task, self.spec = task, spec
        self.settings: Settings = spec.settings
        self.networks = self.build_networks(spec, task.batcher.shape, task.num_classes)
        self.dim = int(self.networks["encoder"].dim)  # type: ignore[arg-type]
        self.networks.to(task.device).to(memory_format=torch.channels_last)
        self.setup()
        distributed.synchronise(self.networks)
        self.optimizer = self.build_optimizer()

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        """What predicts: ``head(encoder(x))`` are the logits, ``encoder(x)`` the representations."""
        encoder = build_encoder(spec, shape)
        return nn.ModuleDict({"encoder": encoder, "head": nn.Linear(int(encoder.dim), num_classes)})  # type: ignore[arg-type]

    def setup(self) -> None:
        """Add networks, samplers or state (tensors in ``self.networks`` buffers are checkpointed)."""

    def build_optimizer(self) -> torch.optim.Optimizer:
        """SGD, Adam or AdamW over all networks; AdamW spares biases and norms, as is usual for BERT."""
        s, parameters = self.settings, list(self.networks.parameters())
        rate, decay, one = s["learning_rate"], s["weight_decay"], fused(parameters)
        if s["optimizer"] == "sgd":
            return torch.optim.SGD(parameters, rate, momentum=s["momentum"], weight_decay=decay, fused=one)
        if s["optimizer"] == "adam":
            return torch.optim.Adam(parameters, rate, weight_decay=decay, fused=one)
        spared = [p for p in parameters if p.ndim < 2]
        decayed = [p for p in parameters if p.ndim >= 2]
        groups = [{"params": decayed, "weight_decay": decay}, {"params": spared, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, rate, fused=one)

    def compilable_modules(self) -> list[nn.Module]:
        """The networks that steps spend their time in, as they call them: what is compiled where that is asked for.
        None: it cannot be, or is not worth it, as where the encoder only hands on what it is given."""
        encoder = self.networks["encoder"]
        return [encoder] if list(encoder.parameters()) else []

    def lr_factor(self, epoch: float) -> float:
        """The learning rate after so many epochs, as a share of the first one; the loop sets it before each step."""
        s = self.settings
        if s["decay"] == "linear":
            return 1 - epoch / s["epochs"]
        if s["decay"] == "step":
            return s["decay_factor"] ** (epoch // s["decay_every"])
        return self.plateau[2]  # 1 until it drops

    def on_validation_end(self, criterion: float) -> None:
        """What an evaluation found. With decay=plateau: as torch's ReduceLROnPlateau(mode="max") of its negative, the
        loss."""
        if self.settings.get("decay") != "plateau":
            return
        highest, waited, share = self.plateau
        rises = -criterion > highest * (1 + 1e-4)
        highest, waited = (-criterion, 0) if rises else (highest, waited + 1)
        drops = waited >= self.settings["decay_every"]
        self.plateau = (highest, 0, share * self.settings["decay_factor"]) if drops else (highest, waited, share)

    def set_learning_rate(self, epoch: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings["learning_rate"] * self.lr_factor(epoch)

    def metadata(self) -> dict[str, Any]:
        """What a reader of the run should know about how it was set up (plain data, goes to about.json)."""
        return {}

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """The batches of one epoch: arrays of training rows."""
        order = rng.permutation(len(self.task))
        yield from np.split(order, range(self.settings["batch_size"], len(order), self.settings["batch_size"]))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Named scalar losses of a batch."""
        logits = self.networks["head"](self.networks["encoder"](self.task.batcher.batch(batch, rng)))
        return {"loss": nn.functional.cross_entropy(logits, self.task.labels[batch])}

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        """One optimiser step."""
        self.networks.train()
        losses = self.losses(batch, rng)
        self.optimizer.zero_grad(set_to_none=True)
        losses["loss"].backward()
        self.optimizer_step()
        return losses

    def optimizer_step(self) -> None:
        """Follow the gradient that lies in the parameters, cut to the norm ``clip``."""
        distributed.average_gradients(self.networks.parameters())
        if self.settings["clip"]:
            nn.utils.clip_grad_norm_(self.networks.parameters(), self.settings["clip"])
        self.optimizer.step()

    @torch.no_grad()
    def representations(self, rng: np.random.Generator) -> Tensor:
        """Of all training samples (N,D), by the encoder as it predicts."""
        self.networks.eval()
        shown = self.task.batcher
        with eager():
            return torch.cat([self.networks["encoder"](x) for x in shown.batches(shown.max_batch, rng)])

    def before_eval(self, rng: np.random.Generator) -> None:
        """Set what no step trains; called before each evaluation."""

    def objective(self, z: Tensor, y: Tensor, a: Tensor) -> Tensor:
        """What a method without the setting ``criterion`` minimises, of representations (B,D), classes and attributes
        (B,): a scalar."""
        raise NotImplementedError

    def on_train_end(self, rng: np.random.Generator) -> None:
        """Fit what is fitted when training is over; called once for each model that is kept."""

    def outputs(self, shown: InputBatcher, rng: np.random.Generator, checkpoint: Path) -> dict[str, Array]:
        """``z`` and (with a head) ``logits`` of samples, float16; what takes long keeps how far it is in
        ``checkpoint``."""
        return encode(self.networks["encoder"], head_of(self.networks), shown, rng)

    def presentations(self, batch: Array) -> int:
        """How many training images a batch presents."""
        return batch.size

    def state(self) -> dict[str, Any]:
        """Everything a resumed run needs."""
        return {
            "networks": self.networks.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "plateau": self.plateau,
        }

    def load(self, state: dict[str, Any]) -> None:
        self.networks.load_state_dict(state["networks"])
        restore(self.optimizer, state["optimizer"])
        self.plateau = state["plateau"]
