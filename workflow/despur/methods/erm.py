"""Empirical risk minimization: cross-entropy on shuffled mini-batches (Eq. 2 of Zhang et al. 2022)."""

from despur.methods.base import GradientMethod
from despur.specs.hyperparameters import sgd

SETTINGS = {
    **sgd(
        learning_rate=1e-3,
        momentum=0.9,
        weight_decay=5e-4,
        batch_size=32,
        epochs=100,
        source="App. E.2.2, E.2.5 (CMNIST*)",
    ),
}


class ERM(GradientMethod):
    """Nothing to add."""
