"""A folder of your own: metadata.csv, and the images that it lists or the texts that it holds. Errors name file, line
or sample, and remedy."""

import csv
from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePosixPath

import pandas as pd
from PIL import Image, ImageOps

from despur.datasets.sources import image_files, metadata_tables, own_labels, text
from despur.specs.settings import Settings
from despur.storage.store import Array, InputError, Lazy
from despur.storage.tokenizers import tokenize

COLUMN_NAMES = {  # what a column may be called: here, by WILDS, by Group DRO
    "path": ("path", "img_filename", "filename"),
    "text": ("text",),
    "y": ("y", "label"),
    "a": ("a", "place", "group"),
    "split": ("split",),
    "original": ("original",),
}
NEEDED = ("y", "a", "split")
SEPARATORS = ",;\t"
NUMBER = r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?"  # other digits, such as 007, are a text
REMEDY = "docs/your_own_data.md says what it holds"


def read_metadata(path: Path) -> tuple[None, pd.DataFrame, None]:
    """The columns of :data:`COLUMN_NAMES`, (N, columns), as numbers where all values are; ``attrs["attribute"]`` is
    what the attribute is called. Values may be separated by commas, semicolons or tabs, lines may end in any way."""
    heads, rows = read_rows(path)
    roles = find_columns(path, heads)
    table = pd.DataFrame([[row[place] for place in roles.values()] for row in rows], columns=list(roles))
    for key in roles.keys() - {"path", "text"}:
        table[key] = read_numbers(table[key])
    table.attrs["attribute"] = heads[roles["a"]]
    return None, table, None


def read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """The names of the columns and the values of each line, as texts without blanks around them. Raises InputError for
    a line that has more or fewer."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            separator = max(SEPARATORS, key=file.readline().count)
            file.seek(0)
            lines = csv.reader(file, delimiter=separator, strict=True, skipinitialspace=True)
            rows = [(lines.line_num, [value.strip() for value in row]) for row in lines if any(map(str.strip, row))]
    except (csv.Error, ValueError, OSError) as error:
        raise InputError(
            f"{path} cannot be read ({metadata_tables.join_lines(error)}). Save it as comma-separated values in UTF-8"
        ) from error
    if len(rows) < 2:
        raise InputError(f"{path} has no sample: a line of names, then a line for each sample. {REMEDY}")
    heads = rows[0][1]
    for number, row in rows:
        if len(row) != len(heads):
            raise InputError(
                f"{path}: line {number} has {len(row)} values, the first line names {len(heads)} columns. Put values "
                f'that hold {separator!r} in quotes: "..."'
            )
    return heads, [row for _, row in rows[1:]]


def find_columns(path: Path, heads: Sequence[str]) -> dict[str, int]:
    """Where each column that is read stands; others are ignored. Raises InputError for one that is missing or stands
    twice."""
    places_by_role: dict[str, int] = {}
    for role, names in COLUMN_NAMES.items():
        places = [place for place, head in enumerate(heads) if head.lower() in names]
        if len(places) > 1:
            twice = ", ".join(heads[place] for place in places)
            raise InputError(f"{path}: {twice} are columns of one meaning: keep one of them, call the other otherwise")
        places_by_role |= dict.fromkeys([role], *places) if places else {}
    missing = [" or ".join(COLUMN_NAMES[role]) for role in NEEDED if role not in places_by_role]
    if not missing and len({"path", "text"} & places_by_role.keys()) != 1:
        missing = ["path (of an image), or text, one of the two"]
    if missing:
        raise InputError(f"{path} has no column {'; '.join(missing)}; it has {', '.join(heads)}. {REMEDY}")
    return places_by_role


def read_numbers(column: pd.Series) -> pd.Series:
    """Texts as numbers, NaN where they are missing, if all others are numbers; else as they are."""
    missing = own_labels.find_missing(column)
    present = column[~missing]
    numeric = len(present) > 0 and present.str.fullmatch(NUMBER, na=False).all()
    return pd.to_numeric(column.mask(missing)) if numeric else column


def read_inputs(path: Path, table: pd.DataFrame, settings: Settings) -> tuple[Array | Lazy, dict[str, object]]:
    """Images that a table lists, uint8 (N,resize,resize,3), or the tokens of its texts, int32 (N,tokens); and what is
    known of them."""
    if "path" in table:
        side, fit = settings["resize"], partial(resize, fit=settings["fit"])
        remedy = f"{path} lists what cannot be used: bring these images, or leave their lines out"
        about = {"size": settings["size"] or side, "train_crop": "image"}
        return image_files.images(locate_images(path, table["path"]), side, fit, remedy), about
    own_labels.refuse_missing(path, table["text"], table["text"].eq("").to_numpy())
    return read_texts(table["text"], table["split"] == "train", settings)


def read_texts(texts: pd.Series, train: pd.Series, settings: Settings) -> tuple[Array | Lazy, dict[str, object]]:
    """Tokens, int32 (N,tokens): the most frequent words of training texts, numbered, or those of a language model."""
    if settings["vocabulary"] != "words":
        kept = {"vocabulary": settings["vocabulary"]}
        return tokenize(list(texts), settings["tokens"], settings["vocabulary"]), kept
    words = text.vocabulary(texts[train], settings["words"])
    return text.tokens(list(texts), words, settings["tokens"]), {"words": words}


def locate_images(path: Path, names: pd.Series) -> list[Path]:
    """The files that names below the table's folder stand for. Raises InputError for names that lead out of it."""
    own_labels.refuse_missing(path, names, names.eq("").to_numpy())
    relative = [PurePosixPath(name.replace("\\", "/")) for name in names]
    outside = [
        name
        for name, path_below in zip(names, relative, strict=True)
        if path_below.is_absolute() or ".." in path_below.parts or ":" in path_below.parts[0][1:2] or "\0" in name
    ]
    if outside:
        shown = image_files.name_some([repr(name) for name in outside], ", ")
        raise InputError(f"{path}: {shown} may lie outside of {path.parent}: name images below this folder")
    return [path.parent / path_below for path_below in relative]


def resize(image: Image.Image, side: int, fit: str) -> Image.Image:
    """An image as it is held, (side,side): its central square, or the whole of it, stretched; bicubically."""
    upright = ImageOps.exif_transpose(image)
    if fit == "stretch":
        return upright.resize((side, side), Image.Resampling.BICUBIC)
    return ImageOps.fit(upright, (side, side), Image.Resampling.BICUBIC)
