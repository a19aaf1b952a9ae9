"""ReSSL + MSR (Qiang et al. 2022)."""

from despur.families.msr import MSR
from despur.methods.ressl import ReSSL
from despur.settings import as_in, semantic_regulariser

SETTINGS = {
    **as_in("methods", "ressl"),
    **semantic_regulariser(0.01, 1.0, "Sec. 6.3, Table 1"),
}


class ReSSLMSR(MSR, ReSSL):
    """The weighted view is the student's; the teacher's relations of the anchor are the label."""
