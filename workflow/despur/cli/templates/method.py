"""NewMethod (authors and year, section): cross-entropy with smoothed labels."""

import numpy as np
from torch.nn import functional

from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import sgd
from despur.specs.settings import float_
from despur.storage.store import Array

SETTINGS = {
    **sgd(learning_rate=1e-3, momentum=0.9, weight_decay=5e-4, batch_size=32, epochs=100, source="as ERM"),
    "smoothing": float_(0.1, "the section of the paper that states it", at_least=0, below=1),
}


class NewMethod(GradientMethod):
    """Minimizes what ``losses`` returns. All else is as in ERM (despur/methods/base.py)."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """The equation of the paper. ``batch``: positions of training samples (B,)."""
        logits = self.forward(batch, rng)
        loss = functional.cross_entropy(logits, self.task.labels[batch], label_smoothing=self.settings["smoothing"])
        return {"loss": loss}
