"""Tiny ImageNet (Le & Yang 2015; Qiang et al. 2022, Sec. 6.1): 200 classes, 100,000 + 10,000 images of 64x64.

From ``tiny-imagenet-200/`` under DESPUR_DATA_ROOT. The validation images, which are tested on, lie in ``val/images``
with their labels in ``val/val_annotations.txt`` as published, or in folders of their classes, ``val/n01443537/`` (or
``.../images``). The published test labels are not public."""

from pathlib import Path

from PIL import Image

from despur.datasets.sources import image_files, metadata_tables
from despur.datasets.sources.objects import Files, class_folders, dataset, images_in, read_synsets
from despur.specs.selfsupervised_hyperparameters import NT_XENT
from despur.specs.settings import Settings
from despur.storage.store import Dataset, InputError

PAPER_HYPERPARAMETERS = {  # Sec. 6.2
    "*": {"encoder": "resnet18", "learning_rate": 2e-3, "projector_dim": 128},
    "simclr": {**NT_XENT, "batch_size": 512, "epochs": 1000, "projector_dim": 128},
    "wmse": {"slice": 256, "slicings": 4},  # Sec. 4 of Ermolov et al.
    "images": {"crop_scale": 0.2, "flip": 0.5, "blur": 0.0, "color_jitter": 0.5, "grayscale": 0.1},
    "linear_classifier": {"learning_rate": 0.01},
    "fine_tuning": {"learning_rate": 0.8},
}

PUBLISHED_SIZES = {"train": 100_000, "test": 10_000}  # Le & Yang 2015

RAW = (
    *(
        "tiny-imagenet-200/wnids.txt",
        "tiny-imagenet-200/words.txt",
        "tiny-imagenet-200/train/n*",
        "tiny-imagenet-200/val/*",
    ),
    "tiny-imagenet-200/val/val_annotations.txt | tiny-imagenet-200/wnids.txt",  # the first, where there is one
)
DOWNLOADS = (  # the checksum: as code of others states it
    {
        "checksum": "md5:90528d7ca1a48142e341f4ef8d21d0de",
        "mirrors": ("https://image-net.org/data/tiny-imagenet-200.zip",),
        "brings": "tiny-imagenet-200",
        "read_in": "loaders of others on GitHub",
    },
)

CLASSES = 200  # Le & Yang 2015
SIZE = 64
SOURCE = "https://cs231n.stanford.edu/tiny-imagenet-200.zip"
LICENSE = "ImageNet: non-commercial research"
REMEDY = f"Download {SOURCE} and unpack it (again) into the folder that DESPUR_DATA_ROOT names"


def validation(folder: Path, synsets: list[str], remedy: str) -> Files:
    """Validation images and their classes, from whichever layout is there.

    Raises InputError for a flat folder without labels, where every image would seem to be of one class.
    """
    if any((folder / synset).is_dir() for synset in synsets):
        return class_folders(folder, synsets, remedy)
    labels = folder / "val_annotations.txt"
    if not labels.exists():
        raise InputError(
            f"{folder} is flat: neither folders of classes ({synsets[0]}/, ...) nor val_annotations.txt say "
            "which image is of which class, "
            f"and accuracy would be that of one class. {REMEDY}"
        )
    class_of = {row[0]: row[1] for row in metadata_tables.read_fields(labels, "\t", 6, REMEDY)}
    paths = images_in(folder / "images")
    unknown = [path for path in paths if class_of.get(path.name) not in synsets]
    if unknown or not paths:
        raise InputError(f"{labels}: no class for {unknown[0] if unknown else 'any image'}. {REMEDY}")
    return [(path, synsets.index(class_of[path.name])) for path in paths]


def prepare(image: Image.Image, size: int) -> Image.Image:
    """64x64, as they are stored."""
    return image if image.size == (size, size) else image.resize((size, size), Image.Resampling.BILINEAR)


def build(settings: Settings, data_root: Path) -> Dataset:
    """Training and validation images; the latter are the test split."""
    folder = data_root / "tiny-imagenet-200"
    listed, words = (metadata_tables.find(folder, name, REMEDY) for name in ("wnids.txt", "words.txt"))
    synsets = read_synsets(listed, CLASSES, REMEDY)
    named = dict(metadata_tables.read_fields(words, "\t", 2, REMEDY))
    if nameless := set(synsets) - set(named):
        raise InputError(f"{words} has no name for {min(nameless)}, which {listed} lists. {REMEDY}")
    remedy = f"{listed} lists it. {REMEDY}"
    train, test = class_folders(folder / "train", synsets, remedy), validation(folder / "val", synsets, remedy)
    files = [*train, *test]
    return dataset(
        image_files.images([path for path, _ in files], SIZE, prepare, REMEDY),
        ["train"] * len(train) + ["test"] * len(test),
        [y for _, y in files],
        [named[synset] for synset in synsets],
    )
