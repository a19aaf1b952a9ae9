"""SUBG (Idrissi et al. 2021): ERM on a random subset in which every class-attribute group is as large as the smallest
one."""

from despur.methods.suby import SUBY
from despur.specs.declarations import read_declarations
from despur.specs.settings import component

REVISION = 2
SETTINGS = {
    **read_declarations("methods", "suby")["SETTINGS"],
    "groups": component("inference", "oracle", "Idrissi et al., Sec. 2: known groups"),
}


class SUBG(SUBY):
    """As SUBY, with groups: the method reads an attribute."""
