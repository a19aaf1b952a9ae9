"""L_ct and L_msr of Qiang et al. 2022 (Eq. 1 to 6), and what a step on them would do to L_ct (Eq. 7 and 8)."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.func import functional_call

from despur.compute.distributed import average, gather, mean
from despur.compute.randomness import seed_torch
from despur.losses.semantic import backdoor
from despur.methods.families.pairs import Pairs

Parameters = dict[str, Tensor]
Views = tuple[Tensor, Tensor]


def copy_leaves(parameters: Parameters) -> Parameters:
    """Copies for which gradients can be taken."""
    return {name: p.detach().clone().requires_grad_() for name, p in parameters.items()}


class Bound(nn.Module):
    """A method's function as a module of its networks, so that :func:`functional_call` can replace their
    parameters."""

    def __init__(self, networks: nn.ModuleDict, function: Callable[..., Any]) -> None:
        super().__init__()
        self.networks, self.function = networks, function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


class WeightedPairs(Pairs):
    """Pairs whose positives are weighted by f_msr's vectors. f: the encoder, f_ph: the projector and all else that
    learns with it; ``Parameters`` f, f_1 and v hold both."""

    TRANSIENT = ("step_seed",)
    step_seed = 0  # all passes of a step of f_msr drop the same units

    def weigh(self, weights: Tensor, h: Tensor) -> Tensor:
        """a_t . Z of Eq. 3, (n,2N,c), for the n vectors of each image, (N,n,c), and both its views, (2N,c). Vectors of
        length 1 are multiplied by sqrt(c)."""
        scale = math.sqrt(weights.shape[2]) if self.settings["unit"] else 1.0
        return scale * weights.transpose(0, 1).repeat(1, 2, 1) * h

    def measure(self, anchors: Tensor, positives: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor]:
        """L_ct (Eq. 1, or the method's own loss) and L_msr (Eq. 6) of representations (2N,c), each the mean or the sum
        over anchors. Without weights L_msr is 0."""
        embedded = self.anchor(anchors)
        embedded_positives = embedded if self.shared else self.positive(positives)
        z = gather(embedded)
        p = z if self.shared else gather(embedded_positives)
        times = len(z) if self.settings["reduction"] == "sum" else 1  # of 2N anchors
        contrast = times * self.contrast(z, self.opposite(p))
        if weights is None:
            return contrast, contrast.new_zeros(())
        # With mask_at=embedding, weights act on this process's embeddings, which are gathered afterwards.
        late = self.settings["mask_at"] == "embedding"
        weighted = self.weigh(weights, embedded_positives) if late else self.positive(self.weigh(weights, positives))
        return contrast, times * backdoor(self.compare(z, self.opposite(gather(weighted))))

    def objectives(self, views: Views, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """L_ct and L_msr of views."""
        return self.measure(*self.represent(*views), weights)

    def call_with(self, parameters: Parameters, function: Callable[..., Any], *inputs: Any) -> Any:
        """Call a function with these parameters in the place of the networks'. Running statistics of batch norm do not
        change, and all passes of a step drop the same units."""
        buffers = {
            name: b.clone() for name, b in self.networks.named_buffers() if "running" in name or "num_batches" in name
        }
        state = {f"networks.{name}": value for name, value in (parameters | buffers).items()}
        seed_torch(self.step_seed)
        return functional_call(Bound(self.networks, function), state, inputs)

    def look_ahead(self, views: Views, weights: Tensor) -> Tensor:
        """L_ct(f^1, f_ph^1) of Eq. 7 and 8, as a function of f_msr's weight vectors.

        Its value is that of Eq. 8; its gradient for the weight vectors is that of Eq. 8 by the chain rule (below).
        With ``second_order=false``: L_msr at f and f_ph as they are."""
        s, f = self.settings, {name: p.detach() for name, p in self.networks.named_parameters() if p.requires_grad}
        if not s["second_order"]:
            return self.call_with(f, self.objectives, views, weights)[1]
        alpha = s["alpha"] or self.optimizer.param_groups[0]["lr"]
        f_1 = self.fast_weights(f, views, weights.detach(), alpha)
        l_ct = self.call_with(f_1, self.objectives, views)[0]
        v = dict(zip(f, average(torch.autograd.grad(l_ct, list(f_1.values()))), strict=True))
        # Only L_msr in f^1 = f - alpha (dL_ct/df + lambda dL_msr/df) depends on the weight vectors a. With
        # v = dL_ct/df at f^1, taken as a constant, the chain rule gives
        #     dL_ct(f^1)/da = -alpha lambda d<v, dL_msr/df>/da.
        # So the gradient of the second term below is that of Eq. 8, and its value is 0.
        inner = mean(self.inner_product(f, v, views, weights))
        return l_ct.detach() - alpha * s["lambda"] * (inner - inner.detach())

    def fast_weights(self, f: Parameters, views: Views, weights: Tensor, alpha: float) -> Parameters:
        """f^1 and f_ph^1 (Eq. 7): f and f_ph after a step of length ``alpha`` down L_to (Eq. 5)."""
        leaves = copy_leaves(f)
        l_ct, l_msr = self.call_with(leaves, self.objectives, views, weights)
        gradients = average(torch.autograd.grad(l_ct + self.settings["lambda"] * l_msr, list(leaves.values())))
        return copy_leaves({name: p - alpha * g for (name, p), g in zip(f.items(), gradients, strict=True)})

    def inner_product(self, f: Parameters, v: Parameters, views: Views, weights: Tensor) -> Tensor:
        """<v, dL_msr/df>, which can be differentiated for the weight vectors.

        The encoder's part of it is <dh, dL_msr/dh> by the chain rule: h are the positives' representations, dh their
        derivative in the direction v. The encoder does not see the weight vectors, so dh is a constant of them, and
        one pass in forward mode finds it: cheaper than a backward pass of a backward pass. The other networks are
        small and are differentiated twice."""
        anchors, h, dh = self.represent_with_derivative(f, v, views)
        others = copy_leaves({name: p for name, p in f.items() if not name.startswith("encoder.")})
        l_msr = self.call_with(others, self.measure, h if self.shared else anchors, h, weights)[1]
        gradients = torch.autograd.grad(l_msr, [h, *others.values()], create_graph=True)
        directions = [dh, *(v[name] for name in others)]
        return torch.stack([(g * d).sum() for g, d in zip(gradients, directions, strict=True)]).sum()

    def represent_with_derivative(self, f: Parameters, v: Parameters, views: Views) -> tuple[Tensor, Tensor, Tensor]:
        """Jacobian-vector product of the encoder: representations of anchors, of positives (a leaf), and the
        derivative of the latter at f in the direction v, as constants (2N,c).

        The derivative must be a constant: PyTorch's forward mode, if it is differentiated, takes the batch's
        statistics for constants without saying so."""
        with forward_ad.dual_level():
            dual = {name: forward_ad.make_dual(p, v[name]) for name, p in f.items()}
            anchors, positives = self.call_with(dual, self.represent, *views)
            h, dh = forward_ad.unpack_dual(positives)
            return anchors, h.detach().requires_grad_(), dh.detach()
