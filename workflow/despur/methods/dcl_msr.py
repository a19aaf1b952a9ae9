"""DCL + MSR (Qiang et al. 2022)."""

from despur.methods.dcl import DCL
from despur.methods.families.msr import MSR
from despur.specs.declarations import read_declarations
from despur.specs.selfsupervised_hyperparameters import semantic_regularizer

SETTINGS = {**read_declarations("methods", "dcl")["SETTINGS"], **semantic_regularizer(1.0, 1.0, "Sec. 6.3, Table 2")}


class DCLMSR(MSR, DCL):
    """The weighted positive is also the one that corrects the negatives."""
