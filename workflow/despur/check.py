"""Are the raw files of a data set here and right? ``python -m despur check waterbirds``. It downloads nothing and writes nothing."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from despur.border import built
from despur.commands import documentation
from despur.declarations import PACKAGE
from despur.resolution import resolve


def check(dataset: str) -> Iterator[str]:
    """whether the raw files of a data set are here and right; what is missing, their licence, how to get them"""
    sweep = resolve("datasets", dataset)
    root = Path(os.environ.get("DESPUR_DATA_ROOT", "data"))
    yield f"{documentation('datasets', sweep.base)}\n\nlicence: {licence(sweep.base)}"
    yield f"looked for under {root.resolve()} (DESPUR_DATA_ROOT)"
    for point in sweep.points:
        raw = point.source or point
        with patch("pooch.retrieve", side_effect=RuntimeError("this check downloads nothing; the run will")):
            made = built(raw, root)
        sizes = ", ".join(f"{len(made.rows(split)):,} {split}" for split in made.splits)
        for rows in map(made.rows, made.splits):
            for row in rows[:: 1 + len(rows) // 4]:
                made.inputs[int(row) : int(row) + 1]  # images are decoded when they are asked for
        yield f"{point.name}: right; {sizes}; source: {made.about.get('source', 'not stated')}"


def licence(dataset: str) -> str:
    """What the file of a data set, or of the source that it comes from, states; nothing is run."""
    text = (PACKAGE / "datasets" / f"{dataset}.py").read_text()
    sources = re.findall(r"^from despur\.(?:sources|datasets)(?:\.| import )(\w+)", text, re.MULTILINE)
    files = [
        file for name in sources for file in (PACKAGE / "sources" / f"{name}.py", PACKAGE / "datasets" / f"{name}.py") if file.exists()
    ]
    found = (re.search(r"""licence"?[=:] ?"([^"]+)""", each) for each in (text, *(file.read_text() for file in files)))
    return next((match[1] for match in found if match), "not stated")
