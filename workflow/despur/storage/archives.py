"""Archives that are downloaded: unpacked, where nothing in them leads out of their folder."""

import gzip
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from despur.storage.store import InputError

# What is raised for an archive that is broken, encrypted or of an unknown kind, and for members that are refused.
NO_ARCHIVE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, gzip.BadGzipFile, EOFError),
    *(ValueError, RuntimeError, NotImplementedError),
)


def refuse_existing(target: Path) -> None:
    """Raises InputError for a file or folder that is there."""
    if target.exists():
        raise InputError(f"{target} is there already and is kept: move it away, or use it as it is")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip or tar archive. Raises InputError for what is neither or broken, and for members that are links or
    lie outside of the folder; the archive is then not kept."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as packed:
                members = [name for name in packed.namelist() if not is_of_macos(name)]
                packed.extractall(folder, members)  # what a name has of ".." or "/" at its beginning is left out
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter=select_member)
        else:
            raise ValueError("it is no archive; its address may have changed")
    except NO_ARCHIVE as error:
        archive.unlink()
        raise InputError(f"{archive} cannot be unpacked and is not kept ({error}). Fetch it again") from error
    except OSError as error:
        raise InputError(f"{archive} cannot be unpacked ({error}) and is kept. Make room, or delete it") from error


def is_of_macos(name: str) -> bool:
    """Whether a member is what macOS adds to the files that it packs."""
    return any(part == "__MACOSX" or part.startswith("._") for part in PurePosixPath(name).parts)


def select_member(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """tarfile's filter for data, which is not enough: in some versions of Python, links lead out of the folder. None:
    the member is left out."""
    if is_of_macos(member.name):
        return None
    if not (member.isfile() or member.isdir()):
        raise ValueError(f"{member.name} is neither a file nor a folder")
    return tarfile.data_filter(member, folder)
