"""SupCon* of Zhang et al. 2022 (Table 1, App. A.3): Correct-N-Contrast without stage 1, so that classes alone say what to contrast."""

from despur.methods.cnc import CNC
from despur.samplers.contrastive import ContrastiveSampler
from despur.settings import choice, flag, real, sgd, whole

SETTINGS = {
    **sgd(learning_rate=1e-3, momentum=0.9, weight_decay=1e-4, epochs=3, source="as cnc: App. A.3 changes the sampling only"),
    "num_positives": whole(32, "as cnc: M", at_least=1),
    "num_negatives": whole(32, "as cnc: N", at_least=1),
    "temperature": real(0.05, "as cnc: tau", above=0),
    "lambda": real(0.75, "as cnc: weight of the contrastive loss", at_least=0, at_most=1),
    "loss": choice("contrastive", "as cnc", "contrastive", "alignment"),
    "schedule": choice("joint", "as cnc", "joint", "train_finetune"),
    "finetune_epochs": whole(1, "as cnc", at_least=1),
    "accumulation": whole(32, "as cnc: contrastive batches an optimiser step", at_least=1),
    "at_once": whole(0, "as cnc", at_least=0),
    "anchor_fraction": real(1.0, "as cnc", above=0, at_most=1),
    "truncate": flag(True, "as cnc: classes cut to the smallest one's size"),
    "two_sided": flag(True, "as cnc"),
    "projection": whole(0, "as cnc", at_least=0),
    "batchnorm": choice("eval", "as cnc", "eval", "train"),
    "head_gradient": choice("clear", "as cnc", "clear", "accumulate"),
}


class SupCon(CNC):
    """Eq. 7; any sample is an anchor, positives are any of its class, negatives any of the other classes."""

    def build_sampler(self) -> ContrastiveSampler:
        s, y = self.settings, self.task.y
        return ContrastiveSampler(y, y, s["num_positives"], s["num_negatives"], positives_by="class", negatives_by="class")
