"""``despur fetch waterbirds``: raw data and pretrained weights, downloaded, verified and checked. Addresses are data in
the files of data sets and encoders (despur/storage/downloads.py)."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from despur.cli.check import check_dataset, find_statement, list_needed_data, list_results, list_trained
from despur.cli.commands import PATH, Arguments
from despur.cli.rows import Row
from despur.specs.declarations import list_components, read_declarations, read_docstring
from despur.specs.names import parse, unknown
from despur.specs.paths import data_root
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.specs.spec import Spec
from despur.storage import hub, weight_files
from despur.storage.addresses import ask_address, describe_address, note_address
from despur.storage.downloads import Download, fetch_file
from despur.storage.pretrained import weights_root
from despur.storage.raw_files import is_downloaded, list_patterns
from despur.storage.reading import InputError

KINDS_WITH_DOWNLOADS = ("datasets", "encoders")  # components that state downloads

ARGUMENTS: Arguments = {
    "name": {"nargs": "?", "help": "a data set or an encoder", "completes": "datasets"},
    "--configfile": PATH | {"help": "instead of a name: all raw files that this configuration lacks"},
    "--yes": {"action": "store_true", "help": "download without a question"},
    "--check": {"action": "store_true", "help": "only ask each address, or those of NAME, for its header"},
}


def fetch(
    name: str | None = None, configfile: Path | None = None, yes: bool = False, check: bool = False
) -> Iterator[str]:
    """the raw files of a data set, or the weights of an encoder: source, size and license, then the download"""
    if (name and configfile) or not (name or configfile or check):
        raise SettingError("name a data set or encoder (waterbirds, resnet50), or a configuration (--configfile FILE)")
    names = list_missing(configfile) if configfile else [name] if name else []
    if configfile and not names:
        yield "all raw files and weights are here"
    elif check:
        yield from check_addresses(names)
    elif configfile:
        yield from fetch_all(configfile, names, yes)
    elif name:
        yield from fetch_component(name, yes)


def list_missing(configfile: Path) -> list[str]:
    """The data sets whose raw files a configuration lacks, and the encoders whose weights, with their settings."""
    results = list_results(configfile)
    data = (each for each in list_needed_data(results) if each.state in ("missing", "download"))
    encoders = weight_files.list_encoders(list_trained(results), without=())
    names = [each.point.name for each in data] + [each.name for each in encoders if weight_files.list_missing(each)]
    return list(dict.fromkeys(names))


def fetch_all(configfile: Path, names: Sequence[str], yes: bool) -> Iterator[str]:
    """Fetch components one after the other, whatever comes of the ones before. Raises InputError that names those that
    are not here and right then."""
    failed = []
    for name in names:
        try:
            yield from fetch_component(name, yes)
        except InputError as error:
            failed.append(name)
            yield f"{name}: {error}"
    if lacking := list(dict.fromkeys([*failed, *list_missing(configfile)])):
        told = f"{len(lacking)} of {len(names)} are not here, or not right, as said above"
        raise InputError(f"{told}: {', '.join(lacking)}")


def find_kind(name: str) -> str:
    """``datasets`` or ``encoders``. Raises SettingError for a name of neither."""
    components = {kind: list_components(kind) for kind in KINDS_WITH_DOWNLOADS}
    for kind, names in components.items():
        if name in names:
            return kind
    raise unknown("data set or encoder", name, [*components["datasets"], *components["encoders"]])


def find_root(kind: str) -> Path:
    """Where the raw files of data sets lie, or the weights of encoders."""
    return data_root() if kind == "datasets" else weights_root()


def list_downloads(kind: str, name: str) -> list[Download]:
    """What the file of a data set or encoder states, with any settings; the address is its SOURCE where it states no
    other."""
    downloads = read_declarations(kind, name).get("DOWNLOADS", ())
    return [
        Download(**{"url": find_statement(name, "SOURCE") if kind == "datasets" else "", **download})
        for download in downloads
    ]


def check_addresses(names: Sequence[str]) -> Iterator[str]:
    """Ask each address of these data sets and encoders, or of all, for its header; a table of the answers, which are
    recorded. Nothing is downloaded."""
    answers: list[str] = []
    yield f"{'name':<20} {'answer':<30} address (before)"
    every = [(find_kind(name), name) for name in (parse(text)[0] for text in names)]
    every = every or [(kind, name) for kind in KINDS_WITH_DOWNLOADS for name in list_components(kind)]
    for kind, name in every:
        root = find_root(kind)
        for download in list_downloads(kind, name):
            for address in download.addresses:
                before, result = describe_address(address, root), ask_address(address)
                note_address(root, address, result)
                answers.append(result)
                text = f"{name:<20} {result:<30} {address} ({before})"
                yield Row(text, "addresses", name=name, address=address, result=result, before=before)
    if answers and all(answer.startswith("no answer") for answer in answers):
        yield f"none of {len(answers)} addresses answered: is there a network?"


def fetch_component(text: str, yes: bool) -> Iterator[str]:
    """Say what is downloaded, ask, download it, and check a data set with its loader."""
    name = parse(text)[0]
    kind = find_kind(name)
    points = resolve(kind, text).points  # which refuses settings that cannot be
    root = find_root(kind)
    downloads = [
        download for download in list_downloads(kind, name) if any(download.is_needed(at.settings) for at in points)
    ]
    by_hand = read_declarations(kind, name).get("BY_HAND", "")
    yield f"{read_docstring(kind, name)}\n"
    if by_hand:
        yield f"by hand: {by_hand}"
    patterns = {pattern for at in points for pattern in list_patterns(at)}
    missing = [download for download in downloads if not download.is_there(root, patterns)]
    if not downloads:
        yield describe_nothing(points[0], by_hand)
        return
    yield from (
        describe(download, find_statement(name, "LICENSE") if kind == "datasets" else "not stated", root)
        for download in missing
    )
    if missing:
        confirm(f"download {len(missing)} files into {root.resolve()}?", yes)
    for download in missing:
        checksum = fetch_file(download, root, show_progress)
        yield f"{download.local_name}: {'as published' if download.checksum else 'not published, recorded'}: {checksum}"
    if kind == "datasets" and not by_hand:
        yield from check_dataset(text)


def describe_nothing(point: Spec, by_hand: str) -> str:
    """Why nothing is downloaded."""
    name, encoder = point.base_name, point.kind == "encoders"
    if by_hand:
        return "nothing else can be downloaded"
    if name == "bring_your_own":
        return "these are your own files: docs/your_own_data.md"
    if encoder and weight_files.list_missing(point) and not is_downloaded(point):
        return f"bring {', '.join(weight_files.list_missing(point))}{hub.how_to_download(point)}"
    return f"{name} needs no download: it is bundled, or comes by itself when it is first used"


def describe(download: Download, license: str, root: Path) -> Row:
    """Addresses, size, license and checksum of a file, and how certain they are."""
    license = download.license or license
    size = f"{download.size / 1e6:,.1f} MB" if download.size else "size not published"
    addresses = "\n".join(f"{address}\n  {describe_address(address, root)}" for address in download.addresses)
    text = (
        f"{addresses}\n"
        f"  {size}; license: {license}; checksum: {download.checksum or 'not published'}\n"
        f"  read in {download.read_in}"
    )
    return Row(text, "files", **{**asdict(download), "license": license})


def confirm(question: str, yes: bool) -> None:
    """Raises SettingError unless the answer is yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise SettingError("nobody can be asked here: say --yes to download")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if input().strip().lower() not in ("y", "yes"):
        raise SettingError("nothing was downloaded")


def show_progress(there: int, total: int) -> None:
    """A line that is written over, on a terminal."""
    if sys.stderr.isatty():
        share = f"{there / total:4.0%} of {total / 1e6:,.1f} MB" if total else f"{there / 1e6:,.1f} MB"
        print(f"\r{share}", end="\n" if there == total else "", file=sys.stderr, flush=True)
