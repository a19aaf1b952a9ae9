"""Deep feature reweighting on held-out data (Kirichenko et al. 2022, their DFR_Tr^Val): the last layer of ERM, fitted
again to groups of equal size of a part of the validation data.

Deviations: the released code tunes C on halves of the validation data and fits on all of it, 20 times (DFR_Tr^Tr: 10).
Here one part of it tunes and fits, 10 times; the other part only selects, among the points of a sweep. Representations
are standardized by the samples that are fitted, there by training samples."""

from despur.methods.dfr import DFR
from despur.specs.declarations import read_declarations
from despur.specs.hyperparameters import on_held_out

SETTINGS = {
    **read_declarations("methods", "dfr")["SETTINGS"],
    **on_held_out(0.5, "released code: half of the validation data fits while C is tuned"),
}


class HeldOutDFR(DFR):
    """As DFR, on other samples."""
