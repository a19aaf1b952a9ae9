"""The linear classifier that evaluates representations (Qiang et al. 2022, Sec. 6.2): one layer and a softmax on a
frozen encoder."""

from torch import Tensor, nn

from despur.methods.base import GradientMethod
from despur.specs.hyperparameters import adam, criterion, on_stage1
from despur.specs.settings import bool_, float_, int_, without
from despur.specs.spec import Spec

SETTINGS = {
    **without(
        adam(
            learning_rate=0.01,
            weight_decay=5e-6,
            batch_size=1000,
            epochs=500,
            source="Sec. 6.2: Adam, 500 epochs; W-MSE's released code",
        ),
        *("encoder", "decay", "decay_every", "decay_factor"),
    ),
    **on_stage1("simclr", "last", "Sec. 6.2: f is frozen after its training"),
    "last_rate": float_(
        1e-6, "W-MSE's released code: the learning rate at the end; it decays exponentially, once an epoch", above=0
    ),
    "criterion": criterion("last", "the data has no validation split"),
    "normalise": bool_(
        False, "W-MSE's released code; Sec. 6.2 has representations L2-normalized, 'unless otherwise specified'"
    ),
    "neighbours": int_(
        5, "Sec. 6.2: k of the k-nn classifier, evaluated on the same representations; 0: none", at_least=0
    ),
}


class Given(nn.Module):
    """Representations (B,D) of stage 1, unchanged or scaled to length 1."""

    def __init__(self, dim: int, normalize: bool) -> None:
        super().__init__()
        self.dim, self.normalize = dim, normalize

    def forward(self, z: Tensor) -> Tensor:
        return nn.functional.normalize(z) if self.normalize else z


class LinearClassifier(GradientMethod):
    """Cross-entropy on the labeled training samples."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        return nn.ModuleDict({"encoder": Given(dim, spec.settings["normalise"]), "head": nn.Linear(dim, num_classes)})

    def lr_factor(self, epoch: float) -> float:
        s = self.settings
        return (s["last_rate"] / s["learning_rate"]) ** (int(epoch) / s["epochs"])
