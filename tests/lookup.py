"""Methods whose logits or representations are chosen by the test, sample by sample."""

import numpy as np
import torch
from helpers import build, task
from torch import nn

from despur.compute.input_batcher import InputBatcher


class Lookup(nn.Module):
    """The encoder of sample i is row i of a table of parameters."""

    def __init__(self, values):
        super().__init__()
        self.values = nn.Parameter(torch.tensor(np.asarray(values), dtype=torch.float32))

    def forward(self, rows):
        return self.values[rows[:, 0].long()]


def tabled(name, values, y, groups=None, *, head=False):
    """A method on as many samples as there are rows of ``values`` (N,D): their logits or, with ``head``, their
    representations."""
    method = build(name, task(np.asarray(y), groups))
    method.networks["encoder"] = Lookup(values)
    method.networks["head"] = nn.Linear(np.shape(values)[1], method.task.num_classes) if head else nn.Identity()
    method.task.batcher = InputBatcher(torch.arange(len(values), dtype=torch.float32)[:, None])
    method.optimizer = method.build_optimizer()
    return method


def gradient(method, loss):
    """d loss / d table, (N,D)."""
    return torch.autograd.grad(loss, method.networks["encoder"].values, retain_graph=True)[0]


def random_case(seed, count=12, classes=3, scale=2.0):
    """Random logits (N,C) and classes (N,), every class there."""
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(count, classes)), rng.permutation(np.arange(count) % classes)


def log_softmax(logits):
    """Independent of torch, in double precision."""
    logits = np.asarray(logits, dtype=np.float64)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def cross_entropies(logits, y):
    return -log_softmax(logits)[np.arange(len(y)), y]
