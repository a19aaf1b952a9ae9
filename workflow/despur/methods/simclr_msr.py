"""SimCLR + MSR (Qiang et al. 2022)."""

from despur.methods.families.msr import MSR
from despur.methods.simclr import SimCLR
from despur.specs.selfsupervised_hyperparameters import contrast, semantic_regularizer, siamese

SETTINGS = {
    **siamese("mlp_bn_bn"),
    **contrast(0.5, "Sec. 6.2", negatives="both_views"),
    **semantic_regularizer(1.0, 1.0, "Sec. 6.3, Table 1; lambda = .1 in Tables 2 and 3"),
}


class SimCLRMSR(MSR, SimCLR):
    """Eq. 1 and Eq. 3, with the index sets that the text states (``negatives``)."""
