"""GEORGE (Sohoni et al. 2020; Zhang et al. 2022, App. E.2.5): Group DRO on the subclasses that clustering finds within
each class."""

from typing import Any

from despur.methods.gdro import GroupDRO
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import choice, component, float_

REVISION = 2  # the adjustment counts for groups without samples in a batch, too
SETTINGS = {
    **as_erm("App. E.2.5 (CMNIST*); batch: as JTT"),
    "groups": component("inference", "george", "Sohoni et al. 2020, Sec. 4: UMAP and Gaussian mixtures"),
    "step_size": float_(0.01, "released code of GEORGE", above=0),
    "adjustment": float_(0.0, "released code of GEORGE on MNIST", at_least=0),
    "sampler": choice("shuffled", "released code of GEORGE on MNIST; on Waterbirds: balanced", "shuffled", "balanced"),
}


class GEORGE(GroupDRO):
    """A subclass belongs to one class, so that (class, subclass) are the subclasses."""

    def metadata(self) -> dict[str, Any]:
        return {"subclass_sizes": self.counts.tolist()}
