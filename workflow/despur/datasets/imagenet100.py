"""ImageNet-100 (Tian et al. 2020a; Qiang et al. 2022, Sec. 6.1): a hundred classes of ImageNet, 126,689 + 5,000 images.

From ImageNet's folders (imagenet.py); which classes is a list of synsets, one a line, in a file under DESPUR_DATA_ROOT.
"""

from pathlib import Path

from despur.datasets.imagenet import build_with_paths
from despur.datasets.sources import metadata_tables
from despur.datasets.sources.objects import read_synsets
from despur.specs.declarations import read_declarations
from despur.specs.selfsupervised_hyperparameters import NT_XENT
from despur.specs.settings import Settings, int_, name
from despur.storage.store import Dataset

REVISION = 2  # as of imagenet
SETTINGS = {
    "size": int_(224, "not stated; usual: pixels a side, the center of 256", at_least=32),
    "synsets": name("imagenet100.txt", "Tian et al. 2020a, released code: the file that lists them"),
}

PAPER_HYPERPARAMETERS = {
    # Sec. 6.2; batch size and projector: not stated, as on Tiny ImageNet; blur: a tenth of the side, Chen et al. 2020a.
    "*": {"encoder": "resnet50", "weights": "random", "learning_rate": 2e-3, "projector_dim": 128},
    "simclr": {**NT_XENT, "batch_size": 512, "epochs": 1000, "projector_dim": 128},
    # Sec. 6.3, Table 2; swav_msr: not stated
    "simclr_msr": {"lambda": 0.1},
    "cmc_msr": {"lambda": 0.1, "gamma": 0.1},
    "lmcl_msr": {"lambda": 1.0},
    "dcl": {"class_prior": 0.01},
    "dcl_msr": {"class_prior": 0.01},
    "images": {"crop_scale": 0.08, "flip": 0.5, "blur": 0.5, "blur_radius": 11, "color_jitter": 1.0, "grayscale": 0.2},
    "linear_classifier": {"learning_rate": 0.01, "neighbours": 0},
    "fine_tuning": {"learning_rate": 0.8},
}

PUBLISHED_SIZES = {"train": 126_689, "test": 5_000}  # of the synsets of Tian et al. 2020a

RAW = ("{synsets}", *read_declarations("datasets", "imagenet")["RAW"])
BY_HAND = read_declarations("datasets", "imagenet")["BY_HAND"]
SOURCE = read_declarations("datasets", "imagenet")["SOURCE"]
LICENSE = read_declarations("datasets", "imagenet")["LICENSE"]
DOWNLOADS = (
    {
        "url": "https://raw.githubusercontent.com/HobbitLong/CMC/master/imagenet100.txt",
        "file": "imagenet100.txt",
        "read_in": "HobbitLong/CMC, its list of files",
    },
)

CLASSES = 100  # of the synsets of Tian et al. 2020a
REMEDY = (
    "Get https://github.com/HobbitLong/CMC/blob/master/imagenet100.txt; or write one synset (n02869837) a line into a "
    "file of another name, and use synsets=NAME"
)


def build(settings: Settings, data_root: Path) -> Dataset:
    """The listed classes, in the order of the list."""
    path = metadata_tables.find(data_root, settings["synsets"], REMEDY)
    count = CLASSES if settings["synsets"] == SETTINGS["synsets"].default else None
    return build_with_paths(settings, data_root, read_synsets(path, count, REMEDY), f"{path} lists it. ")[0]
