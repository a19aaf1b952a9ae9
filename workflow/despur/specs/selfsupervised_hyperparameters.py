"""Sets of settings that methods share which learn without labels."""

from despur.specs.hyperparameters import adam
from despur.specs.settings import Setting, bool_, choice, component, float_, int_

# between representation and loss: methods/families/selfsupervised.py
PROJECTORS = ("none", "linear", "mlp", "mlp_bn", "mlp_bn_bn")
DECAYS = ("none", "linear", "step", "drops", "cosine")


def two_views(epochs: int, batch_size: int, source: str) -> dict[str, Setting]:
    """The settings that methods share that learn without labels from two random views of every sample."""
    return {
        **adam(1e-3, 0.0, epochs, source, batch_size),
        "decay": choice(
            "step",
            f"{source}: step size 20, gamma .9; drops: see drop; cosine: half a period, Chen et al. 2020a",
            *DECAYS,
        ),
        "drop": float_(
            0.2,
            "with decay=drops, Qiang et al. 2022, Sec. 6.2: the rate falls to this share, twice",
            above=0,
            at_most=1,
        ),
        "drop_first": int_(50, "with decay=drops, Qiang et al., Sec. 6.2: epochs before the end", at_least=0),
        "drop_second": int_(25, "with decay=drops, Qiang et al., Sec. 6.2: epochs before the end", at_least=0),
        "warmup": int_(0, "first steps in which the rate grows linearly; 0: none", at_least=0),
        "encoder": component("encoders", "convnet", source),
        "augment": component("augment", "images", source),
        "projector": choice(
            "none", "Lewis et al. 2023, App. D; App. G: linear, mlp; mlp_bn, mlp_bn_bn: W-MSE", *PROJECTORS
        ),
        "projector_dim": int_(16, "Lewis et al. 2023, App. G: 4, 8, 16", at_least=1),
        "projector_width": int_(1024, "with projector=mlp_bn or mlp_bn_bn, W-MSE: hidden units", at_least=1),
    }


def siamese(projector: str = "mlp_bn") -> dict[str, Setting]:
    """The settings with which Qiang et al. 2022 train every method (Sec. 6.2); where they are silent, those of W-MSE
    (Ermolov et al. 2021), whose sentences and baseline numbers theirs are."""
    source = "Qiang et al. 2022, Sec. 6.2"
    return {
        **two_views(1000, 512, source),
        "batch_size": int_(512, "not stated; W-MSE's", at_least=1),
        "learning_rate": float_(3e-3, f"{source}: CIFAR; 2e-3 on the others", above=0),
        "weight_decay": float_(1e-6, source, at_least=0),
        "decay": choice("drops", f"{source}: .2 drops 50 and 25 epochs before the end; on ImageNet cosine", *DECAYS),
        "warmup": int_(500, f"{source}: iterations of the optimizer", at_least=0),
        "encoder": component("encoders", "convnet", f"{source}: ResNet-18 or ResNet-50, which the data sets state"),
        "projector": choice(
            projector,
            "f_ph: not stated; W-MSE's: linear, batch norm, ReLU, linear; mlp_bn_bn: SimCLR's there, batch "
            "norm at its end, too",
            *PROJECTORS,
        ),
        "projector_dim": int_(
            64, f"{source}: 64 on CIFAR, 128 on STL-10, Tiny ImageNet; called f's output, in W-MSE f_ph's", at_least=1
        ),
        "projector_width": int_(1024, f"{source}: called f_ph's output, in W-MSE its hidden units", at_least=1),
    }


# "The same as (Chen et al., 2020b ...)" (Sec. 6.2, on ImageNet): Sec. 3.1 of Chen et al. 2020b, batches of 4,096, 800
# epochs. Their rate is 0.1 times the root of the batch size and rises over 5 % of the epochs (google-research/simclr,
# issue 77). Weight decay, and no decay or adaptation of biases and norms: its README and model_util.py.
LARGE_BATCHES = {
    **{"optimizer": "lars", "learning_rate": 6.4, "momentum": 0.9, "weight_decay": 1e-4, "decay": "cosine"},
    **{"batch_size": 4096, "epochs": 800, "warmup": 12_480},
}

# SimCLR as Qiang et al. 2022 train it (see siamese), for the PAPER_HYPERPARAMETERS of their data sets: its own
# defaults are those of Lewis et al. 2023.
NT_XENT = {
    "temperature": 0.5,
    "negatives": "both_views",
    "weight_decay": 1e-6,
    "decay": "drops",
    "warmup": 500,
    "projector": "mlp_bn_bn",
    "projector_dim": 64,
}


def contrast(temperature: float, source: str, negatives: str = "other_view") -> dict[str, Setting]:
    """The settings of InfoNCE."""
    return {
        "temperature": float_(temperature, source, above=0),
        "negatives": choice(
            negatives, "Eq. 2 of Lewis et al. 2023; both_views: Chen et al. 2020", "other_view", "both_views"
        ),
    }


def target(momentum: float, source: str, increase: str = "none") -> dict[str, Setting]:
    """The settings of a target network that follows the one that learns."""
    return {
        "ema": float_(momentum, f"{source}: share of the past in the target's parameters", at_least=0, at_most=1),
        "ema_increase": choice(increase, f"{source}; cosine: from ema to 1 over training", "none", "cosine"),
    }


def semantic_regularizer(weight: float, uniformity: float, source: str) -> dict[str, Setting]:
    """The settings of the meta semantic regularizer (Qiang et al. 2022, Sec. 4)."""
    return {
        "lambda": float_(weight, f"{source}: weight of L_msr, Eq. 5", at_least=0),
        "gamma": float_(uniformity, f"{source}: weight of L_uni, Eq. 8", at_least=0),
        "n": int_(6, "Sec. 6.2: weight vectors of an image; 14 in Table 4", at_least=1),
        "t": float_(2.0, "Sec. 6.2: Eq. 9", above=0),
        "reduction": choice(
            "mean",
            "Eq. 1 and 6 sum over the 2N anchors of a batch, of unstated size; mean: as released code does "
            "(SimCLR, W-MSE), so that gamma "
            "and alpha mean the same for every N; sum: gamma weighs 2N times less, and Eq. 7 steps 2N times as far",
            "mean",
            "sum",
        ),
        "second_order": bool_(
            True,
            "Alg. 1; false: f_msr minimizes L_msr at f and f_ph as they are: Eq. 8 alone would give it no gradient",
        ),
        "alpha": float_(
            0.0, "Eq. 7: not stated; 0: the encoder's learning rate, which Alg. 1 calls by the same letter", at_least=0
        ),
        "beta": float_(
            1e-3, "Alg. 1: not stated; Adam's default, as f_msr is trained by Adam like all (Sec. 6.2)", above=0
        ),
        "msr_width": int_(
            16,
            "'convolutional neural network': not stated; channels of the first of three layers, then doubled",
            at_least=1,
        ),
        "squash": choice(
            "sigmoid", "not stated: 'large' inside a semantic subset of channels, 'small' outside", "sigmoid", "none"
        ),
        "unit": bool_(
            True,
            "not stated: Eq. 9 is a Gaussian kernel only between vectors of length 1; they act times sqrt(c), "
            "on average as 1",
        ),
        "mask_at": choice(
            "representation",
            "Eq. 3: on f's channels, before f_ph, so that a = 1 is L_ct; embedding: after f_ph",
            "representation",
            "embedding",
        ),
    }
