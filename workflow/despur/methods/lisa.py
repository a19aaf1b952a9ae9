"""LISA (Yao et al. 2022): ERM on mixtures of samples of one class with different attribute values, or of one attribute
value with different classes.

Deviations: batches are of all samples, as in SubpopBench (the released code draws equally many of each group), and
samples are mixed as in mixup (the released code cuts and pastes parts of images on CelebA and MetaShift)."""

import numpy as np
import torch

from despur.methods.base import GradientMethod, Losses
from despur.methods.families.mixing import mixed_loss
from despur.specs.hyperparameters import SUBPOPBENCH, as_erm
from despur.specs.settings import component, float_, log_uniform, uniform
from despur.storage.store import Array

SETTINGS = {
    **as_erm(SUBPOPBENCH),
    "groups": component("inference", "oracle", "Yao et al., Sec. 3: known domains"),
    "alpha": float_(
        2.0,
        "released code, SubpopBench: shares are Beta(alpha, alpha)",
        above=0,
        search=log_uniform(0.1, 10, "SubpopBench"),
    ),
    "same_class": float_(
        0.5,
        "SubpopBench; Yao et al. tune p_sel: how often a mini-batch mixes within classes, else within attribute values",
        at_least=0,
        at_most=1,
        search=uniform(0, 1, "SubpopBench"),
    ),
}


class LISA(GradientMethod):
    """Alg. 1. The other sample is drawn from all training samples that differ as they must; where there is none, a
    sample is not mixed."""

    def setup(self) -> None:
        self.columns = {True: self.task.y, False: self.task.inferred}

    def count_images(self, batch: Array) -> int:
        return 2 * batch.size

    def draw_partners(self, batch: Array, same_class: bool, rng: np.random.Generator) -> Array:
        """For each row of the batch another one, (B,), with the same class and another attribute value; with
        ``same_class=False`` with the same attribute value and another class. Where there is none, the row itself."""
        same, other = self.columns[same_class], self.columns[not same_class]
        partners = batch.copy()
        for value, unlike in np.unique(np.stack([same[batch], other[batch]], axis=1), axis=0):
            pool = np.flatnonzero((same == value) & (other != unlike))
            inside = (same[batch] == value) & (other[batch] == unlike)
            if len(pool):
                partners[inside] = rng.choice(pool, np.count_nonzero(inside))
        return partners

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        s = self.settings
        partners = self.draw_partners(batch, rng.random() < s["same_class"], rng)
        share = np.where(partners == batch, 1.0, rng.beta(s["alpha"], s["alpha"], len(batch))).astype(np.float32)
        inputs = self.task.batcher.batch(batch, rng), self.task.batcher.batch(partners, rng)
        labels = self.task.labels[batch], self.task.labels[partners]
        loss = mixed_loss(self.networks, inputs, labels, torch.from_numpy(share).to(self.task.device))
        return {"loss": loss, "mixed_share": torch.tensor(float(np.mean(partners != batch)))}
