import ast
import hashlib
import json
import re
import shutil

import pytest

from despur.specs import syntax
from despur.specs.paths import locate_result
from despur.specs.public import read_stub
from despur.specs.settings import SettingError
from despur.specs.stages import TABLE
from despur.storage import digest
from despur.storage.digest import cache_key, locate_checkpoints, script_digest

STAGES = dict.fromkeys((stage.name for stage in TABLE), "results/runs/colored_digits/toy/s0-2") | {
    "data": "results/data/colored_digits",
    "stage1": "results/stage1/colored_digits/erm/s0-2",
    "groups": "results/groups/colored_digits/clusters/s0-2",
}
READERS = tuple(stage.name for stage in TABLE if stage.adds_to_runs)

TOY = '''
"""A method of these tests."""

from despur.losses.toy import penalty
from despur.methods.base import GradientMethod, Losses
from despur.samplers.toy import order
from despur.specs.stages import TABLE
from despur.specs.settings import component, float_
from despur.specs.hyperparameters import sgd

SETTINGS = {
    **sgd(learning_rate=0.1, momentum=0.9, weight_decay=0.0, batch_size=8, epochs=3, source="made up"),
    "groups": component("inference", "clusters", "made up"),
    "strength": float_(0.5, "made up", at_least=0),
    "weakness": float_(0.25, "made up", at_least=0),
}


class Toy(GradientMethod):
    """Nothing."""

    def losses(self, batch, rng) -> Losses:
        """Nothing either."""
        return {"loss": penalty(self.settings["strength"]) + order(batch)}
'''

SAME = "def penalty(x):\n    return x\n\n\ndef order(x):\n    return x\n"
OTHER = SAME.replace("return x", "return -x")


@pytest.fixture
def toy(package):
    package.write("methods/toy.py", TOY)
    package.write("losses/toy.py", SAME)
    package.write("samplers/toy.py", OTHER)
    return package


def ask(path, stage=""):
    result = locate_result(path)
    return json.loads(
        cache_key(
            result
            if stage not in READERS
            else result.__class__(result.root, stage, result.dataset, result.name, result.seeds)
        )
    )


def all_stages():
    return {stage: ask(path, stage) for stage, path in STAGES.items()}


def changed(before):
    after = all_stages()
    return {stage for stage in STAGES if before[stage]["code"] != after[stage]["code"]}


def edit_docstrings(text):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body[0].value.value += " Edited."
    return ast.unparse(tree)


HARMLESS = {
    "a comment": lambda text: text.replace("class Toy", "# note\nclass Toy") + "# the end\n",
    "docstrings": edit_docstrings,
    "removed docstrings": lambda text: re.sub(r'    """.*"""\n', "", text),
    "formatting": lambda text: ast.unparse(ast.parse(text)),
    "blank lines": lambda text: text.replace("\n\n", "\n\n\n"),
}


@pytest.mark.parametrize("edit", HARMLESS.values(), ids=HARMLESS)
def test_edits_that_change_nothing_keep_the_cache_key(toy, edit):
    before = all_stages()
    text = toy.read("methods/toy.py")
    assert edit(text) != text
    toy.write("methods/toy.py", edit(text))
    assert all_stages() == before


def test_an_edited_default_is_another_cache_key_but_the_same_code(toy):
    before = ask(STAGES["runs"])
    toy.edit("methods/toy.py", "float_(0.5", "float_(0.75")
    after = ask(STAGES["runs"])
    assert after != before
    assert after["code"] == before["code"]


