"""Steps of the training loop against a bare loop of PyTorch on the same batches, one thread: what the loop, its
randomness and its bookkeeping cost."""

from collections.abc import Callable
from itertools import islice
from typing import Any

from benchmarks.common import Row, compare

ROUNDS, AT_ONCE = 30, 4  # of steps


def plain_contrast(z: Any, label: Any, temperature: float) -> Any:
    """Eq. 2 of Shen et al. 2021 as most write it, a scalar."""
    import torch
    from torch.nn.functional import normalize

    unit = normalize(z)
    itself = torch.eye(len(z), dtype=torch.bool)
    similarity = (unit @ unit.T / temperature).masked_fill(itself, -torch.inf)
    same = (label[:, None] == label) & ~itself
    logs = (similarity - similarity.logsumexp(dim=1, keepdim=True)).masked_fill(~same, 0)
    return -(logs.sum(dim=1) / same.sum(dim=1).clamp(min=1)).mean()


def bare_losses(method: Any, rng: Any) -> dict[str, Callable[[Any], Any]]:
    """The loss of a batch of rows, by method, in plain PyTorch."""
    import torch
    from torch.nn.functional import cross_entropy

    task, networks, s = method.task, method.networks, method.settings

    def erm(rows: Any) -> Any:
        return cross_entropy(networks["head"](networks["encoder"](task.batcher.batch(rows, rng))), task.labels[rows])

    def con(rows: Any) -> Any:
        z, y, a = networks["encoder"](task.batcher.batch(rows, rng)), task.labels[rows], method.attribute[rows]
        contrast = plain_contrast(z, y, s["temperature"]) - plain_contrast(z, a, s["temperature"])
        w = 1 / (1 + s["ratio"])
        return w * cross_entropy(networks["head"](z), y) + (1 - w) * contrast

    def simclr(rows: Any) -> Any:
        images = task.batcher.batch(rows, rng)
        z = networks["projector"](networks["encoder"](method.augment(torch.cat([images, images]), rng)))
        return plain_contrast(z, torch.arange(len(rows)).repeat(2), s["temperature"])

    return {"erm": erm, "jtt": erm, "con": con, "simclr": simclr}


def ratio(name: str, data: str, task: Any) -> tuple[float, float]:
    """Core time of the loop's steps divided by that of bare ones, the median over rounds; and milliseconds of a bare
    step."""
    import numpy as np
    import torch
    from benchmarks.gpu import at_work

    from despur.compute.machine import Machine

    size = {"warm": 2, "steps": 2}
    trainer, _ = at_work(name, data, task, Machine(torch.device("cpu"), "fp32"), size)
    method, rng = trainer.method, np.random.default_rng(0)
    loss = bare_losses(method, rng)[name]

    def bare(rows: Any) -> None:
        method.optimizer.zero_grad()
        loss(rows).backward()
        method.optimizer.step()

    batches = list(islice(method.epoch_batches(rng), AT_ONCE))
    times, _, plain = compare(
        lambda: [trainer.step(rows) for rows in batches], lambda: [bare(rows) for rows in batches], ROUNDS
    )
    return times, 1000 * plain / len(batches)


def steps() -> list[Row]:
    """At published settings: CMNIST*'s shape, Moji's and that of digits 3 and 5."""
    import numpy as np
    import torch
    from benchmarks.fair_cl import _embeddings
    from benchmarks.gpu import digits, random_task

    torch.set_num_threads(1)
    cpu = torch.device("cpu")
    colored = digits(cpu, {"train": 8_000, "correlated": 0.9})[1]
    tasks = {
        "erm": ("cmnist", colored),
        "jtt": ("cmnist", colored),
        "con": ("moji", _embeddings(8_192, 2304)),
        "simclr": ("cmnist_3v5", random_task(2_048, 28, 2, cpu)),
    }
    found = {name: ratio(name, data, task) for name, (data, task) in tasks.items()}
    assert np.isfinite(list(found.values())).all()
    return [
        (f"{name}: step against bare loop", value, "times", "<= 1.1", f"a bare step takes {bare:.1f} ms of a core")
        for name, (value, bare) in found.items()
    ]


def chunks() -> list[Row]:
    """Passes of 2,240 images through LeNet, all at once against chunks: forward and backward."""
    import torch

    from despur.compute import chunks as compute
    from despur.encoders.lenet import LeNet

    torch.set_num_threads(1)
    images = torch.rand(2_240, 3, 32, 32).to(memory_format=torch.channels_last)
    network = LeNet().to(memory_format=torch.channels_last)

    def passes(apply: Callable[..., Any]) -> Callable[[], Any]:
        return lambda: apply(images).square().mean().backward()

    chunked = passes(lambda images: compute.apply_network(network, images))
    ratio, _, ours = compare(passes(network), chunked)
    note = f"2,240 images of 32x32, LeNet, chunks of {compute.CHUNK}: {1e6 * ours / len(images):.0f} us"
    return [("one pass against chunks", ratio, "times", ">= 1.1", f"{note} an image")]
