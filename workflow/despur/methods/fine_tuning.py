"""Semi-supervised learning (Qiang et al. 2022, Sec. 6.3, Table 4): fine-tune a self-supervised encoder on few
labels.

The protocol is that of Chen et al. 2020a, App. B.5: the whole network, no warm-up, random crops and flips.
Deviation: momentum without Nesterov."""

from collections.abc import Iterator

import numpy as np
from torch import nn

from despur.augment.base import build_augment
from despur.compute.randomness import derive_generator
from despur.methods.base import GradientMethod, Losses
from despur.samplers.labeled import label_ranks
from despur.specs.hyperparameters import criterion, from_stage1, sgd
from despur.specs.settings import component, float_, without
from despur.specs.spec import Spec
from despur.storage.store import Array

SETTINGS = {
    **without(
        sgd(
            learning_rate=0.8,
            momentum=0.9,
            weight_decay=0.0,
            batch_size=4096,
            epochs=30,
            source="Chen et al., App. B.5: rate 0.05 x batch / 256; 30 epochs at 10 %, 60 at 1 %",
        ),
        "encoder",
    ),
    **from_stage1("simclr", "last", "Sec. 6.3: the representation learned by ICL-MSR"),
    "criterion": criterion("last", "the data has no validation split"),
    "label_fraction": float_(
        0.1, "Sec. 6.3: 1 % and 10 % of the training labels, the same for all methods and seeds", above=0, at_most=1
    ),
    "augment": component("augment", "images", "Chen et al.: crops and flips"),
}


class FineTuning(GradientMethod):
    """Cross-entropy on the samples that come first in the data set's order of labels, at least one of each class."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        return GradientMethod.build_networks(spec.components["stage1"], shape, num_classes)

    def setup(self) -> None:
        task, self.augment = self.task, build_augment(self.task, self.spec)
        assert task.start is not None
        self.networks["encoder"].load_state_dict(task.start)
        rank = task.label_rank
        if rank is None:
            rank = label_ranks(derive_generator("fine_tuning/labels"), task.y)
        self.labeled = np.flatnonzero(rank < max(task.num_classes, round(self.settings["label_fraction"] * len(task))))

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """The labeled samples in mini-batches of ``batch_size`` to twice as many; fewer samples are one mini-batch."""
        order = rng.permutation(self.labeled)
        yield from np.array_split(order, max(1, len(order) // self.settings["batch_size"]))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        images = self.augment(self.task.batcher.batch(batch, rng), rng)
        logits = self.networks["head"](self.networks["encoder"](images))
        return {"loss": nn.functional.cross_entropy(logits.float(), self.task.labels[batch])}