def test_an_edited_default_changes_no_run_that_sets_the_key(toy):
    path = "results/runs/colored_digits/toy+strength=2/s0-2"
    before = ask(path)
    toy.edit("methods/toy.py", "float_(0.5", "float_(0.75")
    assert ask(path) == before


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("methods/toy.py", {"runs"}),
        ("losses/toy.py", {"runs"}),
        ("methods/cnc.py", set()),
        ("methods/erm.py", {"stage1"}),
        ("methods/base.py", {"stage1", "runs", "saliency"}),
        ("encoders/lenet.py", {"stage1", "runs"}),
        ("inference/clusters.py", {"groups"}),
        ("inference/oracle.py", set()),
        ("datasets/colored_digits.py", {"data"}),
        ("datasets/cmnist.py", set()),
        ("datasets/sources/coloring.py", {"data"}),
        ("metrics/fairness.py", {"evaluate"}),
        ("metrics/saliency.py", {"saliency"}),
        ("saliency.py", {"saliency"}),
        ("stage2.py", {"runs"}),
        ("groups.py", {"groups"}),
        ("evidence/numbers/tables.py", set()),
    ],
)
def test_an_edit_of_code_changes_what_it_makes_and_nothing_else(toy, file, stages):
    before = all_stages()
    toy.write(file, toy.read(file) + "\nEDITED = True\n")
    assert changed(before) == stages


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("losses/toy.py", "import despur.losses.extra"),
        ("losses/toy.py", "import despur.losses.extra as extra"),
        ("losses/toy.py", "from despur.losses import extra"),
        ("losses/toy.py", "from despur.losses.extra import penalty"),
        ("losses/toy.py", "def late():\n    from despur.losses.extra import penalty\n    return penalty"),
        ("losses/toy.py", "from .extra import penalty"),
        ("losses/toy.py", "from . import extra"),
        ("losses/toy.py", "from ..losses import extra"),
        ("methods/toy.py", "from ..losses.extra import penalty"),
    ],
)
def test_every_form_of_import_is_followed(toy, file, line):
    toy.write("losses/extra.py", SAME)
    toy.write(file, f"{line}\n{toy.read(file)}")
    before = all_stages()
    toy.write("losses/extra.py", OTHER)
    assert changed(before) == {"runs"}


@pytest.mark.parametrize(
    ("line", "is_used"),
    [
        ("import despur.losses", True),
        ("from despur import losses", True),
        ("from despur.losses import supervised_contrastive", True),
        ("from despur.losses import supervised_contrastive as contrast", True),
        ("from despur.losses import *", True),
        ("from despur.losses import irm", False),
        ("from despur import specs", False),
    ],
)
def test_public_names_stand_for_the_modules_that_define_them(toy, line, is_used):
    toy.write("losses/toy.py", f"{line}\n{SAME}")
    before = all_stages()
    toy.write("losses/contrastive.py", toy.read("losses/contrastive.py") + "\nEDITED = True\n")
    assert ("runs" in changed(before)) == is_used


def test_a_module_that_is_called_like_a_public_name_is_followed(toy):
    assert "mmd" in read_stub(str(toy.root / "losses/__init__.py"))
    toy.write("losses/mmd.py", SAME)
    toy.write("losses/toy.py", f"from despur.losses.mmd import penalty\n{SAME}")
    before = all_stages()
    toy.write("losses/mmd.py", OTHER)
    assert changed(before) == {"runs"}


def test_code_that_is_no_python_is_named(toy):
    toy.write("losses/toy.py", "def f(:\n")
    with pytest.raises(SettingError, match=r"losses/toy\.py, line 1: .*: correct it, or move the file away"):
        all_stages()


@pytest.mark.parametrize("name", ["RAW", "DOWNLOADS", "WEIGHTS", "REVISION", "SETTINGS"])
def test_declarations_that_are_read_elsewhere_are_no_code_of_a_component(name):
    with_declaration = f'{SAME}{name} = {{"file": 1}}\n'
    assert syntax.parse(with_declaration, True) == syntax.parse(SAME, True)
    assert syntax.parse(with_declaration, False) != syntax.parse(SAME, False)


def test_imports_may_go_in_circles(toy):
    toy.write("losses/toy.py", "import despur.samplers.toy\n" + SAME)
    toy.write("samplers/toy.py", "import despur.losses.toy\n" + SAME)
    before = all_stages()
    toy.write("samplers/toy.py", "import despur.losses.toy\n" + OTHER)
    assert changed(before) == {"runs"}


def test_files_of_one_name_are_told_apart(toy):
    before = all_stages()
    toy.write("losses/toy.py", OTHER)
    toy.write("samplers/toy.py", SAME)
    assert changed(before) == {"runs"}


