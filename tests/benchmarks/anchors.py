"""Whole training steps against those of other code, in one process: SimCLR's against lightly, ResNet-50's against plain
PyTorch. On a GPU where there is one, at the published sizes; else at a small size, where only ratios mean something."""

import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from benchmarks.common import Row, compare

ROUNDS = 11  # in turns: other work on the machine counts for both; the first is cold and does not count


def time_turns(ours: Callable[[], None], theirs: Callable[[], None], finish: Callable[[], None]) -> tuple[float, float]:
    """Median seconds of each, called in turns; ``finish`` waits for the device."""
    seconds = []
    for _ in range(ROUNDS):
        turn = []
        for work in (ours, theirs):
            finish()
            started = time.perf_counter()
            work()
            finish()
            turn.append(time.perf_counter() - started)
        seconds.append(turn)
    return median(each[0] for each in seconds[1:]), median(each[1] for each in seconds[1:])


def compare_resnet50(device: Any, batch_size: int, side: int, steps: int) -> tuple[float, float]:
    """Images a second of ERM's step on a ResNet-50, and the share of plain PyTorch's that they are: the same network,
    images on the device, cross-entropy, SGD."""
    import numpy as np
    import torch
    from benchmarks.gpu import at_work, random_task, wait
    from torchvision.models import resnet50

    from despur.compute.machine import Machine

    machine = Machine(device, "tf32" if device.type == "cuda" else "fp32")
    task = random_task(4 * batch_size, side, 2, device)
    name = f"erm+encoder.weights=random+batch_size={batch_size}"
    trainer, _ = at_work(name, "waterbirds", task, machine, {"warm": 1, "steps": 1})
    network = resnet50(num_classes=2).to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-3)
    images = torch.rand(batch_size, 3, side, side, device=device).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 2, (batch_size,), device=device)
    batches = np.arange(4 * batch_size).reshape(4, -1)

    def ours() -> None:
        for i in range(steps):
            trainer.step(batches[i % 4])

    def theirs() -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(images), labels).backward()
            optimizer.step()

    mine, plain = time_turns(ours, theirs, lambda: wait(machine))
    return steps * batch_size / mine, plain / mine


def read_forever(loader: Any) -> Iterator[Any]:
    while True:
        yield from loader


def compare_lightly(device: Any, batch_size: int, count: int, steps: int) -> tuple[float, float]:
    """Augmented views a second of SimCLR's step on ResNet-18 in CIFAR-10's shape, and how many times lightly's they
    are: its transform in as many loader processes as there are cores, its loss, the same network."""
    import numpy as np
    import torch
    from benchmarks.gpu import at_work, random_task, wait
    from lightly.loss import NTXentLoss
    from lightly.models.modules import SimCLRProjectionHead
    from lightly.transforms import SimCLRTransform
    from PIL import Image

    from despur.compute.machine import Machine
    from despur.encoders.resnet18 import ResNet18

    class Views(torch.utils.data.Dataset[Any]):
        images = np.random.default_rng(0).integers(0, 256, (count, 32, 32, 3), dtype=np.uint8)
        transform = SimCLRTransform(input_size=32, cj_strength=0.5, gaussian_blur=0.0)

        def __len__(self) -> int:
            return count

        def __getitem__(self, i: int) -> Any:
            return self.transform(Image.fromarray(self.images[i]))

    machine = Machine(device, "tf32" if device.type == "cuda" else "fp32")
    name = f"simclr+batch_size={batch_size}"
    trainer, _ = at_work(name, "cifar10", random_task(count, 32, 10, device), machine, {"warm": 1, "steps": 1})
    batches = np.arange(count).reshape(-1, batch_size)
    workers = os.cpu_count() if device.type == "cuda" else 0
    loader = torch.utils.data.DataLoader(
        Views(), batch_size, shuffle=True, drop_last=True, num_workers=workers or 0, persistent_workers=bool(workers)
    )
    views = read_forever(loader)
    encoder = ResNet18(pool=trainer.method.spec.components["encoder"].settings["pool"])
    network = torch.nn.Sequential(encoder, SimCLRProjectionHead(512, 512, 128)).to(device)
    network = network.to(memory_format=torch.channels_last)
    optimizer, loss = torch.optim.Adam(network.parameters()), NTXentLoss(temperature=0.5)

    def ours() -> None:
        for i in range(steps):
            trainer.step(batches[i % len(batches)])

    def theirs() -> None:
        for _ in range(steps):
            one, other = (each.to(device, memory_format=torch.channels_last) for each in next(views))
            optimizer.zero_grad()
            loss(network(one), network(other)).backward()
            optimizer.step()

    mine, lightlys = time_turns(ours, theirs, lambda: wait(machine))
    return 2 * steps * batch_size / mine, lightlys / mine


def compare_torchvision(batch_size: int = 512) -> tuple[float, float]:
    """How many times as long torchvision takes for random views as we do, and our views a core second: of images of
    32 x 32 on a CPU, with SimCLR's augmentations of CIFAR-10. It draws once for each call, so each image is a call."""
    import numpy as np
    import torch
    from torchvision.transforms import v2

    from despur.augment.images import build
    from despur.specs.resolution import resolve

    name = "simclr+augment.color_jitter=0.5+augment.flip=0.5+augment.grayscale=0.2+augment.blur=0"
    augment = build(resolve("methods", name).points[0].components["augment"].settings)
    images, rng = torch.rand(batch_size, 3, 32, 32), np.random.default_rng(0)
    centered = 2 * images - 1
    color = v2.RandomApply([v2.ColorJitter(0.4, 0.4, 0.4, 0.1)], 0.8)
    theirs = v2.Compose([v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(), color, v2.RandomGrayscale(0.2)])
    ratio, _, ours = compare(lambda: [theirs(image) for image in images], lambda: augment(centered, rng))
    return ratio, batch_size / ours


def anchors() -> list[Row]:
    """On the GPU, or small on one thread of the CPU."""
    import torch

    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    large = device.type == "cuda"
    rate, share = compare_resnet50(device, *((128, 224, 10) if large else (4, 64, 1)))
    rows = [(f"resnet50 on {device}: of plain PyTorch's speed", share, "times", ">= 0.9", f"{rate:,.0f} images/s")]
    if importlib.util.find_spec("lightly"):
        rate, share = compare_lightly(device, *((512, 51_200, 10) if large else (32, 256, 1)))
        note = f"{rate:,.0f} views/s"
    else:
        share, note = float("nan"), "lightly is not installed: make test-oracles installs it"
    rows.append((f"simclr resnet18 on {device}: against lightly", share, "times", ">= 2", note))
    share, rate = compare_torchvision()
    note = f"{rate:,.0f} views a core second, 32 x 32, one thread"
    return [*rows, ("random views on cpu: torchvision, image by image, against ours", share, "times", ">= 1", note)]
