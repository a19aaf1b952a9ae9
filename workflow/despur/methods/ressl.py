"""ReSSL (Zheng et al. 2021): the similarities of a sample to earlier ones are the same in a weak and in a strong
view."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from despur.augment.base import build_augment
from despur.losses.infonce import precise
from despur.losses.relations import cross_entropies
from despur.methods.families.pairs import WithQueue
from despur.specs.selfsupervised_hyperparameters import siamese, target
from despur.specs.settings import float_, int_

SETTINGS = {
    **siamese(),
    **target(0.99, "Sec. 4.1 of Zheng et al.: small data sets; .999 on ImageNet"),
    "queue": int_(4096, "Sec. 4.1 of Zheng et al.: small data sets", at_least=1),
    "temperature": float_(0.1, "Sec. 4.1 of Zheng et al.: of the student", above=0),
    "target_temperature": float_(0.04, "Sec. 4.1 of Zheng et al.: of the teacher", above=0),
}


class ReSSL(WithQueue):
    """Eq. 5 of Zheng et al.: the teacher gets weak views (crop and flip only). Deviation: both views are strong once
    and weak once; theirs are one of each."""

    def setup(self) -> None:
        super().setup()
        self.weak = build_augment(self.task, self.spec, color_jitter=0.0, grayscale=0.0, blur=0.0)

    def views(self, images: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        twice = torch.cat([images, images])
        return self.weak(twice, rng), self.augment(twice, rng)

    def compare(self, z: Tensor, p: Tensor) -> Tensor:
        s, queue = self.settings, self.queue.T
        with torch.autocast(z.device.type, enabled=False):
            label = (z @ queue.to(z.dtype) / s["target_temperature"]).softmax(dim=1)
            student = normalize(precise(p), dim=-1)
            return cross_entropies(label, student @ queue.to(student.dtype) / s["temperature"])
