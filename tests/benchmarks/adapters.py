"""The contrastive adapter."""

import time

from benchmarks.common import Row


def adapters(anchors: int = 480) -> list[Row]:
    """The contrastive adapter at its published settings on a set of Waterbirds' size; the search for neighbors on one
    of CelebA's. One thread."""
    import numpy as np
    import torch
    from torch.nn.functional import normalize

    from despur.compute.input_batcher import InputBatcher
    from despur.compute.task import Stage1Outputs, Task
    from despur.numerics.neighbors import nearest
    from despur.specs.resolution import resolve
    from despur.storage.provenance import peak_memory_mb
    from despur.training.inputs import load_method_class

    torch.set_num_threads(1)
    rng, cpu = np.random.default_rng(0), torch.device("cpu")
    y = (np.arange(4795) < 1113).astype(int)
    predicted = y.copy()
    predicted[rng.permutation(4795)[:anchors]] ^= 1
    z = normalize(torch.from_numpy(rng.standard_normal((4795, 1024), np.float32)))
    head = np.eye(2, 1024, dtype=np.float32)
    task = Task(InputBatcher(z), y, 2, cpu, predicted, stage1_outputs=Stage1Outputs(z.numpy() @ head.T, head))
    method = load_method_class("contrastive_adapter")(task, resolve("methods", "contrastive_adapter").points[0])
    batches = list(method.epoch_batches(rng))
    started, used = time.perf_counter(), time.process_time()
    for batch in batches:
        method.step(batch, rng)
    shape = f"{anchors} anchors of 4,795 x 1,024, P=M=2,048, 1 thread"
    rows: list[Row] = [
        ("contrastive adapter, anchors", time.perf_counter() - started, "s", "<= 45", shape),
        ("contrastive adapter, anchors", time.process_time() - used, "core s", "<= 45", shape),
    ]
    unit = torch.from_numpy(rng.standard_normal((162_770, 1024), np.float32))
    unit /= unit.norm(dim=1, keepdim=True)
    used = time.process_time()
    nearest(unit, torch.arange(512), 4096)
    rows.append(
        (
            "contrastive adapter, neighbors",
            time.process_time() - used,
            "core s",
            "",
            "4,096 of 512 among 162,770 x 1,024, exact",
        )
    )
    rows.append(
        ("contrastive adapter, peak memory", peak_memory_mb(), "MB", "< 2000", "both, with the 667 MB of embeddings")
    )
    return rows
