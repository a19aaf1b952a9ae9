"""Reading: of rows that no memory holds, while the device computes; of photographs; of a large file of one's own."""

import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.common import Row, compare

OWN_ROWS, OWN_FEATURES = 1_000_000, 16
IMAGES, SIDE, BATCH, STEPS = 10_240, 224, 256, 8  # 1.5 GB, of which 0.3 GB are read
SLOWER = 1.5  # times a batch's reading that computing takes


def open_cold(file: Path) -> Any:
    """The file's images, memory-mapped, none of them in memory: as if the file were larger."""
    import numpy as np
    import torch

    handle = os.open(file, os.O_RDONLY)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)
    return torch.from_numpy(np.load(file, mmap_mode="c"))


def compute(device: Any, seconds: float) -> None:
    """Keep the device busy with products of matrices for so long."""
    import torch

    matrix, end = torch.ones(256, 256, device=device), time.perf_counter() + seconds
    while time.perf_counter() < end:
        matrix = (matrix @ matrix).clamp_(max=1)
        matrix[0, 0].item()  # waits for a GPU


def time_steps(batches: Iterable[Any], device: Any, seconds: float) -> float:
    """Seconds of a step that gets a batch, copies it to the device and computes for so long; without the first, which
    nothing can hide."""
    started = 0.0
    for images in batches:
        images.to(device, non_blocking=True)
        compute(device, seconds)
        started = started or time.perf_counter()
    return (time.perf_counter() - started) / (STEPS - 1)


def reading() -> list[Row]:
    """Random rows of images of ImageNet's size."""
    import numpy as np
    import torch

    from despur.compute.read_ahead import read_ahead, read_rows
    from despur.storage.store import ROWS, Lazy, write_rows

    def read_each(inputs: Any) -> Iterable[Any]:
        return (read_rows(inputs, torch.from_numpy(rows)) for rows in batches)

    torch.set_num_threads(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (1, SIDE, SIDE, 3), dtype=np.uint8)
    batches = np.split(rng.permutation(IMAGES)[: BATCH * STEPS], STEPS)
    with tempfile.TemporaryDirectory(dir=".") as folder:  # not /tmp, which may lie in memory
        file = Path(folder) / "inputs.npy"
        write_rows(file, [Lazy((IMAGES, *image.shape[1:]), np.uint8, lambda rows: image.repeat(ROWS, 0))])
        os.sync()
        alone = time_steps(read_each(open_cold(file)), device, 0)
        busy = SLOWER * alone
        computing = time_steps([torch.empty(BATCH, *image.shape[1:], dtype=torch.uint8)] * STEPS, device, busy)
        turns = time_steps(read_each(open_cold(file)), device, busy)
        ahead = time_steps(read_ahead(open_cold(file), batches, None), device, busy)
    note = f"{BATCH} images from disk {1000 * alone:.0f} ms, computing {1000 * computing:.0f} ms, {device.type}"
    return [
        ("reading, then computing: step against computing", turns / computing, "ratio", "", note),
        ("reading ahead: step against computing", ahead / computing, "ratio", "1.1", note),
    ]


def photographs() -> list[Row]:
    """JPEGs of ImageNet's size as CLIP sees them, against torchvision's decoder and resizing."""
    import numpy as np
    import torch
    from PIL import Image
    from sklearn.datasets import load_sample_images
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms.v2 import InterpolationMode, functional

    from despur.datasets.sources.image_files import as_clip, images

    def read_by_torchvision(file: Path) -> Any:
        pixels = decode_jpeg(torch.from_numpy(np.fromfile(file, np.uint8)), ImageReadMode.RGB)
        small = functional.resize(pixels, [SIDE], InterpolationMode.BICUBIC)
        return functional.center_crop(small, [SIDE]).permute(1, 2, 0).numpy()

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.jpg" for number in range(20)]
        for number, file in enumerate(files):
            Image.fromarray(load_sample_images().images[number % 2]).resize((500, 375)).save(file, quality=92)
        ours = images(files, SIDE, as_clip, "")
        gain, mine, theirs = compare(
            lambda: ours[0 : len(files)], lambda: np.stack([read_by_torchvision(file) for file in files])
        )
    note = f"500x375, as CLIP sees it: Pillow {50 * mine:.1f} ms, torchvision {50 * theirs:.1f} ms"
    return [("photographs: Pillow against torchvision", gain, "times", "", note)]


def own_data() -> list[Row]:
    """A table of one's own with many samples: read, and checked."""
    import numpy as np
    import pandas as pd

    from despur.specs.resolution import resolve
    from despur.storage.dataset_checks import build_dataset

    (point,) = resolve("datasets", "bring_your_own").points
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(OWN_ROWS, OWN_FEATURES))).add_prefix("feature_")
    table = table.assign(y=rng.integers(2, size=OWN_ROWS), a=rng.integers(2, size=OWN_ROWS))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bring_your_own/task.parquet"
        file.parent.mkdir()
        table.assign(split=rng.choice(["train", "val", "test"], OWN_ROWS)).to_parquet(file)
        started, cpu = time.perf_counter(), time.process_time()
        build_dataset(point, Path(folder))
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    note = f"{OWN_FEATURES} features, parquet; {cpu_seconds:.1f} s of CPU"
    return [(f"own data: reading {OWN_ROWS:,} samples", seconds, "s", "10", note)]
