"""What a result is made from that lies elsewhere: raw files and weights, as its cache key names them.

A file that a result was made from, and that was deleted since, counts as it was."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from despur.specs.paths import ResultPath, data_root
from despur.specs.spec import Spec
from despur.storage import raw_files, weight_files
from despur.storage.pretrained import weights_root


def identify_raw(result: ResultPath) -> dict[str, dict[str, str]]:
    """What identifies the raw files of each point of a data set."""
    made, root, identified = read_about(result), data_root(), {}
    for point in result.datasets.points:
        gone = select_gone(made.get(point.name, {}).get("raw", {}), root)
        identified[point.name] = gone | raw_files.identify_files(point, root)
    return {name: files for name, files in identified.items() if files}


def identify_weights(result: ResultPath, points: Iterable[Spec]) -> dict[str, str]:
    """The checksums of the weights that a result's encoders start from, by path."""
    if not (encoders := [*weight_files.list_encoders(points)]):
        return {}
    made = read_about(result).get("specification", {}).get("weights", {})
    return select_gone(made, weights_root()) | weight_files.identify_weights(encoders)


def read_about(result: ResultPath) -> dict[str, Any]:
    """What made a result that is there; nothing, where it is broken: what reads it says so, and how it is made
    again."""
    about = result.folder / "about.json"
    try:
        return json.loads(about.read_text()) if about.exists() else {}
    except ValueError:
        return {}


def select_gone(made: Mapping[str, str], root: Path) -> dict[str, str]:
    """The files that a result was made from, and that are not there any more."""
    return {file: identity for file, identity in made.items() if not (root / file).exists()}
