"""Exact nearest neighbors by cosine similarity, block by block, so that memory stays small."""

import torch
from torch import Tensor


@torch.no_grad()
def nearest(unit: Tensor, rows: Tensor, count: int, labels: Tensor | None = None, block: int = 128) -> Tensor:
    """The ``count`` samples most similar to each of ``rows`` (B,), not itself: (B,count), most similar first.

    ``unit``: (N,D) unit vectors. With ``labels`` (N,), only samples with other labels count; if these are fewer than
    ``count``, arbitrary samples follow. Ties are in arbitrary order. Memory: ``block`` x N similarities."""
    neighbors = []
    for block_rows in rows.split(block):
        similarity = unit[block_rows] @ unit.T
        similarity.scatter_(1, block_rows[:, None], -torch.inf)
        if labels is not None:
            similarity.masked_fill_(labels[block_rows][:, None] == labels, -torch.inf)
        neighbors.append(similarity.topk(count, dim=1).indices)
    return torch.cat(neighbors)
