"""CMC + MSR (Qiang et al. 2022)."""

from despur.methods.cmc import CMC
from despur.methods.families.msr import MSR
from despur.specs.declarations import read_declarations
from despur.specs.selfsupervised_hyperparameters import semantic_regularizer

SETTINGS = {**read_declarations("methods", "cmc")["SETTINGS"], **semantic_regularizer(0.1, 0.1, "Sec. 6.3, Table 2")}


class CMCMSR(MSR, CMC):
    """Lightness and color have the same weight vectors, over the channels of each encoder."""
