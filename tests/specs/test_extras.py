"""Extras: a library that is not there is named with the command that installs it."""

import pytest

from despur.specs.extras import find_extra, name_extra
from despur.specs.settings import SettingError


def test_modules_are_found_in_their_extras():
    found = {module: find_extra(module) for module in ("umap", "umap.distances", "open_clip", "PIL", "timm", "seaborn")}
    wanted = {"umap": "umap", "umap.distances": "umap", "open_clip": "clip", "PIL": "vision", "timm": "vision"}
    assert found == wanted | {"seaborn": "workflow"}
    assert find_extra("snakemake") == "workflow" and find_extra("transformers") == "text"
    assert find_extra("numpy") == "" == find_extra("nobodys_module")


def test_a_missing_library_is_one_sentence_with_a_command():
    with pytest.raises(SettingError, match=r"^umap is not installed: pip install 'despur\[umap\]'$"), name_extra():
        raise ModuleNotFoundError("No module named 'umap'", name="umap")
    with pytest.raises(ModuleNotFoundError), name_extra():
        raise ModuleNotFoundError("No module named 'other'", name="other")
