"""Files that try to run code, to write outside of their folder, or to put their own elements into pages: none does."""

import io
import json
import pickle
import re
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import page
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from project import SOURCE
from storms.conftest import guarded
from storms.test_raw_files import Hostile

from catalog import gallery, markdown
from despur.datasets.sources.embedding_files import read_table
from despur.reporting import tables
from despur.reporting.pages import scorecard_page
from despur.reporting.templates import render_template
from despur.storage.archives import unpack
from despur.storage.containers import Container
from despur.storage.store import InputError

pytestmark = pytest.mark.storm
STORM = "hostile files, names and captions", "no code ran, nothing was written outside of its folder, pages show text"
OBJECTS = (3, "|", None, None, None, -1, -1)  # state of numpy's type of objects, but for its flags
FIELDS = (3, "|", None, ("a",), {"a": (np.dtype("O"), 0)}, 8, 1)


class Call:
    """What a pickle of it calls, and the state that the result is given."""

    def __init__(self, function, arguments, state=None):
        self.made = (function, arguments) if state is None else (function, arguments, state)

    def __reduce__(self):
        return self.made


def array_of_forged_objects(kind):
    """An array whose bytes pass for the addresses of objects: to look at it runs what lies there."""
    reconstruct = np._core.multiarray._reconstruct
    return Call(reconstruct, (np.ndarray, (0,), b"b"), (1, (2,), kind, False, b"A" * 16))


FORGED = {
    "objects": array_of_forged_objects(Call(np.dtype, ("O8", False, True), (*OBJECTS, 0))),
    "fields": array_of_forged_objects(Call(np.dtype, ("V8", False, True), (*FIELDS, 16))),
    "scalar": Call(np._core.multiarray.scalar, (Call(np.dtype, ("V8", False, True), (*FIELDS, 16)), b"A" * 8)),
    "longer than it is": Call(np.dtype, ("i8", False, True), (3, "|", None, None, None, 800, 1, 0)),
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_a_pickled_table_cannot_pass_bytes_for_objects(tmp_path, forged):
    (tmp_path / "t.pkl").write_bytes(pickle.dumps({"y": forged}))
    with pytest.raises(InputError, match="it changes dtype"):
        read_table(tmp_path / "t.pkl", ["y"])


@pytest.mark.parametrize("name", ["pandas.core.frame\nDataFrame", "pandas._libs.internals\n_unpickle_block"])
def test_a_pickled_table_cannot_change_classes_and_functions(tmp_path, name):
    state = pickle.dumps((None, {"changed": 1}), protocol=0)[:-1]
    (tmp_path / "t.pkl").write_bytes(b"c" + name.encode() + b"\n" + state + b"b.")
    with pytest.raises(InputError, match="it changes"):
        read_table(tmp_path / "t.pkl", ["y"])
    assert not hasattr(pd.DataFrame, "changed")


def test_arrays_of_every_kind_are_still_read(tmp_path):
    cells = [np.array([1.5, 2]), np.array(["a", "b"]), np.array([1], ">i4"), np.array([True]), torch.ones(2)]
    table = pd.DataFrame({"cell": cells, "y": range(len(cells)), "text": list("abcde")})
    table.to_pickle(tmp_path / "t.pkl")
    found = read_table(tmp_path / "t.pkl", ["cell", "y"])
    assert all(np.array_equal(one, other) for one, other in zip(found["cell"], cells, strict=True))
    pd.testing.assert_frame_equal(found.drop(columns="cell"), table.drop(columns="cell"))


def test_code_in_the_metadata_of_a_parquet_does_not_run(tmp_path):
    metadata = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": pickle.dumps(Hostile(tmp_path / "trace")),
    }
    schema = pa.schema([pa.field("y", pa.int64(), metadata=metadata)])
    pq.write_table(pa.table([pa.array([1, 2])], schema=schema), tmp_path / "t.parquet")
    with guarded(tmp_path / "elsewhere"):
        assert read_table(tmp_path / "t.parquet", ["y"])["y"].tolist() == [1, 2]
    assert not (tmp_path / "trace").exists()


@pytest.mark.long
def test_code_in_weights_does_not_run(tmp_path, monkeypatch):
    from transformers import BertConfig, BertModel

    from despur.encoders.base import load_transformer
    from despur.encoders.clip import load_cloob

    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(tmp_path))
    hostile, trace = Hostile(tmp_path / "trace"), tmp_path / "trace"
    folder = tmp_path / "bert"
    folder.mkdir()
    small = BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, vocab_size=9)
    (folder / "config.json").write_text(json.dumps({**small.to_dict(), "auto_map": {"AutoModel": "evil.Evil"}}))
    (folder / "evil.py").write_text(f"import os\nos.mkdir({str(trace)!r})\n")
    torch.save({"weight": hostile}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=re.escape(str(folder))):
        load_transformer(BertModel, folder / "pytorch_model.bin", "https://somewhere/")
    (tmp_path / "clip").mkdir()
    monkeypatch.setattr("open_clip.create_model", lambda *_, **__: torch.nn.Linear(2, 2))
    torch.save({"state_dict": hostile}, tmp_path / "clip/cloob_rn50_yfcc_epoch_28.pt")
    with pytest.raises(InputError, match="does not hold CLOOB"):
        load_cloob("RN50")
    assert not trace.exists()


