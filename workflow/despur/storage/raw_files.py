"""Raw files of data sets: which are there, and what tells one version of them from another.

What a data set's file declares of them: ``RAW``, patterns below DESPUR_DATA_ROOT, each of which something must match
("a | b": the first that does; "a" is what is said to be missing), filled in with its settings ("{name}.npz");
``RAW_WITH``, more of them where a setting has a value (``train=foreground``; of several for a setting the first that
fits); ``DOWNLOADED``, where they come by themselves; ``CLASS_EMBEDDINGS``, the array of an npz that may hold an
embedding of each class. ``python -m
despur check --configfile FILE`` looks for them, and a data set is made anew when one of them changes. A pattern that
ends with "/*" or "/n*" stands for a folder with a file or folder for each sample or class: it is known by the number of
its entries. One that ends with "/**" stands for such a folder, too; it is known by the names, sizes and times of all
files below it."""

import hashlib
import os
import zipfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from despur.specs.conditions import meets
from despur.specs.declarations import read_declarations
from despur.specs.spec import Spec
from despur.storage.reading import InputError

DECLARED = {"datasets": "RAW", "encoders": "WEIGHTS"}
WATCHED = "/**"  # end of a pattern that stands for a folder whose files' names, sizes and times count
FOLDERS = "/*", "/n*", WATCHED  # ends of patterns that stand for many files
LARGE = 100e6  # bytes: a larger file is known by its size and time, not read


def list_patterns(point: Spec) -> tuple[str, ...]:
    """The patterns of all raw files that a data set needs, or of all weights that an encoder needs."""
    declarations, name = read_declarations(point.kind, point.base_name), DECLARED[point.kind]
    more: dict[str, tuple[str, ...]] = {}
    for conditions, files in declarations.get(f"{name}_WITH", {}).items():
        if meets(point.settings, conditions):
            more.setdefault(conditions.partition("=")[0], files)
    return tuple(
        pattern.format(**point.settings)
        for patterns in (declarations.get(name, ()), *more.values())
        for pattern in patterns
    )


def is_bundled(points: Iterable[Spec]) -> bool:
    """Whether these data sets are made without raw files."""
    return not any(list_patterns(point.source or point) for point in points)


def is_downloaded(point: Spec) -> bool:
    """Whether the files of a data set, or the weights of an encoder, come by themselves: DOWNLOADED of its file is
    true, or the pattern of a setting that it has (``model=*--[0-9a-f]``)."""
    return meets(point.settings, read_declarations(point.kind, point.base_name).get("DOWNLOADED", False))


def lacks_class_embeddings(point: Spec, root: Path) -> bool:
    """Whether the raw file of a data set could hold class embeddings and does not. A file that is not there, or is
    broken, is named elsewhere."""
    array = read_declarations(point.kind, point.base_name).get("CLASS_EMBEDDINGS")
    files = list_files(list_patterns(point), root) if array else []
    try:
        return bool(files) and not any(
            file.suffix == ".npz" and f"{array}.npy" in zipfile.ZipFile(file).namelist() for file in files
        )
    except (zipfile.BadZipFile, OSError):
        return False


def choose_alternative(pattern: str, root: Path) -> str:
    """The first of a pattern's alternatives that something matches; "", if none does. Of a folder of images, only the
    first is looked at."""
    return next((each for each in map(str.strip, pattern.split("|")) if any(root.glob(each))), "")


def list_missing(point: Spec, root: Path) -> list[str]:
    """The patterns of a data set's raw files, or of an encoder's weights, that nothing matches."""
    return [pattern for pattern in list_patterns(point) if not choose_alternative(pattern, root)]


def list_files(patterns: Iterable[str], root: Path) -> list[Path]:
    """The files that patterns stand for; none of folders with a file for each sample."""
    chosen = (choose_alternative(pattern, root) for pattern in patterns)
    several = [sorted(root.glob(each)) for each in chosen if each and not each.endswith(FOLDERS)]
    return list(dict.fromkeys(file for files in several for file in files if file.is_file()))


def identify_files(point: Spec, root: Path) -> dict[str, str]:
    """What identifies each raw file of a data set that is there, by its path below ``root``.

    Left out: what is downloaded, as its checksum is known; what another data set is made from."""
    read = () if point.source or is_downloaded(point) else list_patterns(point)
    states = [(file, file.stat()) for file in list_files(read, root)]
    files = {
        str(file.relative_to(root)): identify_file(file, state.st_size, state.st_mtime_ns) for file, state in states
    }
    chosen = dict.fromkeys(choose_alternative(pattern, root) for pattern in read)
    return files | dict(identify_many(pattern, root) for pattern in chosen if pattern.endswith(FOLDERS))


def identify_many(pattern: str, root: Path) -> tuple[str, str]:
    """The folder, below ``root``, of the many files that a pattern stands for, and what identifies these."""
    if pattern.endswith(WATCHED):
        name = pattern.removesuffix(WATCHED)
        return name, identify_folder(root / name)
    folder = next(root.glob(pattern)).parent
    return str(folder.relative_to(root)), f"{count_entries(folder, folder.stat().st_mtime_ns)} entries"


@cache
def count_entries(folder: Path, changed: int) -> int:
    """How many entries a folder has, hidden ones left out."""
    return sum(not entry.name.startswith(".") for entry in folder.iterdir())


def identify_folder(folder: Path) -> str:
    """The number of files below a folder, and a digest of their names, sizes and times. Linked folders count by
    name."""
    files = sorted(Path(place) / name for place, _, names in os.walk(folder) for name in names)
    states = [(file, file.stat() if file.exists() else file.lstat()) for file in files]
    listed = [(str(file.relative_to(folder)), state.st_size, state.st_mtime_ns) for file, state in states]
    return f"{len(files)} files {hashlib.sha256(repr(listed).encode()).hexdigest()}"


@cache
def identify_file(file: Path, size: int, changed: int) -> str:
    """The checksum of a file; of a large one its size (bytes) and the time when it was changed."""
    return f"{size} bytes of {changed}" if size > LARGE else sha256(file)


def sha256(path: Path) -> str:
    """Checksum of a file, in hexadecimal."""
    return compute_checksum(path, "sha256")


def compute_checksum(path: Path, algorithm: str) -> str:
    """Checksum of a file, in hexadecimal, by ``sha256`` or ``md5``."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def require_checksum(path: Path, digits: str, remedy: str, algorithm: str = "sha256") -> Path:
    """The path of a file whose checksum begins with these digits. Raises InputError for another one."""
    if not compute_checksum(path, algorithm).startswith(digits):
        raise InputError(f"{path}: wrong checksum (corrupt or truncated; the file is kept). {remedy}")
    return path
