"""Adaptive temperature: what discriminator and augmentation add to a step."""

from benchmarks.common import Row, time_epochs, timed


def domain_temperature(epochs: int = 2) -> list[Row]:
    """Self-supervised pre-training at the paper's size (6,930 images 28x28, batches of 256, ConvNet), random images,
    one thread: core time of an epoch of Domain-Weighted Pairs, its discriminators included, against one of Standard
    CL; share of augmentation."""
    import numpy as np
    import torch

    from despur.compute.input_batcher import InputBatcher
    from despur.compute.task import Task
    from despur.specs.resolution import resolve
    from despur.training.inputs import load_method_class

    torch.set_num_threads(1)
    rng, cpu = np.random.default_rng(0), torch.device("cpu")
    images = torch.from_numpy(rng.integers(0, 256, (6930, 28, 28, 3), dtype=np.uint8))
    task = Task(InputBatcher(images, 28), rng.integers(0, 2, 6930), 2, cpu, rng.integers(0, 2, 6930))
    names = ("simclr", "domain_weighted_pairs", "domain_weighted_pairs+discriminator=batch")
    methods = {name: load_method_class(name.split("+")[0])(task, resolve("methods", name).points[0]) for name in names}
    seconds = {name: sum(each[1:]) for name, each in time_epochs(methods, 1 + epochs).items()}
    pair = task.batcher.batch(np.arange(256), rng).repeat(2, 1, 1, 1)
    augmenting = sum(timed(lambda: methods["simclr"].augment(pair, rng)) for _ in range(10)) / 10
    base = seconds["simclr"]
    rows: list[Row] = [
        ("simclr", 6912 * epochs / base, "images/s of core time", "", "two views of each; ConvNet, 28x28, one thread")
    ]
    for name in list(methods)[1:]:
        rows.append(
            (f"{name}, time of an epoch", seconds[name] / base, "of simclr's", "<= 1.15", "discriminator included")
        )
    rows.append(("augmentation", augmenting * 27 * epochs / base, "of a step of simclr", "< 0.33", "crop, blur"))
    return rows
