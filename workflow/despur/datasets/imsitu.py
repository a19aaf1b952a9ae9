"""imSitu: what people do in photographs, in 12 coarse classes, gender as the protected attribute (Shen et al. 2021, Experiment 4).

Under ``imsitu/``, for each of train, dev and test: ``SPLIT.parquet`` (or .csv) with columns image, gender, and class or verb; where it is
the verb, ``classes.csv`` (verb, class) says which of the coarse classes each belongs to: the paper's grouping by FrameNet is not published.
And ``SPLIT.npy``, vectors of a ResNet-50 row by row; or, with features=images, the photographs under ``images/``.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.settings import Settings, choice, stated_in, whole
from despur.sources import raw
from despur.store import Array, Dataset, InputError

SETTINGS = {
    "features": choice(
        "vectors", "Experiment 4: of a ResNet-50 fine-tuned on the task; images: for an encoder that is trained", "vectors", "images"
    ),
    "size": whole(224, "with features=images: side of the square that an encoder sees; ResNet-50", at_least=8),
}

PUBLISHED = {"*": stated_in("moji")}  # with features=images, ask for an encoder that takes images

GENDERS = ["man", "woman"]


def labels(folder: Path, tables: list[pd.DataFrame], source: Path) -> list[str]:
    """Gives each table its class, and returns the names of all."""
    if any("class" not in table for table in tables):
        path = raw.found(folder, "classes.csv", remedy="It says which class each verb belongs to: columns verb, class")
        of = raw.read_table(path, ("verb", "class")).set_index("verb")["class"]
        for table in tables:
            unknown = set(table.get("verb", ["(no column verb)"])) - set(of.index)
            if unknown:
                raise InputError(f"{path} has no class for the verb {min(unknown)}, which {source} has")
            table["class"] = table["verb"].map(of)
    return sorted({str(name) for table in tables for name in table["class"]})


def photograph(path: Path, side: int) -> Array:
    """uint8 (side,side,3): the shorter side made ``side`` long, the middle cut out."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            return np.asarray(ImageOps.fit(image.convert("RGB"), (side, side)))
    except OSError as error:
        raise InputError(f"{path} cannot be read as a photograph ({error})") from error


def build(settings: Settings, data_root: Path) -> Dataset:
    """All three splits one after the other, as they are given."""
    folder = data_root / "imsitu"
    remedy = "It lists the photographs: columns image, gender, and class or verb"
    splits = ("train", "dev", "test")
    files = [raw.found(folder, f"{split}.parquet", f"{split}.csv", remedy=remedy) for split in splits]
    tables = [raw.read_table(path, ("image", "gender")) for path in files]
    classes = labels(folder, tables, files[0])
    joined = pd.concat([table.assign(split=split) for split, table in zip(splits, tables, strict=True)], ignore_index=True)
    if settings["features"] == "images":
        inputs = np.empty((len(joined), settings["size"], settings["size"], 3), np.uint8)
        for row, name in zip(inputs, joined["image"], strict=True):
            row[:] = photograph(folder / "images" / name, settings["size"])
    else:
        arrays = [raw.found(folder, f"{split}.npy", remedy="Encode the photographs, or ask for features=images") for split in splits]
        files += arrays
        inputs = np.concatenate([np.asarray(raw.read_vectors(path), np.float32) for path in arrays])
    y, a = (raw.coded(joined[column].astype(str), names, column, folder) for column, names in (("class", classes), ("gender", GENDERS)))
    about = {
        **{"input": "image" if inputs.dtype == np.uint8 else "embedding", "size": settings["size"], "train_crop": "centre"},
        **{"classes": classes, "attributes": GENDERS, "attribute": "gender"},
        **{"source": "http://imsitu.org", "licence": "see imsitu.org", "sha256": raw.sha256(*files)},
    }
    return raw.dataset(folder, inputs, pd.DataFrame({"split": joined["split"], "y": y, "a": a}), about)
