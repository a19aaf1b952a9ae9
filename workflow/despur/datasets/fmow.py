"""FMoW-WILDS (Christie et al. 2018; Koh et al. 2021): 62 kinds of land use in satellite images; regions of the world
as groups.

From WILDS's ``fmow_v1.1/`` under DESPUR_DATA_ROOT. The official splits: images before 2013 train, those of 2013 to
2015 select, those from 2016 on test; what WILDS sets aside (in-distribution splits, sequestered images) is left out.
118,886 images, at 224 pixels 18 GB of disk."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import image_files, metadata_tables
from despur.specs.settings import Settings, int_
from despur.storage.store import Array, Dataset, InputError

REVISION = 2  # images are cut to the pixel where torchvision cuts them
SETTINGS = {"size": int_(224, "Koh et al. 2021: pixels a side, as published", at_least=32)}

# Zhang & Re 2022: not stated here; released code: on all its data but Waterbirds.
PAPER_HYPERPARAMETERS = {"contrastive_adapter": {"anchor_fraction": 0.1}}

PUBLISHED_SIZES = {"train": 76_863, "val": 19_915, "test": 22_108}  # Koh et al. 2021: the out-of-distribution splits

RAW = ("fmow_v1.1/rgb_metadata.csv", "fmow_v1.1/country_code_mapping.csv", "fmow_v1.1/images/*")
DOWNLOADS = (  # WILDS's
    {
        "name": "fmow_v1.1.tar.gz",
        "size": 53_893_324_800,
        "into": "fmow_v1.1",
        "read_in": "p-lambda/wilds, wilds/datasets/fmow_dataset.py",
    },
)

FOLDER = "fmow_v1.1"
SOURCE = "https://worksheets.codalab.org/rest/bundles/0xaec91eb7c9d548ebb15e1b5e60f966ab/contents/blob/"
LICENSE = "FMoW Challenge Public License"
REMEDY = (
    f"Download {SOURCE} (WILDS's FMoW) and unpack it (again) into {FOLDER}/ in the folder that DESPUR_DATA_ROOT names"
)
YEARS = {"train": (0, 2013), "val": (2013, 2016), "test": (2016, 9999)}  # from, before
OTHER = "Other"  # countries without a region: of no group
MOST_UNKNOWN = 0.2  # of all images. Where it is more, a part of the table is missing


def splits(path: Path, table: pd.DataFrame) -> Array:
    """WILDS's official split of each row, (N,): "" for what it sets aside."""
    year = pd.to_datetime(table["timestamp"], utc=True, errors="coerce", format="ISO8601").dt.year
    if year.isna().any():
        raise metadata_tables.fault(path, table["timestamp"], int(np.flatnonzero(year.isna())[0]), REMEDY)
    row_splits = np.full(len(table), "", dtype=object)
    for split, (first, end) in YEARS.items():
        row_splits[(table["split"] == split) & year.between(first, end - 1)] = split
        if split not in row_splits:
            raise InputError(f"{path}: no image of the split {split}. {REMEDY}")
    return row_splits


def build(settings: Settings, data_root: Path) -> Dataset:
    """Every image is an original of its own; image i is that of row i of the metadata."""
    path, countries = (metadata_tables.find(data_root, pattern, REMEDY) for pattern in RAW[:2])
    columns, pair = ["split", "category", "country_code", "timestamp"], ["alpha-3", "region"]
    raw = metadata_tables.read_table(path, columns, REMEDY, may_be_empty=["country_code"])
    mapping = metadata_tables.read_table(countries, pair, REMEDY, may_be_empty=pair, unique=["alpha-3"])
    region = raw["country_code"].map(mapping.dropna().set_index("alpha-3")["region"]).fillna(OTHER)
    if (unknown := (region == OTHER).mean()) > MOST_UNKNOWN:
        raise InputError(f"{countries}: {unknown:.0%} of the images are of countries without a region. {REMEDY}")
    split = splits(path, raw)
    rows = np.flatnonzero(split != "")
    classes, regions = sorted(raw["category"].unique()), [*sorted(set(region) - {OTHER}), OTHER]
    y, a = raw["category"].map(classes.index).to_numpy()[rows], region.map(regions.index).to_numpy()[rows]
    table = pd.DataFrame({"split": split[rows], "y": y, "a": a, "original": rows})
    about = {
        **image_files.WHOLE_IMAGES,
        "size": settings["size"],
        **{"classes": classes, "class_words": [name.replace("_", " ") for name in classes]},
        **{"attributes": regions, "attribute": "region", "groups": regions[:-1]},
        "sha256": metadata_tables.sha256(path),
    }
    files = [data_root / FOLDER / f"images/rgb_img_{row}.png" for row in rows]
    remedy = f"{path} lists it. {REMEDY}"
    images = image_files.images(files, settings["size"], image_files.as_clip, remedy)
    return Dataset(images, table, about, a[:, None] == np.arange(len(regions) - 1))
