"""BYOL + MSR (Qiang et al. 2022)."""

from despur.methods.byol import BYOL
from despur.methods.families.msr import MSR
from despur.specs.declarations import read_declarations
from despur.specs.selfsupervised_hyperparameters import semantic_regularizer

SETTINGS = {
    **read_declarations("methods", "byol")["SETTINGS"],
    **semantic_regularizer(0.1, 1.0, "Sec. 6.3, Tables 1 and 3"),
}


class BYOLMSR(MSR, BYOL):
    """The weighted view predicts; the label is the target's embedding of the anchor."""
