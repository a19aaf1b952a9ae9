"""What `despur fetch` downloads for a data set or an encoder: addresses, sizes, checksums."""

from pathlib import Path
from urllib.parse import urlsplit

from catalog.markdown import code, escape, table
from despur.cli.fetch import find_root, list_downloads
from despur.specs.declarations import read_declarations
from despur.storage.addresses import describe_address

TITLES = ["file", "only with", "addresses, tried in turn", "size", "checksum", "license", "read in"]


def describe_downloads(kind: str, name: str) -> str:
    """What ``despur fetch`` downloads, and what is done by hand. Columns in which no file has anything are left out."""
    by_hand = read_declarations(kind, name).get("BY_HAND", "")
    root = find_root(kind)
    rows = [
        [
            escape(download.local_name if kind == "datasets" else download.file),
            code(download.only_with),
            "<br>".join(show_address(address, root) for address in download.addresses),
            f"{download.size / 1e6:,.1f} MB" if download.size else "not published",
            code(download.checksum) or "not published",
            escape(download.license),
            escape(download.read_in),
        ]
        for download in list_downloads(kind, name)
    ]
    filled = [column for column in zip(TITLES, *rows, strict=True) if any(column[1:])]
    titles, *shown = zip(*filled, strict=True) if rows else ([],)
    parts = [f"By hand: {escape(by_hand)}." if by_hand else "", table(titles, shown) if rows else ""]
    return "\n\n".join(["## Download", *filter(None, parts)]) if any(parts) else ""


def show_address(address: str, root: Path) -> str:
    """A link to an address of a download, and when it was last tried on this machine, as ``despur fetch`` says it."""
    return f"[{urlsplit(address).hostname}]({address}): {escape(describe_address(address, root))}"
