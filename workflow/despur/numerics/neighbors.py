"""Exact nearest neighbours by cosine similarity, a block of rows at a time: never all similarities of all samples at
once."""

import torch
from torch import Tensor


@torch.no_grad()
def nearest(unit: Tensor, rows: Tensor, count: int, labels: Tensor | None = None, block: int = 128) -> Tensor:
    """The ``count`` rows of ``unit`` (N,D, of length 1) most similar to each of ``rows`` (B,), without itself:
    (B,count), nearest first.

    With ``labels`` (N,), those with other labels come first, nearest first; then whatever is left, if there are fewer
    than ``count``. Memory: ``block`` x N similarities. Ties are in no particular order."""
    found = []
    for part in rows.split(block):
        similarity = unit[part] @ unit.T
        similarity.scatter_(1, part[:, None], -torch.inf)
        if labels is not None:
            similarity.masked_fill_(labels[part][:, None] == labels, -torch.inf)
        found.append(similarity.topk(count, dim=1).indices)
    return torch.cat(found)
