"""The meta semantic regularizer: what it adds to an epoch."""

from benchmarks.common import Row, time_epochs


def icl_msr(epochs: int = 4) -> list[Row]:
    """An epoch with the meta semantic regularizer (two stages; of second and of first order) against one without: core
    time on 1,024 random images 32x32 in batches of 128, small ConvNet, the paper's augmentations and n = 6, one
    thread."""
    import numpy as np
    import torch

    from despur.compute.input_batcher import InputBatcher
    from despur.compute.task import Task
    from despur.specs.resolution import resolve
    from despur.training.inputs import load_method_class

    torch.set_num_threads(1)
    rng, cpu = np.random.default_rng(0), torch.device("cpu")
    images = torch.from_numpy(rng.integers(0, 256, (1024, 40, 40, 3), dtype=np.uint8))
    task = Task(InputBatcher(images, 32), rng.integers(0, 10, 1024), 10, cpu)
    small = "+batch_size=128+encoder.width=16+projector_dim=16+projector_width=64"
    augmented = "".join(
        f"+augment.{key}" for key in ("blur=0", "color_jitter=0.5", "crop_scale=0.2", "flip=0.5", "grayscale=0.1")
    )
    own = {
        "simclr": "+negatives=both_views+projector=mlp_bn_bn+temperature=0.5",
        "swav": "+prototypes=30",
        "ressl": "+queue=512",
    }
    rows: list[Row] = []
    for base in ("simclr", "byol", "lmcl", "ressl", "cmc", "swav", "dcl"):
        extra = small + augmented + (own.get(base, "") if base != "simclr" else "")
        names = {
            base: small + augmented + own.get(base, ""),
            f"{base}_msr": extra,
            f"{base}_msr+second_order=false": extra,
        }
        methods = {
            name: load_method_class(name.split("+")[0])(task, resolve("methods", name + more).points[0])
            for name, more in names.items()
        }
        seconds = {name: min(each) for name, each in time_epochs(methods, epochs).items()}
        second, first = list(methods)[1:]
        rows.append(
            (
                f"{second}, time of an epoch",
                seconds[second] / seconds[base],
                f"of {base}'s",
                "<= 4",
                "both stages, second order",
            )
        )
        rows.append(
            (
                f"{first}, time of an epoch",
                seconds[first] / seconds[base],
                f"of {base}'s",
                "",
                "both stages, first order",
            )
        )
    return rows
