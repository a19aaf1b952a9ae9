"""DCL + MSR (Qiang et al. 2022)."""

from despur.families.msr import MSR
from despur.methods.dcl import DCL
from despur.settings import as_in, semantic_regulariser

SETTINGS = {
    **as_in("methods", "dcl"),
    **semantic_regulariser(1.0, 1.0, "Sec. 6.3, Table 2"),
}


class DCLMSR(MSR, DCL):
    """The weighted positive is also the one that corrects the negatives."""
