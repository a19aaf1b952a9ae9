"""Deep CORAL (Sun & Saenko 2016): ERM with representations whose means and covariances are alike in all domains.

As in DomainBed and SubpopBench (Yang et al. 2023), which add means to the paper's covariances; domains are attribute
values."""

from torch import Tensor

from despur.losses.discrepancy import coral
from despur.methods.mmd import MMD
from despur.specs.declarations import read_declarations
from despur.specs.settings import component, float_, log_uniform, without

SETTINGS = {
    **without(read_declarations("methods", "mmd")["SETTINGS"], "kernels"),
    "groups": component(
        "inference", "oracle", "SubpopBench: the known attribute is the domain", as_class="domain=majority"
    ),
    "weight": float_(
        1.0,
        "SubpopBench: of the discrepancy, beside cross-entropy",
        at_least=0,
        search=log_uniform(0.1, 10, "SubpopBench"),
    ),
}


class CORAL(MMD):
    """Cross-entropy plus ``weight`` times the discrepancy of means and covariances."""

    def discrepancy(self, z: Tensor, domain: Tensor) -> Tensor:
        return coral(z, domain, self.num_domains)
