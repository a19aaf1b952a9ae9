"""Waterbirds (Sagawa et al. 2019; Zhang et al. 2022, App. E.1): CUB birds on Places backgrounds, 95 % of training
birds on their own.

From your copy under DESPUR_DATA_ROOT: the authors' (also where the code of Group DRO has it) or WILDS's. 11,788
images, at 224 pixels 1.8 GB of disk under results/data."""

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from despur.datasets.sources import image_files, metadata_tables
from despur.datasets.sources.subsets import select_samples
from despur.specs.settings import Settings, choice, for_each, int_
from despur.storage.store import Dataset

SETTINGS = {
    "size": int_(224, "released code: pixels a side, out of 256", at_least=32),
    "fit": choice(
        "stretch", "released code; clip: the shape is kept, as Zhang & Re 2022 embed images", "stretch", "clip"
    ),
    "samples": int_(
        0,
        "adapters, Fig. 5: training samples, with the ratios of groups preserved; 0: all. Other splits stay whole",
        at_least=0,
    ),
}

# Where Zhang et al. copy a result ("we defer to the original papers", App. E.2.5), the original's settings as far as
# the text, the released codes or the codes of others state them; what none of them states is as for ERM.
PAPER_HYPERPARAMETERS = {
    # Sagawa et al. 2019, which App. E.2.2 follows: learning rate, batch, epochs, momentum; weight decay: their
    # standard, as in A.11's grid.
    "*": {"encoder": "resnet50", "learning_rate": 1e-3, "weight_decay": 1e-4, "batch_size": 128, "epochs": 300},
    "zero_shot": {"encoder": "clip"},
    # Released code of Qiu et al.; an epoch is one step.
    "afr": {"epochs": 500, "learning_rate": 0.01, "weight_decay": 0.0},
    "stage1/erm": {"weight_decay": 1.0},  # App. E.2.2: high
    # App. E.2.4. As on CMNIST*, the released code keeps the head's gradient over an epoch, of which the paper says
    # nothing.
    **for_each(  # supcon: App. A.3: as cnc
        "cnc supcon",
        num_positives=17,
        num_negatives=17,
        temperature=0.1,
        learning_rate=1e-4,
        weight_decay=1e-3,
        epochs=5,
        head_gradient="accumulate",
        at_once=1,
    ),
    # Liu et al. 2021, released code, whose stage 1 has the same rate, decay and batch, and T = 60 epochs (Table A.8:
    # of 40, 50, 60). The factor as their text has it: a wrong sample occurs 100 times (in the released code 1 +
    # 100).
    "jtt": {
        "upsampling": "constant",
        "factor": 100,
        "learning_rate": 1e-5,
        "weight_decay": 1.0,
        "batch_size": 64,
        "stage1.learning_rate": 1e-5,
        "stage1.weight_decay": 1.0,
        "stage1.batch_size": 64,
        "stage1.epochs": 60,
    },
    # As GEORGE's released code trains Group DRO here, and EIIL, "the same hyperparameters as the GDRO baseline" (App.
    # E.2.6).
    "gdro": {"learning_rate": 1e-5, "weight_decay": 1.0, "adjustment": 2},
    "george": {"learning_rate": 1e-5, "weight_decay": 1.0, "adjustment": 2, "sampler": "balanced"},
    "groups/george": {"overcluster": 0},
    "eiil": {"second": "gdro", "learning_rate": 1e-5, "weight_decay": 1.0, "adjustment": 2},
    # App. E.2.5: batches as CNC's; its rate and decay, both in Table A.11's grid.
    "pgi": {"num_positives": 17, "num_negatives": 17, "learning_rate": 1e-4, "weight_decay": 1e-3},
    "cim": {"scales": 5, "window": 11},  # MS-SSIM as it is defined: the images are large enough
    # Zhang & Re 2022, released code: one rate, decay, batch and number of epochs for all that is trained on embeddings.
    **for_each(
        "linear_probe dfr_probe wise_ft adapter contrastive_adapter",
        learning_rate=1e-3,
        weight_decay=5e-5,
        batch_size=128,
        epochs=100,
    ),
}

# Of each group in about["groups"]: the authors' metadata, as the code of others after kohpangwei/group_DRO has them.
PUBLISHED_SIZES = {"train": [3498, 184, 56, 1057], "val": [467, 466, 133, 133], "test": [2255, 2255, 642, 642]}

RAW = (
    "waterbird_complete95_forest2water2/metadata.csv | "
    "waterbirds_v1.0/metadata.csv | "
    "cub/data/waterbird_complete95_forest2water2/metadata.csv",
)
DOWNLOADS = (  # the addresses of the authors; no size or checksum published
    {
        "mirrors": ("https://downloads.cs.stanford.edu/nlp/data/dro/waterbird_complete95_forest2water2.tar.gz",),
        "brings": "waterbird_complete95_forest2water2",
        "read_in": "code of others on GitHub, after kohpangwei/group_DRO",
    },
)

SOURCE = "https://nlp.stanford.edu/data/dro/waterbird_complete95_forest2water2.tar.gz"
LICENSE = "CUB-200-2011 and Places: non-commercial research"
REMEDY = (
    f"Download {SOURCE} (or WILDS's waterbirds_v1.0) and unpack it (again) into the folder that DESPUR_DATA_ROOT names"
)


def prepare(image: Image.Image, size: int) -> Image.Image:
    """Resized to a square larger by 256/224 (the shape is not kept: the code of Sagawa et al.), then the center
    (size,size)."""
    larger = size * 256 // 224
    corner = (larger - size) // 2
    return image.resize((larger, larger), Image.Resampling.BILINEAR).crop(
        (corner, corner, corner + size, corner + size)
    )


def build(settings: Settings, data_root: Path) -> Dataset:
    """The given splits; every image is an original of its own. No augmentation (released code)."""
    path, size = metadata_tables.find(data_root, RAW[0], REMEDY), settings["size"]
    raw = metadata_tables.read_table(path, ["img_filename", "y", "place", "split"], REMEDY, unique=["img_filename"])
    classes, places = {0: "landbird", 1: "waterbird"}, {0: "land", 1: "water"}
    for column, meaning in (("y", classes), ("place", places)):
        metadata_tables.decode(path, raw[column], meaning, REMEDY)
    split = metadata_tables.decode_splits(path, raw["split"], metadata_tables.SPLITS, REMEDY)
    table = pd.DataFrame(
        {
            "split": split,
            "y": raw["y"].astype(np.int64),
            "a": raw["place"].astype(np.int64),
            "original": np.arange(len(raw)),
        }
    )
    kept = select_samples(table, settings["samples"], "waterbirds")
    about = {
        **image_files.WHOLE_IMAGES,
        "size": size,
        "classes": list(classes.values()),
        "attribute": "background",
        "attributes": list(places.values()),
        "sha256": metadata_tables.sha256(path),
    }
    files = [path.parent / name for name in raw["img_filename"].iloc[kept]]
    subset = table.iloc[kept].reset_index(drop=True)
    fit = prepare if settings["fit"] == "stretch" else image_files.as_clip
    images = image_files.images(files, size, fit, f"{path} lists it. {REMEDY}")
    return Dataset(images, subset, about)
