"""Empirical risk minimization: cross-entropy on shuffled mini-batches (Eq. 2 of Zhang et al. 2022)."""

from despur.methods.base import GradientMethod
from despur.specs.hyperparameters import as_erm

SETTINGS = {**as_erm("App. E.2.2, E.2.5 (CMNIST*)")}


class ERM(GradientMethod):
    """Nothing to add."""
