"""Downloads from a local server: resumed, verified, unpacked."""

import contextlib
import hashlib
import io
import re
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from helpers import limited

from despur.cli import fetch
from despur.specs.declarations import list_components, read_declarations
from despur.storage.addresses import ADDRESSES, RECORD, ask_address, describe_address
from despur.storage.downloads import Download, fetch_file
from despur.storage.store import InputError

CONTENT = bytes(range(256)) * 8192  # 2 MiB


class Server(ThreadingHTTPServer):
    """Serves ``files``; the connection of the next ``breaks`` answers ends half-way."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.breaks, self.starts = {}, 0, []

    def address(self, name):
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.files.get(self.path[1:])
        if content is None:
            return self.send_error(404)
        start = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.server.starts.append(start)
        rest = content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        half, self.server.breaks = self.server.breaks > 0, max(self.server.breaks - 1, 0)
        with contextlib.suppress(ConnectionError):
            self.wfile.write(rest[: len(rest) // 2] if half else rest)
        self.close_connection = True

    def do_HEAD(self):
        content = self.server.files.get(self.path[1:])
        if content is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()


def silent(there, total):
    assert there > 0 and (not total or there <= total)


def tar_of(files):
    """A tar.gz with these files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def test_a_broken_download_goes_on_where_it_was(server, tmp_path):
    server.files["data.bin"], server.breaks = CONTENT, 1
    download = Download(server.address("data.bin"), "here", file="folder/data.bin")
    with pytest.raises(InputError, match="goes on where it was"):
        fetch_file(download, tmp_path, silent)
    assert not download.is_there(tmp_path)
    assert fetch_file(download, tmp_path, silent) == f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
    assert (tmp_path / "folder/data.bin").read_bytes() == CONTENT and download.is_there(tmp_path)
    assert server.starts[0] == 0 and server.starts[1] > 0


def test_a_download_for_which_there_is_no_room_goes_on_where_it_was(server, tmp_path):
    server.files["data.bin"] = CONTENT
    download = Download(server.address("data.bin"), "here", file="data.bin")
    with limited(2**20), pytest.raises(InputError, match=r"File too large.*goes on where it was"):
        fetch_file(download, tmp_path, silent)
    fetch_file(download, tmp_path, silent)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT and server.starts == [0, 2**20]


def test_a_wrong_checksum_is_refused(server, tmp_path):
    server.files["data.bin"] = CONTENT
    download = Download(server.address("data.bin"), "here", file="data.bin", checksum="md5:" + "0" * 32)
    with pytest.raises(InputError, match="wrong checksum"):
        fetch_file(download, tmp_path, silent)
    assert not (tmp_path / "data.bin").exists()
    right = Download(
        server.address("data.bin"), "", file="data.bin", checksum=f"md5:{hashlib.md5(CONTENT).hexdigest()}"
    )
    assert fetch_file(right, tmp_path, silent) == right.checksum and not (tmp_path / RECORD).exists()


def test_a_checksum_that_is_not_published_is_recorded_at_first_sight(server, tmp_path):
    download = Download(server.address("data.bin"), "here", file="data.bin")
    server.files["data.bin"] = CONTENT
    fetch_file(download, tmp_path, silent)
    (tmp_path / "data.bin").unlink()
    server.files["data.bin"] = CONTENT[1:]
    with pytest.raises(InputError, match=rf"wrong checksum.*take the line .*data\.bin out of .*{RECORD}"):
        fetch_file(download, tmp_path, silent)


def test_a_page_in_place_of_a_file_is_refused_and_not_recorded(server, tmp_path):
    server.files = {"a.txt": b"\n<!DOCTYPE html><title>moved</title>", "mirror": CONTENT}
    download = Download(server.address("a.txt"), "here", file="a.txt")
    with pytest.raises(InputError, match=r"a\.txt gives a web page"):
        fetch_file(download, tmp_path, silent)
    assert not (tmp_path / "a.txt").exists() and not (tmp_path / RECORD).exists()
    mirrored = Download(server.address("a.txt"), "here", file="a.txt", mirrors=(server.address("mirror"),))
    fetch_file(mirrored, tmp_path, silent)
    assert (tmp_path / "a.txt").read_bytes() == CONTENT


