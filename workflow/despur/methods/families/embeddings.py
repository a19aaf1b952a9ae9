"""Small networks on a foundation model's embeddings (Sec. 3.2 of Zhang & Re 2022): a bottleneck or nothing, then a
linear head."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from despur.compute.task import Stage1Outputs, Task
from despur.specs.settings import SettingError
from despur.storage.store import Array


class Probe(nn.Linear):
    """W u + b, (B,D) -> (B,C). Embeddings of length 1 are first multiplied by ``length``, the length that the
    foundation model gives them: the steps of SGD on W grow with its square, and the effect of W's decay depends on
    it."""

    def __init__(self, dim: int, num_classes: int) -> None:
        super().__init__(dim, num_classes)
        self.register_buffer("length", torch.ones(()))

    def forward(self, embeddings: Tensor) -> Tensor:
        return super().forward(self.get_buffer("length") * embeddings)


class Bottleneck(nn.Module):
    """Eq. 4, with batch norm and a bias, as the printed numbers of parameters demand (2DH + 2H + D). (B,D) -> (B,D)
    of length 1."""

    def __init__(self, dim: int, hidden: int, batch_norm: bool) -> None:
        super().__init__()
        self.dim = dim
        self.down = nn.Linear(dim, hidden, bias=False)
        self.norm = nn.BatchNorm1d(hidden) if batch_norm else nn.Identity()
        self.up = nn.Linear(hidden, dim)

    def forward(self, embeddings: Tensor) -> Tensor:
        return normalize(self.up(relu(self.norm(self.down(embeddings)))))

    def gram(self) -> Tensor:
        """Products of all pairs of columns of the up-projection, its bias as the last column: (H+1,H+1)."""
        columns = torch.cat([self.up.weight, self.up.bias[:, None]], dim=1)
        return columns.T @ columns

    def cosines(self, hidden: Tensor, gram: Tensor) -> Tensor:
        """Cosines of the first output with the others, (B-1,), from the down-projections of a mini-batch (B,H).

        The outputs themselves, of D numbers each, are not needed: their products are those of activations with
        :meth:`gram` between."""
        # similarities over a small temperature need full precision
        with torch.autocast(hidden.device.type, enabled=False):
            active = nn.functional.pad(relu(self.norm(hidden)), (0, 1), value=1.0)
            mapped = active @ gram
            lengths = (mapped * active).sum(dim=1).clamp(min=1e-24).sqrt()
            return (mapped[1:] @ active[0]) / (lengths[1:] * lengths[0])


def stage1_outputs(task: Task) -> Stage1Outputs:
    """The outputs of the foundation model. Raises SettingError if its head does not fit the representations."""
    assert task.stage1_outputs is not None
    wanted = (task.num_classes, *task.batcher.shape)
    if task.stage1_outputs.head.shape != wanted:
        raise SettingError(f"the stage-1 model's class embeddings are {task.stage1_outputs.head.shape}, not {wanted}")
    return task.stage1_outputs


def freeze(head: nn.Module, weight: Array) -> None:
    """Give a head these weights, which no step trains."""
    head.load_state_dict({"weight": torch.from_numpy(weight)})
    head.requires_grad_(False)