BROKEN = {
    "empty": b"",
    "a long head": struct.pack("<Q", 2**62) + b"{}",
    "no head": struct.pack("<Q", 4) + b"nono",
    "outside": struct.pack("<Q", 64) + b'{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,999999]}}     ',
    "negative": struct.pack("<Q", 56) + b'{"a":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}}' + b"A" * 16,
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_safetensors_file_is_one_message(tmp_path, content):
    (tmp_path / "outputs.safetensors").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}/outputs.safetensors is broken")):
        Container(tmp_path / "outputs.safetensors")


def tar_of(*members):
    """A tar archive: (name, type, target of a link, content)."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, kind, target, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, target, len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def zip_of(name, content, attributes=0):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        member = zipfile.ZipInfo(name)
        member.external_attr = attributes
        packed.writestr(member, content)
    return stream.getvalue()


def through_link(kind, target):
    return tar_of(("link", kind, target, b""), ("link/trace", tarfile.REGTYPE, "", b"code"))


ARCHIVES = {
    "above": tar_of(("../trace", tarfile.REGTYPE, "", b"code")),
    "link to a folder": through_link(tarfile.SYMTYPE, ".."),
    "link to itself": through_link(tarfile.SYMTYPE, "."),
    "hard link": tar_of(("link", tarfile.LNKTYPE, "../secret", b"")),
    "device": tar_of(("null", tarfile.CHRTYPE, "", b"")),
    "pipe": tar_of(("pipe", tarfile.FIFOTYPE, "", b"")),
    "cut off": tar_of(("a", tarfile.REGTYPE, "", bytes(99_999)))[:60],
    "no archive": b"<html>moved</html>",
    "zip, cut off": zip_of("a", bytes(999))[:500] + zip_of("a", b"")[-99:],
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_is_broken_or_leads_outside_is_refused(tmp_path, name):
    (tmp_path / "secret").write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "archive").write_bytes(ARCHIVES[name])
    with guarded(tmp_path), pytest.raises(InputError, match="archive cannot be unpacked and is not kept"):
        unpack(tmp_path / "archive", folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "secret"]
    assert (tmp_path / "secret").stat().st_nlink == 1 and not [*folder.rglob("*")]


INSIDE = {name: zip_of(name, "text") for name in ("../trace", "/trace", "a/../../trace", "..\\trace")}
INSIDE["tar"] = tar_of(("/trace", tarfile.REGTYPE, "", b"text"))


@pytest.mark.parametrize("content", INSIDE.values(), ids=list(INSIDE))
def test_an_archive_writes_into_its_folder_alone(tmp_path, content):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "archive").write_bytes(content)
    with guarded(folder):
        unpack(tmp_path / "archive", folder)
    assert not (tmp_path / "trace").exists() and not Path("/trace").exists()


def test_a_link_in_a_zip_is_a_file_with_its_target(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "archive").write_bytes(zip_of("link", "../..", attributes=0o120777 << 16))
    unpack(tmp_path / "archive", tmp_path / "folder")
    assert not (tmp_path / "folder/link").is_symlink() and (tmp_path / "folder/link").read_text() == "../.."


EVIL = "</script><evil onload='x'>$\\x$\n# |"


def test_warnings_below_a_table_are_text(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "describe_warnings", lambda _: [f"empty groups in all samples of class {EVIL}"])
    for suffix in (".md", ".html"):
        (tmp_path / f"table{suffix}").write_text("above")
    tables.append_warnings(tmp_path / "table", [])
    for suffix in (".md", ".html"):
        text = (tmp_path / f"table{suffix}").read_text()
        assert "class &lt;/script&gt;&lt;evil" in text and "<evil" not in text and "\n#" not in text


@pytest.mark.long
def test_names_and_statements_on_the_scorecard_are_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numbers, claims = page.table_1(), page.claims()
    monkeypatch.setattr(page, "table_1", lambda: numbers.assign(setting=EVIL, measured=EVIL))
    texts = dict.fromkeys(("statement", "place", "advice", "contrasts", "printed", "because"), EVIL)
    monkeypatch.setattr(page, "claims", lambda: claims.assign(**texts))
    monkeypatch.setattr(scorecard_page, "describe_warnings", lambda _: [EVIL])
    text = page.page().read_text()
    assert "&lt;evil" in text and "<evil" not in text


def test_what_the_explorer_shows_cannot_end_its_script():
    charts = {EVIL: ["<!--<script>", "]]>"]}
    rest = {"library": "", "choices": {}, "runs": 1, "headlines": {}, "scorecard": False}
    text = render_template("explorer.html.jinja", charts=charts, **rest)
    written = re.search("const charts = (.*), choices = ", text)[1]
    assert "<" not in written and json.loads(written) == charts


def test_captions_of_the_site_are_text():
    assert "\\<evil" in gallery.escape_caption(EVIL) and "\\<evil" in markdown.escape(EVIL)


def test_captions_of_the_report_hold_no_template_and_no_html():
    first = SOURCE / "workflow/report/workflow.rst"  # a template, in which only the name of a folder is filled in
    captions = {*(SOURCE / "workflow").rglob("captions/*.rst"), *first.parent.glob("*.rst")} - {first}
    assert len(captions) > 20
    assert [file for file in captions if re.search(r"\{\{|\{%|\.\. raw::", file.read_text())] == []
    assert re.findall(r"\{\{(.*?)\}\}|(\.\. raw::)", first.read_text()) == [(" snakemake.config.outputs ", "")]