def test_archives_are_unpacked_and_nothing_is_replaced(server, tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        packed.writestr("lists/a.txt", "a")
    server.files = {"tar": tar_of({"a.csv": b"1", "images/b.png": b"2"}), "zip": stream.getvalue()}
    tar = Download(server.address("tar"), "here", into="data_v1.0")
    fetch_file(tar, tmp_path, silent)
    fetch_file(Download(server.address("zip"), "here", brings="lists"), tmp_path, silent)
    assert (tmp_path / "data_v1.0/images/b.png").read_bytes() == b"2" and (tmp_path / "lists/a.txt").exists()
    (tmp_path / "data_v1.0/a.csv").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        fetch_file(tar, tmp_path, silent)
    assert (tmp_path / "data_v1.0/a.csv").read_text() == "mine"


def test_what_macos_adds_to_archives_is_left_out(server, tmp_path):
    files = {"a/b.csv": b"1", "a/._b.csv": b"2", "__MACOSX/a/._b.csv": b"3"}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    server.files = {"tar": tar_of(files), "zip": stream.getvalue()}
    for name in server.files:
        fetch_file(Download(server.address(name), "here", brings="a"), tmp_path / name, silent)
        unpacked = [file for file in (tmp_path / name).rglob("*") if file.parent.name != ".downloads"]
        assert {file.name for file in unpacked} - {".downloads", RECORD, ADDRESSES} == {"a", "b.csv"}


def test_what_is_missing_or_no_archive_is_refused(server, tmp_path):
    server.files = {"text": b"moved", "tar": tar_of({"../outside": b""})}
    for name, message in (("none", "404"), ("text", "no archive")):
        with pytest.raises(InputError, match=message):
            fetch_file(Download(server.address(name), "here"), tmp_path, silent)
    with pytest.raises(InputError, match=r"cannot be unpacked and is not kept.*outside"):
        fetch_file(Download(server.address("tar"), "here"), tmp_path / "data", silent)
    assert not (tmp_path / "outside").exists()


def test_addresses_are_tried_in_turn_and_each_is_noted(server, tmp_path):
    server.files["mirror"] = CONTENT
    gone, mirror = server.address("gone"), server.address("mirror")
    download = Download(gone, "here", file="data.bin", mirrors=(mirror, server.address("never")))
    assert describe_address(gone, tmp_path) == "never tried"
    fetch_file(download, tmp_path, silent)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert re.fullmatch(r"tried \d{4}-\d\d-\d\d: failed: .*404.*", describe_address(gone, tmp_path))
    assert describe_address(mirror, tmp_path).endswith(": downloaded")
    assert describe_address(download.addresses[2], tmp_path) == "never tried"


@pytest.fixture
def mirrored(server):
    """A file of two addresses, with its checksum."""
    checksum = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
    mirrors = (server.address("mirror"),)
    return Download(server.address("first"), "here", "data.bin", name="data.bin", checksum=checksum, mirrors=mirrors)


def test_a_mirror_goes_on_where_the_first_address_broke_off(server, mirrored, tmp_path):
    server.files, server.breaks = {"first": CONTENT, "mirror": CONTENT}, 1
    assert fetch_file(mirrored, tmp_path, silent) == mirrored.checksum
    assert (tmp_path / "data.bin").read_bytes() == CONTENT and server.starts[0] == 0 < server.starts[1]


def test_of_a_corrupted_file_the_mirror_is_taken(server, mirrored, tmp_path):
    server.files = {"first": CONTENT[::-1], "mirror": CONTENT}
    fetch_file(mirrored, tmp_path, silent)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert "wrong checksum" in describe_address(mirrored.url, tmp_path)


def test_without_https_a_sha256_is_needed(tmp_path):
    for checksum in ("", "md5:" + "0" * 32):
        with pytest.raises(InputError, match=r"http://example.invalid/a is not https, and no SHA-256 is known"):
            fetch_file(Download("http://example.invalid/a", "here", file="a", checksum=checksum), tmp_path, silent)


def test_an_address_is_asked_for_its_header(server):
    server.files["data.bin"] = CONTENT
    assert ask_address(server.address("data.bin")) == "there, 2.1 MB"
    assert ask_address(server.address("none")) == "refused: 404 Not Found"
    assert ask_address("http://127.0.0.1:9/none") == "no answer (ConnectionError)"
    assert server.starts == []


def test_an_address_is_asked_where_nothing_can_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path / "file"))  # no folder can be made here
    monkeypatch.setattr(fetch, "ask_address", lambda address: "there, 1.0 MB")
    assert "there, 1.0 MB" in [*fetch.fetch("fmow", check=True)][-1]


def test_check_asks_all_addresses_and_downloads_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path))
    monkeypatch.setattr(fetch, "ask_address", lambda address: "there, 1.0 MB")
    titles, first = fetch.fetch("fmow", check=True)
    assert titles.split() == ["name", "answer", "address", "(before)"]
    assert titles.index("answer") == first.index("there,") and titles.index("address") == first.index("https://")
    assert "never tried; users report the server down" in first and first.values["result"] == "there, 1.0 MB"
    _, again = fetch.fetch("fmow", check=True)
    monkeypatch.setattr(fetch, "ask_address", lambda address: "no answer (ConnectionError)")
    assert [*fetch.fetch("fmow", check=True)][-1] == "none of 1 addresses answered: is there a network?"
    assert "(tried 2" in again and {file.name for file in tmp_path.iterdir()} == {ADDRESSES}


def test_every_data_set_with_raw_files_says_how_to_get_them():
    for name in list_components("datasets"):
        stated = read_declarations("datasets", name)
        if not stated.get("RAW") or stated.get("DOWNLOADED") or name == "bring_your_own":
            continue
        downloads = fetch.list_downloads("datasets", name)
        assert downloads or stated.get("BY_HAND"), name
        for each in downloads:
            assert each.url.startswith("https://") and each.read_in and (each.file or each.brings or each.into), name
            assert not each.checksum or each.checksum.startswith(("md5:", "sha256:"))
