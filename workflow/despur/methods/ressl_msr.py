"""ReSSL + MSR (Qiang et al. 2022)."""

from despur.declarations import declared
from despur.families.msr import MSR
from despur.methods.ressl import ReSSL
from despur.shared_settings import semantic_regulariser

SETTINGS = {
    **declared("methods", "ressl")["SETTINGS"],
    **semantic_regulariser(0.01, 1.0, "Sec. 6.3, Table 1"),
}


class ReSSLMSR(MSR, ReSSL):
    """The weighted view is the student's; the teacher's relations of the anchor are the label."""
