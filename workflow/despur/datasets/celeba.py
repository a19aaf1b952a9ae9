"""CelebA (Liu et al. 2015; Zhang et al. 2022, App. E.1): is the hair blond? In training, 6 % of the blond are male.

From your copy under DESPUR_DATA_ROOT: the authors', torchvision's, Kaggle's or WILDS's. 202,599 images, at 224 pixels
30.5 GB of disk under results/data (size=64: 2.5 GB)."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from despur.datasets.sources import image_files, metadata_tables
from despur.specs.settings import Settings, choice, for_each, int_
from despur.storage.store import Dataset, InputError

SETTINGS = {
    "size": int_(224, "released code: pixels a side, enlarged from 178", at_least=32),
    "fit": choice("crop", "released code: cut, then resized; clip: as Zhang & Re 2022 embed images", "crop", "clip"),
}

# Where Zhang et al. copy a result ("we defer to the original papers", App. E.2.5), the original's settings as far as
# the text, the released codes or the codes of others state them; what none of them states is as for ERM.
PAPER_HYPERPARAMETERS = {
    # Sagawa et al. 2019, which App. E.2.2 follows: learning rate, batch, epochs, momentum; weight decay: their
    # standard, not in the text.
    "*": {"encoder": "resnet50", "learning_rate": 1e-4, "weight_decay": 1e-4, "batch_size": 128, "epochs": 50},
    "zero_shot": {"encoder": "clip"},
    # Released code of Qiu et al.; an epoch is one step.
    "afr": {"epochs": 1000, "learning_rate": 0.02, "weight_decay": 0.0, "gamma": 1.44, "lambda": 0.001},
    "stage1/erm": {"weight_decay": 0.1},  # App. E.2.2: high
    # App. E.2.4; anchor_fraction: released code, not in the paper. As on CMNIST*, that code keeps the head's gradient
    # over an epoch. SupCon: as CNC (App. A.3).
    **for_each(
        "cnc supcon",
        num_positives=64,
        num_negatives=64,
        temperature=0.05,
        learning_rate=1e-5,
        weight_decay=0.1,
        epochs=15,
        anchor_fraction=0.1,
        head_gradient="accumulate",
        at_once=1,
    ),
    # Liu et al. 2021, released code, whose stage 1 has the same rate, decay and batch, and T = 1 epoch (Table A.8: of
    # 1, 2). The factor as their text has it: a wrong sample occurs 50 times (in the released code 1 + 50).
    "jtt": {
        "upsampling": "constant",
        "factor": 50,
        "learning_rate": 1e-5,
        "weight_decay": 0.1,
        "batch_size": 64,
        "stage1.learning_rate": 1e-5,
        "stage1.weight_decay": 0.1,
        "stage1.batch_size": 64,
        "stage1.epochs": 1,
    },
    # App. E.2.5 for EIIL's second model; E.2.6: with the same hyper-parameters as the GDRO baseline.
    "eiil": {"second": "gdro", "learning_rate": 1e-5, "weight_decay": 0.1, "adjustment": 3},
    "gdro": {"learning_rate": 1e-5, "weight_decay": 0.1, "adjustment": 3},
    "george": {"learning_rate": 1e-5, "weight_decay": 0.1, "adjustment": 3},  # not stated: as gdro
    # App. E.2.5: batches as CNC's; its rate and decay, both in Table A.11's grid.
    "pgi": {"num_positives": 64, "num_negatives": 64, "learning_rate": 1e-5, "weight_decay": 0.1},
    "cim": {"scales": 5, "window": 11},  # MS-SSIM as it is defined: the images are large enough
    # Zhang & Re 2022, released code: for all that is trained on embeddings; of the anchors a tenth an epoch.
    **for_each(
        {"linear_probe dfr_probe wise_ft adapter": {}, "contrastive_adapter": {"anchor_fraction": 0.1}},
        learning_rate=1e-3,
        weight_decay=5e-5,
        batch_size=128,
        epochs=50,
    ),
}

LABELS_WITHHELD = "its agreement: not to further copy, publish or distribute any portion of the dataset"

# Of each group in about["groups"]: the authors' lists, as the code of others after kohpangwei/group_DRO has them.
PUBLISHED_SIZES = {
    "train": [71629, 66874, 22880, 1387],
    "val": [8535, 8276, 2874, 182],
    "test": [9767, 7535, 2480, 180],
}

RAW = tuple(
    " | ".join(
        f"{folder}/{sub}{file}"
        for folder in ("celeba", "celebA/data", "celebA", "CelebA", "celebA_v1.0")
        for sub in subs
        for file in files
    )
    for files, subs in (
        (("list_attr_celeba.txt", "list_attr_celeba.csv"), ("", "Anno/", "Eval/")),
        (("list_eval_partition.txt", "list_eval_partition.csv"), ("", "Anno/", "Eval/")),
        (("img_align_celeba/*",), ("", "Img/")),
    )
)
DOWNLOADS = (  # the variant of WILDS: the lists as .csv
    {
        "url": "https://worksheets.codalab.org/rest/bundles/0xfe55077f5cd541f985ebf9ec50473293/contents/blob/",
        "name": "celebA_v1.0.tar.gz",
        "size": 1_308_557_312,
        "into": "celebA_v1.0",
        "read_in": "p-lambda/wilds, wilds/datasets/celebA_dataset.py",
    },
)

SOURCE = "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"
LICENSE = "non-commercial research"
REMEDY = (
    "Get list_attr_celeba, list_eval_partition (.txt or .csv) and img_align_celeba (aligned and cropped, "
    f"178x218) from {SOURCE} into "
    "celeba/ in the folder that DESPUR_DATA_ROOT names"
)
SIDES = (178, 218)


def read_list(data_root: Path, pattern: str, column: str) -> tuple[Path, pd.Series]:
    """One of CelebA's lists, and a column of it by file name of the image.

    ``.csv``: commas. ``.txt``: blanks; the attributes' has a line with the number of images and a header that does not
    name the first column, the splits' has neither."""
    path = metadata_tables.find(data_root, pattern, REMEDY)
    lines = metadata_tables.read_lines(path, REMEDY)[:3]
    fields = [line.replace(",", " ").split() for line in lines]
    counted = len(fields) > 0 and len(fields[0]) == 1
    if len(fields) < 2 + counted or not all(fields):
        raise InputError(f"{path} holds no list of images. {REMEDY}")
    header, first = fields[counted : counted + 2]
    named = "." not in header[0]  # else it is a file name: there is no header
    titles = header[1 - len(first) :] if named else [column]
    options: dict[str, Any] = {
        "names": ["image", *titles],
        "header": None,
        "skiprows": counted + named,
        "sep": "," if "," in lines[-1] else r"\s+",
    }
    table = metadata_tables.read_table(path, ["image", column], REMEDY, unique=["image"], **options)
    if counted and fields[0] != [str(len(table))]:
        raise InputError(f"{path} lists {len(table):,} images, but its first line says {fields[0][0]}. {REMEDY}")
    return path, table.set_index("image")[column]


