"""Fair representations: steps, and what is fitted without gradients."""

from typing import Any

from benchmarks.common import Row, timed


def _embeddings(count: int, dim: int) -> Any:
    """A training set of random embeddings in Moji's 40/10/10/40."""
    import numpy as np
    import torch

    from despur.compute.input_batcher import InputBatcher
    from despur.compute.task import Task

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, count)
    a = np.where(rng.random(count) < 0.8, y, 1 - y)
    features = rng.standard_normal((count, dim), np.float32)
    features[:, :8] += 0.5 * (y + a)[:, None]
    return Task(InputBatcher(torch.from_numpy(features)), y, 2, torch.device("cpu"), a)


def _fair_step(name: str, task: Any, steps: int = 8) -> float:
    """Median seconds of a step of 1,024."""
    import numpy as np
    import torch

    from despur.specs.resolution import resolve
    from despur.training.inputs import load_method_class

    torch.manual_seed(0)
    point = resolve("methods", name, "moji").points[0]
    method, times = load_method_class(point.base_name)(task, point), []
    for batch in list(method.epoch_batches(np.random.default_rng(0)))[:steps]:
        times.append(timed(lambda batch=batch: method.step(batch, np.random.default_rng(0))))
    return float(np.median(times[2:]))


def fair_cl() -> list[Row]:
    """Steps on Moji's shape, and what is fitted without gradients on 100,000 x 300, in core seconds."""
    import numpy as np
    import torch

    from despur.methods.leace import erasure
    from despur.metrics.fairness import leakage
    from despur.numerics.linear import support_vectors
    from despur.specs.resolution import resolve
    from despur.storage.provenance import peak_memory_mb
    from despur.training.inputs import load_method_class

    torch.set_num_threads(1)
    task = _embeddings(100_000, 2304)
    steps = {
        name: _fair_step(name, task)
        for name in ("erm", "con", "con+within=class", "con_ft", "adv", "adv+discriminators=1")
    }
    method = load_method_class("con_ft")(task, resolve("methods", "con_ft", "moji").points[0])
    classifier = timed(lambda: method.on_train_end(np.random.default_rng(0)))
    epochs = {name: 98 * steps[name] for name in ("erm", "con", "con_ft")}
    epochs["con_ft"] += classifier / 6  # once a run, of at least 6 epochs with patience 5
    rows: list[Row] = [
        (f"fair_cl: {name}, an epoch", seconds, "core s", "<= 3", "100,000 x 2,304, batch 1,024")
        for name, seconds in epochs.items()
    ]
    goals = {"con": "<= 1.3", "adv": "<= 7"}
    rows += [
        (f"fair_cl: {name} against erm", steps[name] / steps["erm"], "times", goals.get(name, ""), "a step of 1,024")
        for name in steps
        if name != "erm"
    ]
    rows.append(
        (
            "fair_cl: con_ft, its classifier",
            classifier,
            "core s",
            "",
            "once a run; a sixth of it is in the row of an epoch",
        )
    )
    rows.append(("fair_cl: peak memory", peak_memory_mb(), "MB", "< 6000", "features once, for all of these"))
    z, a = _embeddings(100_000, 300).batcher.inputs.numpy(), task.inferred_attribute
    fits = {
        "linear leakage": ("<= 5", lambda: leakage(z, a, z[:8000], a[:8000])),
        "an iteration of inlp": ("<= 5", lambda: support_vectors(z, a)),
        "leace": ("<= 1", lambda: erasure(z, a)),
    }
    fitted = {name: timed(work) for name, (_, work) in fits.items()}
    rows += [(f"fair_cl: {name}", fitted[name], "core s", goal, "100,000 x 300") for name, (goal, _) in fits.items()]
    # INLP sits on a CE model of its own
    trained = 60 * (2 * epochs["erm"] + epochs["con"] + epochs["con_ft"] + 98 * steps["adv"])
    whole = 10 * (trained + 300 * fitted["an iteration of inlp"] + 10 * fitted["linear leakage"]) / 3600
    return [
        *rows,
        (
            "fair_cl: the row of Table 1",
            whole,
            "core h",
            "",
            "5 methods x 10 seeds, of the times above; no early stopping",
        ),
    ]
