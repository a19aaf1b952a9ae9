"""SwAV + MSR (Qiang et al. 2022)."""

from despur.methods.families.msr import MSR
from despur.methods.swav import SwAV
from despur.specs.declarations import read_declarations
from despur.specs.selfsupervised_hyperparameters import semantic_regularizer

SETTINGS = {
    **read_declarations("methods", "swav")["SETTINGS"],
    **semantic_regularizer(0.1, 1.0, "not stated; Sec. 6.3: the most frequent ones on ImageNet-100 and ImageNet"),
}


class SwAVMSR(MSR, SwAV):
    """The weighted view predicts the code of the anchor."""
