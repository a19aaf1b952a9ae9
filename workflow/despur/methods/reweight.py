"""Reweighting: cross-entropy in which samples of small class-attribute groups weigh more.

``ReWeight`` of SubpopBench (Yang et al. 2023); with ``weighting=square_root`` its ``SqrtReWeight``, with
``weighting=effective`` its ``CBLoss``. Its weights have the mean 1 over all groups, here over those that occur."""

from despur.methods.cb_loss import CBLoss
from despur.specs.declarations import read_declarations
from despur.specs.settings import choice, component, float_

SETTINGS = {
    **read_declarations("methods", "cb_loss")["SETTINGS"],
    "groups": component("inference", "oracle", "SubpopBench: known groups"),
    "weighting": choice(
        "inverse",
        "SubpopBench, ReWeight: one over the size of a group; square_root: one over its root; effective: as cb_loss",
        *("inverse", "square_root", "effective"),
    ),
    "beta": float_(0.9999, "of weighting=effective: as cb_loss", above=0, below=1),
}


class ReWeight(CBLoss):
    """As the class-balanced loss, with groups: the method reads an attribute."""
