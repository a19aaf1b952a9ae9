"""ReSSL + MSR (Qiang et al. 2022)."""

from despur.methods.families.msr import MSR
from despur.methods.ressl import ReSSL
from despur.specs.declarations import read_declarations
from despur.specs.selfsupervised_hyperparameters import semantic_regularizer

SETTINGS = {**read_declarations("methods", "ressl")["SETTINGS"], **semantic_regularizer(0.01, 1.0, "Sec. 6.3, Table 1")}


class ReSSLMSR(MSR, ReSSL):
    """The weighted view is the student's; the teacher's relations of the anchor are the label."""
