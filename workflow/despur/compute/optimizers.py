"""Optimizers of networks: how they are built, how their state is loaded, when the learning rate drops."""

from typing import Any, NamedTuple

import torch
from torch import nn

from despur.compute import distributed
from despur.specs.settings import Settings


def choose_fused(parameters: list[nn.Parameter]) -> bool | None:
    """The option ``fused`` of an optimizer of these parameters: True (one kernel a step) on a GPU, else None (torch's
    default).

    None too if gradients are averaged over processes, which changes their layout. On a CPU, one kernel saved 2 % of a
    LeNet's step, and results were not bit-identical."""
    return (distributed.processes() == 1 and all(p.is_cuda for p in parameters)) or None


def build_optimizer(settings: Settings, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    """SGD, Adam, AdamW or LARS (You et al. 2017). AdamW does not decay biases and norms, as is usual for BERT. Nor does
    LARS (Chen et al. 2020a), which does not adapt their rate, either."""
    rate, decay, fused = settings["learning_rate"], settings["weight_decay"], choose_fused(parameters)
    if settings["optimizer"] == "sgd":
        return torch.optim.SGD(parameters, rate, momentum=settings["momentum"], weight_decay=decay, fused=fused)
    if settings["optimizer"] == "adam":
        return torch.optim.Adam(parameters, rate, weight_decay=decay, fused=fused)
    vectors = [p for p in parameters if p.ndim < 2]
    matrices = [p for p in parameters if p.ndim >= 2]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    if settings["optimizer"] == "lars":
        from timm.optim.lars import Lars

        return Lars(groups, rate, momentum=settings["momentum"])
    return torch.optim.AdamW(groups, rate, fused=fused)


def load_optimizer(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """Load a saved state into an optimizer.

    The optimizer keeps its own option ``fused``, whatever machine saved the state. It counts steps on the GPU if it is
    fused, else on the CPU."""
    built = [group.get("fused") for group in optimizer.param_groups]  # LARS has no such option
    optimizer.load_state_dict(state)
    for group, fused in zip(optimizer.param_groups, built, strict=True):
        if "fused" in group:
            group["fused"] = fused
        for p in group["params"]:
            if "step" in optimizer.state[p]:
                optimizer.state[p]["step"] = optimizer.state[p]["step"].to(p.device if fused else "cpu")


class Plateau(NamedTuple):
    """With decay=plateau: the highest loss, evaluations since then or since the last drop, and the learning-rate
    factor.

    As torch's ReduceLROnPlateau(mode="max") of a loss: the released code of Shen et al. 2021 takes it for a score."""

    highest: float = -torch.inf
    waited: int = 0
    factor: float = 1.0

    def after(self, loss: float, settings: Settings) -> "Plateau":
        """The plateau after one more evaluation."""
        if loss > self.highest * (1 + 1e-4):
            return Plateau(loss, 0, self.factor)
        if self.waited + 1 >= settings["decay_every"]:
            return Plateau(self.highest, 0, self.factor * settings["decay_factor"])
        return Plateau(self.highest, self.waited + 1, self.factor)
