"""Invariant risk minimization, IRMv1 (Arjovsky et al. 2019), as EIIL trains its second model (Creager et al. 2021;
App. E.2.5 of Zhang et al. 2022).

Environments are values of the attribute. With ``groups=oracle``, the default, the method reads the true attribute of
training samples."""

from despur.methods.families.invariant_risk import InvariantRisk
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import choice, component, float_, log_uniform, uniform

REVISION = 2  # weight decay is divided with the loss
SETTINGS = {
    **as_erm("App. E.2.5 (CMNIST*); batch: as JTT", learning_rate=1e-2, weight_decay=1e-3),
    "groups": component("inference", "oracle", "EIIL infers them"),
    "penalty_weight": float_(
        100.0, "App. E.2.5: of IRM's penalty", at_least=0, search=log_uniform(0.1, 1e5, "SubpopBench")
    ),
    "penalty": choice(
        "square",
        "square of a mini-batch's slope: released code of Creager et al. 2021, on all samples; halves: product of the "
        "slopes of its two halves, which is unbiased (Arjovsky et al. 2019, Sec. 3.2)",
        "square",
        "halves",
    ),
    "annealing": float_(
        80,
        "App. E.2.5: 80; Table A.9: iterations. Read as epochs of the paper's 100: in so many percent of the training, "
        "the penalty weighs 1",
        at_least=0,
        at_most=100,
        search=uniform(0, 90, "ours; SubpopBench: log scale, from one step to beyond the last"),
    ),
    "sampler": choice(
        "shuffled", "mini-batches are not described; balanced: each environment equally often", "shuffled", "balanced"
    ),
}


class IRM(InvariantRisk):
    """On mini-batches that are shuffled, or balanced over environments."""
