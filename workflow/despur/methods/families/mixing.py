"""Cross-entropy on mixtures of two samples and of their labels (Zhang et al. 2018)."""

from torch import Tensor, nn

from despur.compute.chunks import apply_network


def mix(first: Tensor, second: Tensor, share: Tensor) -> Tensor:
    """share * first + (1 - share) * second, (B,...); ``share`` (B,)."""
    share = share.view(-1, *[1] * (first.ndim - 1))
    return share * first + (1 - share) * second


def mixed_loss(
    networks: nn.ModuleDict, inputs: tuple[Tensor, Tensor], labels: tuple[Tensor, Tensor], share: Tensor
) -> Tensor:
    """Mean cross-entropy of mixed inputs (B,...) with the labels (B,) of both, of which the first have this ``share``
    (B,). A scalar. Tokens cannot be mixed: of them representations are, as in SubpopBench (Yang et al. 2023)."""
    if inputs[0].is_floating_point():
        z = apply_network(networks["encoder"], mix(*inputs, share))
    else:
        first, second = (apply_network(networks["encoder"], x) for x in inputs)
        z = mix(first, second, share)
    logits = networks["head"](z).float()
    ours, theirs = (nn.functional.cross_entropy(logits, target, reduction="none") for target in labels)
    return mix(ours, theirs, share).mean()
