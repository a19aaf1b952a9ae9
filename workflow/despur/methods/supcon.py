"""SupCon* of Zhang et al. 2022 (Table 1, App. A.3): Correct-N-Contrast without stage 1: classes alone define
positives and negatives."""

from despur.methods.cnc import CNC
from despur.samplers.contrastive import ContrastiveSampler
from despur.specs.declarations import read_declarations
from despur.specs.settings import without

# App. A.3 changes the sampling only.
SETTINGS = without(
    read_declarations("methods", "cnc")["SETTINGS"], "groups", "anchors", "positives_by", "negatives_by", "shrink"
)


class SupCon(CNC):
    """Eq. 7. Any sample is an anchor, positives are any samples of its class, negatives any of the other classes."""

    def build_sampler(self) -> ContrastiveSampler:
        s, y = self.settings, self.task.y
        return ContrastiveSampler(
            y, y, s["num_positives"], s["num_negatives"], positives_by="class", negatives_by="class"
        )
