"""Resampling, RWG of Idrissi et al. 2021: ERM in which every class-attribute group is drawn equally often.

``ReSample`` in SubpopBench (Yang et al. 2023). With classes instead of groups it is ``rwy``."""

from despur.methods.rwy import RWY
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import component

SETTINGS = {
    **as_erm("Idrissi et al. tune all; here as ERM"),
    "groups": component("inference", "oracle", "Idrissi et al., Sec. 2: known groups"),
}


class ReSample(RWY):
    """As RWY, with groups: the method reads an attribute."""
