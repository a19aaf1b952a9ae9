"""CMC + MSR (Qiang et al. 2022)."""

from despur.families.msr import MSR
from despur.methods.cmc import CMC
from despur.settings import as_in, semantic_regulariser

SETTINGS = {
    **as_in("methods", "cmc"),
    **semantic_regulariser(0.1, 0.1, "Sec. 6.3, Table 2"),
}


class CMCMSR(MSR, CMC):
    """Lightness and colour share their weights, over the channels of either encoder."""
