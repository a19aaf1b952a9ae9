"""Temperatures that depend on a domain discriminator (Lewis et al. 2023, Sec. 2): code of both variants of the
method."""

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.compiling import eager
from despur.losses.infonce import candidates, positives, two_view_contrast
from despur.methods.base import Losses
from despur.methods.families.selfsupervised import WithDomains
from despur.numerics import logistic
from despur.storage.store import Array

DIAGNOSED = 16  # anchors of a step whose temperatures are kept: thousands of pairs


def temperatures(weights: Tensor, domains: int, alpha: float, beta: float, smallest: float) -> Tensor:
    """Eq. 3: max(alpha + beta (1/N_D - w_ij), tau_min) for probabilities ``weights`` (B,K) that a pair is of one
    domain."""
    return (alpha + beta * (1 / domains - weights)).clamp(min=smallest)


class DomainWeighted(WithDomains):
    """Eq. 4. Subclasses define the probability that two samples are of one domain. No gradient passes through
    temperatures."""

    def setup(self) -> None:
        super().setup()
        self.networks["discriminator"] = (
            nn.Linear(self.embedding_dim, self.num_domains).to(self.task.device).requires_grad_(False)
        )

    @staticmethod
    def weights(p: Tensor, domain: Tensor) -> Tensor:
        """w_ij (B,B), from each sample's probabilities of the domains ``p`` (B,N_D) and its true domain (B,)."""
        raise NotImplementedError

    def fit_discriminator(self, z: Tensor, domain: Tensor) -> None:
        """Fit a new discriminator to these embeddings (App. C). Its steps are not stated; here it is at its optimum."""
        weight, bias = logistic.fit(z, domain, self.num_domains, self.settings["penalty"])
        discriminator = self.networks["discriminator"]
        discriminator.weight.copy_(weight)  # type: ignore[operator]
        discriminator.bias.copy_(bias)  # type: ignore[operator]

    @torch.no_grad()
    def fit_on_all(self, rng: np.random.Generator) -> None:
        """Fit the discriminator to all training samples, not augmented, in evaluation mode; or to one random view of
        each, in training mode, in which running statistics of batch norm stay as they are."""
        views = self.settings["fit_on"] == "views"
        self.networks.train(views)
        buffers = [buffer.clone() for buffer in self.networks.buffers()]
        with eager():
            batches = self.task.batcher.batches(256, rng)
            z = torch.cat([self.embed(self.augment(x, rng) if views else x).float() for x in batches])
        for buffer, before in zip(self.networks.buffers(), buffers, strict=True):
            buffer.copy_(before)
        self.fit_discriminator(z, self.domain.values)

    def temperature(self, z: Tensor, domain: Tensor, positive: Tensor) -> Tensor:
        """tau_ij (2N,2N); tau_alpha for the positives."""
        s = self.settings
        with torch.no_grad(), torch.autocast(z.device.type, enabled=False):
            p = self.networks["discriminator"](z.float()).softmax(dim=1)
            tau = temperatures(self.weights(p, domain), self.num_domains, s["tau_alpha"], s["tau_beta"], s["tau_min"])
            return tau.scatter_(1, positive[:, None], s["tau_alpha"])

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z, domain = self.two_views(batch, rng), self.domains_of(batch)
        if self.settings["discriminator"] == "batch":
            self.fit_discriminator(z.detach().float(), domain)
        positive = positives(len(batch), z.device)
        allowed = candidates(len(batch), self.settings["negatives"], z.device)
        tau = self.temperature(z, domain, positive)
        return {"loss": two_view_contrast(z, allowed, tau), "temperature": self.percentiles(tau, allowed, positive)}

    def percentiles(self, tau: Tensor, allowed: Tensor, positive: Tensor) -> Tensor:
        """Percentiles 0 to 100 of the temperatures of the first anchors' negative pairs, (101,)."""
        negative = allowed[:DIAGNOSED].scatter(1, positive[:DIAGNOSED, None], False)
        return torch.nanquantile(
            tau[:DIAGNOSED].where(negative, torch.nan), torch.linspace(0, 1, 101, device=tau.device)
        )

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        if self.settings["discriminator"] == "global" and self.steps_done % self.steps_per_epoch == 0:
            self.fit_on_all(rng)
        return super().step(batch, rng)