def build(settings: Settings, data_root: Path) -> Dataset:
    """The given splits; every image is an original of its own. No augmentation (released code)."""
    size = settings["size"]
    lists = [read_list(data_root, *what) for what in ((RAW[0], "Blond_Hair"), (RAW[0], "Male"), (RAW[1], "partition"))]
    (path, blond), (_, male), (split_path, split) = lists
    strangers = set(blond.index) ^ set(split.index)
    if strangers:
        raise InputError(f"{path} and {split_path} list different images, {min(strangers, key=str)} for one. {REMEDY}")
    signs = {1: 1, -1: 0, 0: 0}
    table = pd.DataFrame(
        {
            "split": metadata_tables.decode_splits(split_path, split.loc[blond.index], metadata_tables.SPLITS, REMEDY),
            "y": metadata_tables.decode(path, blond, signs, REMEDY).astype(np.int64),
            "a": metadata_tables.decode(path, male, signs, REMEDY).astype(np.int64),
            "original": np.arange(len(blond)),
        }
    )
    about = {
        **image_files.WHOLE_IMAGES,
        "size": size,
        "classes": ["not blond", "blond"],
        "attribute": "gender",
        "attributes": ["female", "male"],
        "sha256": metadata_tables.sha256(path, split_path),
    }
    remedy = f"{path} lists it. {REMEDY}"
    folders = [data_root / f"{folder[:-1]}{sub}" for folder in RAW[2].split(" | ") for sub in ("", "img_align_celeba/")]
    folder = next((folder for folder in folders if (folder / str(blond.index[0])).exists()), folders[0])
    files, fit = [folder / name for name in blond.index], partial(prepare, fit=settings["fit"])
    images = image_files.images(files, size, fit, remedy)
    return Dataset(images, table, about)


def prepare(image: Image.Image, size: int, fit: str) -> Image.Image:
    """The central square of 178, resized bilinearly to (size,size); or resized and cut as CLIP's preprocessing does.
    Raises ValueError for an image that is not 178x218."""
    if image.size != SIDES:
        raise ValueError(f"it is {image.width}x{image.height}, not 178x218")
    if fit == "clip":
        return image_files.as_clip(image, size)
    width, height = SIDES
    top = (height - width) // 2
    return image.crop((0, top, width, top + width)).resize((size, size), Image.Resampling.BILINEAR)
