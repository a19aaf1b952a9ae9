"""ImageNet as it is distributed: a folder for each class in ``train/`` and in ``val/``; or ``val/`` without folders, as
Kaggle has it, with ``LOC_val_solution.csv``."""

from collections.abc import Sequence
from pathlib import Path

from despur.datasets.sources import metadata_tables
from despur.datasets.sources.objects import Files, class_folders, images_in, is_synset
from despur.specs.declarations import read_declarations
from despur.storage.store import InputError

TRAIN, VAL, LABELLED = read_declarations("datasets", "imagenet")["RAW"]
REMEDY = (
    "Get ImageNet (https://image-net.org/challenges/LSVRC/2012/) and unpack it into imagenet/ in the folder that "
    "DESPUR_DATA_ROOT names, with a folder for each class in train/ and in val/: torchvision.datasets.ImageNet(FOLDER, "
    "split) makes them of both archives and the development kit. Or put Kaggle's LOC_val_solution.csv, which says the "
    "classes of val/, beside ILSVRC/"
)


def list_images(
    data_root: Path, synsets: Sequence[str] | None = None, listed: str = ""
) -> tuple[list[str], Files, Files]:
    """The classes, all or only ``synsets``, which are ``listed`` (a sentence); the training and the validation images
    of each. Raises InputError for a folder that does not say the class of an image."""
    train = refuse_flat(metadata_tables.find(data_root, TRAIN, REMEDY).parent)
    names = synsets or sorted(path.name for path in train.iterdir() if is_synset(path.name))
    remedy = f"{listed}{REMEDY}"
    return list(names), class_folders(train, names, remedy), list_validation(data_root, names, remedy)


def refuse_flat(folder: Path) -> Path:
    """The folder itself. Raises InputError for one that holds images, not folders of them."""
    if images_in(folder):
        raise InputError(f"{folder} is flat: the class of an image is the name of its folder. {REMEDY}")
    return folder


def list_validation(data_root: Path, synsets: Sequence[str], remedy: str) -> Files:
    """Validation images by class, from folders or, where there are none, from Kaggle's list."""
    chosen = metadata_tables.find(data_root, LABELLED, REMEDY)
    if chosen.suffix != ".csv":
        return class_folders(refuse_flat(chosen.parent), synsets, remedy)
    folder = metadata_tables.find(data_root, VAL, REMEDY).parent
    table = metadata_tables.read_table(chosen, ["ImageId", "PredictionString"], REMEDY, unique=["ImageId"])
    synset_of = dict(zip(table["ImageId"], table["PredictionString"].astype(str).str.split().str[0], strict=True))
    paths: dict[str, list[Path]] = {synset: [] for synset in synsets}
    for path in images_in(folder):
        if path.stem not in synset_of:
            raise InputError(f"{chosen} says no class of {path}. {REMEDY}")
        paths.get(synset_of[path.stem], []).append(path)
    if lacking := [synset for synset in synsets if not paths[synset]]:
        raise InputError(f"{folder} has no images of the class {lacking[0]}, as {chosen} says. {remedy}")
    return [(path, y) for y, synset in enumerate(synsets) for path in paths[synset]]
