"""The interface of methods. The author of a new method needs four concepts; all else has a default:

- **settings**: ``SETTINGS`` of the method's file, each with a default and its source; read as ``self.settings``;
- **batches**: :meth:`GradientMethod.epoch_batches`, the training samples of each step of an epoch;
- **losses**: :meth:`GradientMethod.losses`, named losses of a batch, of which "loss" is minimized;
- **fit**: ``fit`` of :class:`families.fitted.FittedMethod`, where nothing is trained by gradients."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute import distributed
from despur.compute.chunks import apply_network
from despur.compute.compiling import eager
from despur.compute.input_batcher import InputBatcher
from despur.compute.named_losses import require_loss
from despur.compute.optimizers import Plateau, build_optimizer, load_optimizer
from despur.compute.task import Task, encode, head_of
from despur.encoders.base import build_encoder, check_vocabulary
from despur.specs.spec import Spec
from despur.storage.store import Array

Losses = dict[str, Tensor]


class Method:
    """What stages 1 and 2 need of any method: networks that predict. A method without training extends this class."""

    TRAINED_ON: tuple[str, ...] = ("train",)  # splits; with the setting of ``on_held_out``, held-out samples instead
    SET_AFTER_TRAINING: tuple[str, ...] = ()  # settings that no step reads: for all their values it is trained once
    TRANSIENT: tuple[str, ...] = ()  # attributes that each step sets anew: no checkpoint needs them
    PARALLEL = False  # True if several processes can share a batch: the method gathers what it compares

    def __init__(self, task: Task, spec: Spec) -> None:
        self.task, self.spec = task, spec
        self.settings = spec.settings
        self.networks = self.build_networks(spec, task.batcher.shape, task.num_classes).to(task.device)
        check_vocabulary(self.networks["encoder"], task.about, task.batcher.is_tokens)

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        """``encoder(x)`` are the representations (B,D) of samples (B,...), ``head(encoder(x))`` the logits (B,C)."""
        raise NotImplementedError

    def encode(self, rows: Array, rng: np.random.Generator) -> Tensor:
        """Representations (B,D) of training samples."""
        return apply_network(self.networks["encoder"], self.task.batcher.batch(rows, rng))

    def forward(self, rows: Array, rng: np.random.Generator) -> Tensor:
        """Logits (B,C) of training samples."""
        return self.networks["head"](self.encode(rows, rng))

    def compilable_modules(self) -> list[nn.Module]:
        """The networks to compile, as steps call them. Here none."""
        return []

    def metadata(self) -> dict[str, Any]:
        """What a reader of the run should know about how it was set up: plain data for about.json."""
        return {}

    def on_train_end(self, rng: np.random.Generator) -> None:
        """Fit what is fitted after training. Called once for each model that is kept."""

    def outputs(self, batcher: InputBatcher, rng: np.random.Generator, checkpoint: Path) -> dict[str, Array]:
        """``z`` (N,D), float16, and with a head ``logits`` (N,C), float32. ``checkpoint``: where slow methods save."""
        return encode(self.networks["encoder"], head_of(self.networks), batcher, rng)

    def state(self) -> dict[str, Any]:
        """All that a resumed run needs."""
        return {"networks": self.networks.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        self.networks.load_state_dict(state["networks"])


class GradientMethod(Method):
    """An encoder with a linear head, trained by mini-batches. With several optimizers, override :meth:`step`."""

    TRANSIENT: tuple[str, ...] = ("epoch", "epochs_done", "steps_done")
    epochs_done = steps_done = 0  # set by the training loop before each epoch and each step
    epoch = 0.0  # epochs so far, with the part of the present one; set before each step
    plateau = Plateau()

    def __init__(self, task: Task, spec: Spec) -> None:
        super().__init__(task, spec)
        self.dim = int(self.networks["encoder"].dim)  # type: ignore[arg-type]
        self.networks.to(memory_format=torch.channels_last)
        self.setup()
        distributed.synchronize(self.networks)
        self.optimizer = self.build_optimizer()

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        encoder = build_encoder(spec, shape)
        width = int(encoder.dim)  # type: ignore[arg-type]
        return nn.ModuleDict({"encoder": encoder, "head": nn.Linear(width, num_classes)})

    def setup(self) -> None:
        """Add networks, samplers or state. Networks and buffers in ``self.networks`` are checkpointed."""

    def build_optimizer(self) -> torch.optim.Optimizer:
        """Over all networks. Called after :meth:`setup`."""
        return build_optimizer(self.settings, list(self.networks.parameters()))

    def compilable_modules(self) -> list[nn.Module]:
        """The encoder, if it has parameters. To be overridden by a method whose steps call other networks."""
        encoder = self.networks["encoder"]
        return [encoder] if list(encoder.parameters()) else []

    def lr_factor(self, epoch: float) -> float:
        """The learning rate after ``epoch`` epochs, divided by the first one."""
        s = self.settings
        if s["decay"] == "linear":
            return 1 - epoch / s["epochs"]
        if s["decay"] == "step":
            return s["decay_factor"] ** (epoch // s["decay_every"])
        return self.plateau.factor  # 1 until it drops

    def set_learning_rate(self, epoch: float) -> None:
        """Called by the training loop before each step, after ``epoch`` epochs."""
        self.epoch = epoch
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings["learning_rate"] * self.lr_factor(epoch)

    def on_validation_end(self, criterion: float) -> None:
        """Called with the criterion of each evaluation: with decay=plateau, its negative is the loss."""
        if self.settings.get("decay") == "plateau":
            self.plateau = self.plateau.after(-criterion, self.settings)

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """The batches of one epoch: rows of training samples, one array a step."""
        yield from self.mini_batches(rng.permutation(len(self.task)))

    def mini_batches(self, rows: Array) -> list[Array]:
        """These rows, ``batch_size`` at a time. The last mini-batch may be smaller."""
        return np.split(rows, range(self.settings["batch_size"], len(rows), self.settings["batch_size"]))

    def read_ahead(self, batches: Sequence[Any]) -> Iterator[Any]:
        """These batches of an epoch. While the step on one of them runs, the next are read."""
        return self.task.batcher.read_ahead(batches)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Losses of a batch. "loss" is minimized; scalars go to history.csv; of arrays, an epoch's last are kept.

        ``batch``: positions of training samples (B,)."""
        return {"loss": nn.functional.cross_entropy(self.forward(batch, rng), self.task.labels[batch])}

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        """One optimizer step."""
        self.networks.train()
        losses = self.losses(batch, rng)
        require_loss(losses, f"the method {self.spec.base_name}")
        self.optimizer.zero_grad(set_to_none=True)
        losses["loss"].backward()
        self.optimizer_step()
        return losses

    def optimizer_step(self) -> None:
        """Follow the gradients of the parameters, cut to the norm ``clip``."""
        distributed.average_gradients(self.networks.parameters())
        if self.settings["clip"]:
            nn.utils.clip_grad_norm_(self.networks.parameters(), self.settings["clip"])
        self.optimizer.step()

    @torch.no_grad()
    def encode_all(self, rng: np.random.Generator) -> Tensor:
        """Representations (N,D) of all training samples, in evaluation mode."""
        self.networks.eval()
        batcher, encoder = self.task.batcher, self.networks["encoder"]
        with eager():
            return torch.cat([apply_network(encoder, x) for x in batcher.batches(batcher.max_batch, rng)])

    def before_eval(self, rng: np.random.Generator) -> None:
        """Set what no step trains. Called before each evaluation."""

    def objective(self, z: Tensor, y: Tensor, a: Tensor) -> Tensor:
        """What a method without the setting ``criterion`` minimizes: of ``z`` (B,D), ``y`` (B,) and ``a`` (B,)."""
        raise NotImplementedError

    def count_images(self, batch: Array) -> int:
        """How many training images (views) a step on this batch uses."""
        return batch.size

    def state(self) -> dict[str, Any]:
        return {**super().state(), "optimizer": self.optimizer.state_dict(), "plateau": tuple(self.plateau)}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        load_optimizer(self.optimizer, state["optimizer"])
        self.plateau = Plateau(*state["plateau"])
