"""Deep feature reweighting as Zhang & Re 2022 compare with (Sec. 5.1): on a foundation model's embeddings, of groups
that it infers.

Samples that zero-shot classification gets right, and wrong, are a class's two groups. Their code trains its linear
probe on resampled data; here the logistic regression of DFR is fitted."""

from despur.methods.dfr import DFR
from despur.methods.families.embeddings import predicted
from despur.specs.declarations import declared
from despur.specs.hyperparameters import on_stage1
from despur.specs.settings import choice, component, int_
from despur.storage.store import Array

SETTINGS = {
    **declared("methods", "dfr")["SETTINGS"],
    **on_stage1("zero_shot", "last", "Sec. 5.1: embeddings of a pretrained model"),
    "groups": component("inference", "predictions", "Sec. 5.1: zero-shot classification"),
    "penalty": choice("l2", "Zhang & Re: a linear probe; not stated", "l1", "l2"),
    "fits": int_(1, "Zhang & Re: one", at_least=1),
}


class DFRInferred(DFR):
    """DFR whose groups are right and wrong predictions."""

    def cells(self, y: Array, groups: Array) -> Array:
        return 2 * y + (predicted(y, groups, self.settings["groups"]) == y)