def test_whether_an_inference_sees_true_groups_is_part_of_the_cache_key(toy):
    path = "results/groups/colored_digits/oracle/s0"
    before = ask(path)
    toy.edit("inference/oracle.py", "READS_TRUE_GROUPS = True", "READS_TRUE_GROUPS = False")
    assert ask(path) != before


def test_raw_files_are_part_of_the_cache_key_where_a_data_set_declares_them(tmp_path, monkeypatch):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path / "raw"))
    result = locate_result(tmp_path / "results/data/bring_your_own+name=mine")
    file = tmp_path / "raw/bring_your_own/mine.npz"

    def raw():
        cache_key.cache_clear()
        return json.loads(cache_key(result)).get("raw")

    assert raw() is None
    file.parent.mkdir(parents=True)
    file.write_text("one")
    one = raw()
    assert one == {"bring_your_own+name=mine": {"bring_your_own/mine.npz": hashlib.sha256(b"one").hexdigest()}}
    (file.parent / "other.npz").write_text("of another data set")
    assert raw() == one
    file.write_text("two")
    assert raw() != one
    result.folder.mkdir(parents=True)  # made from one; the raw files are elsewhere now
    (result.folder / "about.json").write_text(json.dumps({name: {"raw": files} for name, files in one.items()}))
    assert raw() != one
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path / "nowhere"))
    assert raw() == one
    (tmp_path / "nowhere/bring_your_own/mine.parquet").mkdir(parents=True)  # not a file
    assert raw() == one


def test_how_many_entries_a_folder_with_many_files_has_is_part_of_the_cache_key(tmp_path, monkeypatch):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path))
    result = locate_result(tmp_path / "results/data/imagenet+labels=drawn")

    def raw():
        cache_key.cache_clear()
        return json.loads(cache_key(result))["raw"]["imagenet+labels=drawn"]

    for name in ("train/n01", "train/n02", "train/.hidden", "train/other", "val/n01"):
        (tmp_path / "imagenet" / name).mkdir(parents=True)
    assert raw() == {"imagenet/train": "3 entries", "imagenet/val": "1 entries"}
    (tmp_path / "imagenet/val/n02").mkdir()
    assert raw() == {"imagenet/train": "3 entries", "imagenet/val": "2 entries"}
    (tmp_path / "imagenet/val/README").touch()  # of two patterns of one folder, both count
    assert raw() == {"imagenet/train": "3 entries", "imagenet/val": "3 entries"}


def test_a_training_goes_on_from_checkpoints_of_the_same_data_alone(tmp_path):
    run = locate_result(tmp_path / "results/runs/colored_digits/dfr/s0")
    folders = []
    for data, stage1 in (("a", None), ("a", "b"), ("c", "b"), ("a", "b")):
        for folder, checksum in ((run.data.folder, data), (run.upstream("stage1")[0].folder, stage1)):
            folder.mkdir(parents=True, exist_ok=True)
            if checksum:
                (folder / "about.json").write_text(json.dumps({"crc32": {"outputs.safetensors": checksum}}))
        folders.append(locate_checkpoints(run))
    assert len(set(folders)) == 3 and folders[1] == folders[3]


@pytest.mark.parametrize("content", ["", '{"bring_your', "\0" * 50])
def test_a_broken_about_json_of_a_data_set_changes_no_cache_key(tmp_path, content):
    result = locate_result(tmp_path / "results/data/bring_your_own+name=mine")
    cache_key.cache_clear()
    before = cache_key(result)
    result.folder.mkdir(parents=True)
    (result.folder / "about.json").write_text(content)
    cache_key.cache_clear()
    assert cache_key(result) == before


def test_what_was_trained_in_bf16_has_another_cache_key(toy, monkeypatch):
    before = all_stages()
    for precision, other in (("fp32", set()), ("bf16", {"stage1", "runs"})):
        monkeypatch.setenv("DESPUR_PRECISION", precision)
        cache_key.cache_clear()
        after = all_stages()
        assert {stage for stage in STAGES if after[stage] != before[stage]} == other
    cache_key.cache_clear()


