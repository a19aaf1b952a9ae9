"""Deep feature reweighting as a baseline of Zhang & Re 2022 (Sec. 5.1): on a foundation model's embeddings, with
inferred groups.

The two groups of a class are the samples that zero-shot classification gets right and wrong. Here DFR's own logistic
regression is fitted; ``dfr_probe`` is what their code does."""

from despur.methods.dfr import DFR
from despur.methods.families.predicted_classes import predict_classes
from despur.specs.declarations import read_declarations
from despur.specs.hyperparameters import on_stage1
from despur.specs.settings import choice, component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    **read_declarations("methods", "dfr")["SETTINGS"],
    **on_stage1("zero_shot", "last", "Sec. 5.1: embeddings of a pretrained model"),
    "groups": component("inference", "predictions", "Sec. 5.1: zero-shot classification", as_class=True),
    "penalty": choice("l2", "Zhang & Re: a linear probe; not stated", "l1", "l2"),
    "strength": float_(1.0, "Zhang & Re: not stated; scikit-learn's default", at_least=0),
    "fits": int_(1, "Zhang & Re: one", at_least=1),
}


class DFRInferred(DFR):
    """DFR with right and wrong predictions of each class as groups."""

    def number_groups(self) -> Array:
        return 2 * self.task.y + (predict_classes(self.task, self.settings["groups"]) == self.task.y)
