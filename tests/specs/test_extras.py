"""Extras: a library that is not there is named with the command that installs it."""

import re
import tomllib
from itertools import chain

import pytest
import yaml
from project import SOURCE

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


CONDA = {"torch": "pytorch", "matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal"}


def test_the_environment_for_conda_has_the_bounds_of_the_package():
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    wanted = {f"python {project['requires-python']}"}
    for requirement in chain(project["dependencies"], *project["optional-dependencies"].values()):
        name, bounds = re.fullmatch(r"([\w.-]+)(?:\[.*\])?(.*)", requirement).groups()
        if name != "despur":
            wanted.add(f"{CONDA.get(name, name).replace('_', '-')} {bounds}")
    assert {*yaml.safe_load((SOURCE / "envs/despur.yaml").read_text())["dependencies"]} == wanted | {"pip"}