def test_settings_that_a_data_set_states_are_part_of_the_cache_key(toy):
    before = all_stages()
    toy.edit(
        "datasets/colored_digits.py", "PAPER_HYPERPARAMETERS = {", 'PAPER_HYPERPARAMETERS = {"toy": {"strength": 3.0},'
    )
    after = all_stages()
    assert {stage for stage in STAGES if after[stage] != before[stage]} == {"runs", *READERS}
    assert changed(before) == set()


def test_swapped_values_are_another_cache_key(toy):
    texts = [
        cache_key(locate_result(f"results/runs/colored_digits/toy+strength={a}+weakness={b}/s0"))
        for a, b in (("0.1", "0.2"), ("0.2", "0.1"))
    ]
    assert texts[0] != texts[1]


@pytest.mark.parametrize(
    "path",
    [
        "results/runs/colored_digits/toy/s0-1",
        "results/runs/colored_digits+p_corr=0.77/toy/s0-2",
        "results/runs/colored_digits/toy+stage1.epochs=1/s0-2",
        "results/runs/colored_digits/toy+groups=oracle/s0-2",
        "results/runs/colored_digits/jtt/s0-2",
        "results/stage1/colored_digits/erm/s0-2",
    ],
)
def test_another_path_is_another_cache_key(toy, path):
    assert ask(path) != ask(STAGES["runs"])


def test_where_results_and_code_lie_is_not_part_of_the_cache_key(toy, tmp_path):
    before = all_stages()
    toy.use(shutil.copytree(toy.root, tmp_path / "elsewhere" / "despur"))
    assert all_stages() == before
    assert cache_key(locate_result(f"/scratch/{STAGES['runs']}")) == cache_key(locate_result(STAGES["runs"]))


def test_a_cache_key_is_one_canonical_string(toy):
    text = cache_key(locate_result(STAGES["runs"]))
    assert json.dumps(json.loads(text), sort_keys=True) == text
    assert json.loads(text)["seeds"] == [0, 1, 2]
    assert json.loads(text)["points"][0]["strength"] == 0.5
    assert json.loads(text)["points"][0]["groups"]["stage1"]["name"] == "erm"


@pytest.fixture
def script(package):
    """A module of a paper that imports one of the same paper and one of the package; beside it lies one more."""
    (package.root / "papers/toy").mkdir()
    package.write("losses/toy.py", SAME)
    package.write("papers/toy/figures.py", "from despur.papers.toy.series import curve\n")
    package.write("papers/toy/series.py", "from despur.losses.toy import penalty\ncurve = penalty(1)\n")
    package.write("papers/toy/tables.py", "number = 1\n")
    return package


@pytest.mark.parametrize(
    ("file", "text", "same"),
    [
        ("papers/toy/series.py", "from despur.losses.toy import penalty\ncurve = penalty(2)\n", False),
        ("papers/toy/series.py", "from despur.losses.toy import penalty\ncurve = penalty(1)  # a comment\n", True),
        ("papers/toy/figures.py", "from despur.papers.toy.series import curve\nSETTINGS = curve\n", False),
        ("losses/toy.py", OTHER, False),
        ("papers/toy/tables.py", "number = 2\n", True),
    ],
    ids=[
        "a file beside it",
        "a comment in it",
        "a name that components declare",
        "the package's code that it imports",
        "a file that it does not import",
    ],
)
def test_the_digest_of_a_paper_s_script_follows_the_files_beside_it(script, file, text, same):
    before = script_digest("despur/papers/toy/figures.py")
    script.write(file, text)
    assert (script_digest("despur/papers/toy/figures.py") == before) == same


def test_a_file_is_parsed_once_and_again_when_it_was_edited(monkeypatch, tmp_path):
    """A job is forked from a process that has parsed the package."""
    (tmp_path / "papers").mkdir()
    file = tmp_path / "papers" / "tables.py"
    file.write_text("value = 1\n")
    digest.parse(file.read_text(), True)
    texts, parse = [], ast.parse
    monkeypatch.setattr(ast, "parse", lambda text: texts.append(text) or parse(text))
    monkeypatch.setattr(digest, "PACKAGE", tmp_path / "package")
    before = script_digest(file)
    assert not texts
    file.write_text("value = 2\n")
    digest._file.cache_clear(), digest.code_digest.cache_clear()
    assert script_digest(file) != before and texts == ["value = 2\n"]
