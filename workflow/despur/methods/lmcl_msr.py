"""LMCL + MSR (Qiang et al. 2022)."""

from despur.methods.families.msr import MSR
from despur.methods.lmcl import LMCL
from despur.specs.declarations import read_declarations
from despur.specs.selfsupervised_hyperparameters import semantic_regularizer

SETTINGS = {
    **read_declarations("methods", "lmcl")["SETTINGS"],
    **semantic_regularizer(0.1, 1.0, "Sec. 6.3, Table 1; lambda = 1 in Table 2"),
}


class LMCLMSR(MSR, LMCL):
    """Distance polarization is in L_ct only."""
