"""ImageNet (Deng et al. 2009; Qiang et al. 2022, Sec. 6.1): 1,000 classes, 1.28 million + 50,000 images, at 224 pixels
200 GB of disk.

From ``imagenet/`` (or ``ILSVRC2012/``, ``ILSVRC/Data/CLS-LOC/``) under DESPUR_DATA_ROOT: ``train/SYNSET/`` and
``val/SYNSET/``, or ``val/`` with Kaggle's ``LOC_val_solution.csv``. The labels of Table 4 are those of SimCLR's lists,
``imagenet_subsets/1percent.txt`` and ``10percent.txt``, under DESPUR_DATA_ROOT as well."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from despur.datasets.sources import image_files, metadata_tables
from despur.datasets.sources.imagenet_folders import REMEDY, list_images
from despur.datasets.sources.objects import dataset, squared
from despur.specs.selfsupervised_hyperparameters import LARGE_BATCHES, NT_XENT
from despur.specs.settings import Settings, choice, for_each, int_
from despur.storage.store import Array, Dataset, InputError

REVISION = 2  # images are cut to the pixel where torchvision cuts them
SETTINGS = {
    "size": int_(224, "not stated; usual: pixels a side, the center of 256", at_least=32),
    "labels": choice(
        "published",
        "Sec. 6.3: 'the same fixed splits' as SimCLR, of 1 % and 10 %; drawn: equally many of each class",
        "published",
        "drawn",
    ),
}

PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "resnet50", "weights": "random", "learning_rate": 2e-3, "projector_dim": 128},
    # Sec. 6.2: "the same as (Chen et al., 2020b; Chuang et al., 2020)", which we read as all methods with LARS. alpha,
    # a plain step of Eq. 7, cannot be LARS's rate, which is relative to the length of the weights: as on the other data
    # sets. Weights of MSR: Sec. 6.3, Table 3.
    **for_each(
        {
            "simclr": {**NT_XENT, "temperature": 0.1, "projector_dim": 128},
            "simclr_msr": {"lambda": 0.1, "temperature": 0.1, "alpha": 2e-3},
            "byol_msr cmc_msr swav_msr": {"alpha": 2e-3},
            "moco": {"queue": 65536},  # Sec. 3.3 of He et al.
            "cmc swav byol relic ssl_hsic": {},
        },
        **LARGE_BATCHES,
    ),
    # blur over a tenth of the side
    "images": {"crop_scale": 0.08, "flip": 0.5, "blur": 0.5, "blur_radius": 11, "color_jitter": 1.0, "grayscale": 0.2},
    "linear_classifier": {"learning_rate": 0.01, "batch_size": 1000, "epochs": 500, "neighbours": 0},
    "fine_tuning": {"learning_rate": 0.8, "batch_size": 4096, "epochs": 30},
}

PUBLISHED_SIZES = {"train": 1_281_167, "test": 50_000}  # Russakovsky et al. 2015, Table 2

RAW = (
    "imagenet/train/n* | ILSVRC2012/train/n* | ILSVRC/Data/CLS-LOC/train/n*",
    "imagenet/val/* | ILSVRC2012/val/* | ILSVRC/Data/CLS-LOC/val/*",
    # the first, where there is one: folders of classes, or the list of them
    "imagenet/val/n* | ILSVRC2012/val/n* | ILSVRC/Data/CLS-LOC/val/n* | LOC_val_solution.csv | "
    "ILSVRC/LOC_val_solution.csv | imagenet/LOC_val_solution.csv | ILSVRC2012/LOC_val_solution.csv | "
    "ILSVRC/Data/CLS-LOC/LOC_val_solution.csv",
)
BY_HAND = (
    "make an account at https://image-net.org and accept its terms; get ILSVRC2012_img_train.tar, "
    "ILSVRC2012_img_val.tar and ILSVRC2012_devkit_t12.tar.gz into imagenet/; torchvision.datasets.ImageNet('imagenet', "
    "split) with the splits train and val unpacks them into imagenet/train/SYNSET/ and imagenet/val/SYNSET/. Or get "
    "ILSVRC/ and LOC_val_solution.csv of https://www.kaggle.com/c/imagenet-object-localization-challenge"
)
DOWNLOADS = tuple(
    {
        "url": f"https://raw.githubusercontent.com/google-research/simclr/master/imagenet_subsets/{part}.txt",
        "file": f"imagenet_subsets/{part}.txt",
        "read_in": "google-research/simclr, its list of files",
    }
    for part in ("1percent", "10percent")
)
RAW_WITH = {"labels=published": ("imagenet_subsets/1percent.txt", "imagenet_subsets/10percent.txt")}

SOURCE = "https://image-net.org/challenges/LSVRC/2012/"
LICENSE = "ImageNet: non-commercial research"
DRAWN = "Get it from https://github.com/google-research/simclr/tree/master/imagenet_subsets, or use labels=drawn"


def ranks(paths: Sequence[Path], data_root: Path) -> Array:
    """Rank of each training image in the order of labeling, (N,): the 1 % list, the others of the 10 % list, the
    rest."""
    rank = np.full(len(paths), len(paths))
    index = {path.name: i for i, path in enumerate(paths)}
    count = 0
    for name in ("1percent.txt", "10percent.txt"):
        file = metadata_tables.find(data_root, f"imagenet_subsets/{name}", DRAWN)
        for image in metadata_tables.read_words(file, DRAWN):
            if image not in index:
                raise InputError(f"{file}: {image} is no training image. {DRAWN}")
            if rank[index[image]] == len(paths):
                rank[index[image]], count = count, count + 1
    return rank


def build_with_paths(
    settings: Settings, data_root: Path, synsets: Sequence[str] | None = None, listed: str = ""
) -> tuple[Dataset, list[Path]]:
    """ImageNet, or only the classes ``synsets``, which are ``listed`` (a sentence); and the paths of the training
    images."""
    names, train, test = list_images(data_root, synsets, listed)
    files, size = [*train, *test], settings["size"]
    inputs = image_files.images([path for path, _ in files], size, squared, REMEDY)
    split = ["train"] * len(train) + ["test"] * len(test)
    return dataset(inputs, split, [y for _, y in files], names), [path for path, _ in train]


def build(settings: Settings, data_root: Path) -> Dataset:
    """The given splits; the validation images are the test split."""
    made, train = build_with_paths(settings, data_root)
    if settings["labels"] == "published":
        rank = ranks(train, data_root)
        made.table["label_rank"] = np.concatenate([rank, np.full(len(made.table) - len(rank), -1)])
    return made
