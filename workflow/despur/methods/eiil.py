"""Environment inference for invariant learning (Creager et al. 2021; Zhang et al. 2022, App. E.2.5): a second model,
by IRM or Group DRO, on the two environments that :mod:`despur.inference.eiil` finds in the outputs of the stage-1
model.

App. E.2.5 states for CelebA: second=gdro, 50 epochs, learning rate 1e-5, batch 128, weight decay 0.1, adjustment 3.
On CMNIST* it ran the authors' code, whose IRM is full-batch Adam (``irm_batches=full+optimizer=adam``): there an
epoch is one step, and the paper's 100 epochs train it little (despur/papers/cnc/README.md). SGD is what App. E.2.6
states for all methods. With ``patience``, training can stop before annealing ends."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from despur.compute.task import Task
from despur.methods.base import GradientMethod
from despur.methods.families.invariant_risk import InvariantRisk
from despur.methods.gdro import GroupDRO
from despur.samplers.domains import draw_batches
from despur.specs.declarations import read_declarations
from despur.specs.settings import choice, component, float_
from despur.specs.spec import Spec
from despur.storage.store import Array

REVISION = 2  # the adjustment counts for groups without samples in a batch, too
SETTINGS = {
    **read_declarations("methods", "irm")["SETTINGS"],
    "groups": component("inference", "eiil", "App. E.2.5: environments from the outputs of CNC's stage-1 model"),
    "second": choice("irm", "App. E.2.5: IRM on CMNIST*, GDRO elsewhere", "irm", "gdro"),
    "irm_batches": choice("mini", "IRM: App. E.2.6: as JTT; full: all samples at once, released code", "mini", "full"),
    "step_size": float_(0.01, "GDRO: as gdro", above=0),
    "adjustment": float_(0.0, "GDRO: Table A.9 sweeps it on CelebA", at_least=0),
    "sampler": choice(
        "balanced", "GDRO: as gdro; mini-batches of IRM: half from each environment", "balanced", "shuffled"
    ),
}


class EIIL(GradientMethod):
    """The second model that ``second`` names, on the environments that the inference found."""

    def __new__(cls, task: Task, spec: Spec) -> "EIIL":
        return super().__new__({"irm": SecondIRM, "gdro": SecondGroupDRO}[spec.settings["second"]])

    def metadata(self) -> dict[str, Any]:
        return {"environment_sizes": np.bincount(self.task.inferred, minlength=2).tolist()}


class SecondGroupDRO(EIIL, GroupDRO):
    """Group DRO on the groups (class, environment)."""


class SecondIRM(EIIL, InvariantRisk):
    """IRM on the inferred environments."""

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """All samples at once; or mini-batches, shuffled or with each environment equally often."""
        s, sizes = self.settings, np.bincount(self.rows)
        if s["irm_batches"] == "full":
            return iter([np.arange(len(self.task))])
        if s["sampler"] == "balanced":
            return draw_batches(rng, 1 / sizes[self.rows] / len(sizes), s["batch_size"])
        return GradientMethod.epoch_batches(self, rng)
