"""Ten seeds of a small model as one batched model, against the same one after the other, in bare PyTorch: what training
seeds together could gain, and whether digits stay."""

from typing import Any

from benchmarks.common import Row, compare

SEEDS, STEPS = 10, 20


def seeds() -> list[Row]:
    """Linear classifiers and adapters at published sizes and at those of the bundled run. One thread."""
    import torch

    torch.set_num_threads(1)
    linear = {"down": (512, 100), "rate": 1e-2, "batch": 1000}
    adapter = {"down": (1024, 128), "up": (128, 1024), "rate": 1e-3, "batch": 128}
    return [
        compare_seeds("linear classifiers", linear),
        compare_seeds("linear classifiers, bundled", linear | {"down": (128, 10)}),
        compare_seeds("adapters", adapter),
        compare_seeds("adapters, bundled", adapter | {"down": (64, 128), "up": (128, 64)}),
    ]


def compare_seeds(name: str, sizes: dict[str, Any]) -> Row:
    """How many times as long the seeds take one after the other, and how far their weights then lie apart."""
    import torch

    torch.manual_seed(0)
    inputs = torch.randn(SEEDS, sizes["batch"], sizes["down"][0])
    labels = torch.randint(0, 2, (SEEDS, sizes["batch"]))
    first = {key: torch.randn(SEEDS, *sizes[key]) / 10 for key in ("down", "up") if key in sizes}

    def train(seed: slice) -> dict[str, Any]:
        weights = {key: value[seed].clone().requires_grad_() for key, value in first.items()}
        optimizer = torch.optim.Adam(weights.values(), lr=sizes["rate"])
        for _ in range(STEPS):
            logits = run_models(inputs[seed], weights)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels[seed].flatten(), reduction="sum")
            optimizer.zero_grad()
            (loss / sizes["batch"]).backward()
            optimizer.step()
        return weights

    each = [slice(i, i + 1) for i in range(SEEDS)]
    ratio, apart, together = compare(lambda: [train(seed) for seed in each], lambda: train(slice(None)))
    as_one = train(slice(None))
    alone = [train(seed) for seed in each]
    difference = max(
        float((as_one[key] - torch.cat([one[key] for one in alone])).detach().abs().max()) for key in first
    )
    note = f"{STEPS} steps: {apart:.2f} core s against {together:.2f}; weights differ by {difference:.1g}"
    return f"ten {name}: one after the other against as one", ratio, "times", ">= 1.4", note


def run_models(inputs: Any, weights: dict[str, Any]) -> Any:
    """Logits (seeds,B,C) of a linear layer, or of a bottleneck with batch norm and its cosines with two classes."""
    import torch
    from torch.nn.functional import batch_norm, normalize, relu

    hidden = inputs @ weights["down"]
    if "up" not in weights:
        return hidden
    count, batch, width = hidden.shape
    channels = hidden.transpose(0, 1).reshape(batch, count * width)  # a batch norm for each seed
    active = relu(batch_norm(channels, None, None, training=True)).reshape(batch, count, width).transpose(0, 1)
    moved = normalize(active @ weights["up"], dim=2)
    return moved @ torch.eye(moved.shape[2], 2) / 0.01
