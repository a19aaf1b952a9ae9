"""Are the raw files of a data set here and right? ``python -m despur check waterbirds``. It downloads nothing and
writes nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from despur.cli.explain import documentation
from despur.orchestration import configuration, plan
from despur.specs.declarations import PACKAGE
from despur.specs.paths import ResultPath, data_root
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage import raw_files
from despur.storage.dataset_checks import build_dataset

LICENCE = r"""licence"?[=:] ?"([^"]+)"""
SOURCE = r"""(?:^SOURCE|^URL|"source")(?: = |: )"(http[^"]+)"""


def check(dataset: str | None = None, configfile: Path | None = None) -> Iterator[str]:
    """whether the raw files of a data set are here and right, or those of a configuration here; what is missing, how
    to get it"""
    if (dataset is None) == (configfile is None):
        raise SettingError(
            "name a data set (python -m despur check waterbirds) or a configuration (--configfile "
            "config/published.yaml)"
        )
    yield from right(dataset) if dataset else here(configfile) if configfile else ()


def here(configfile: Path) -> Iterator[str]:
    """Of each data set that a configuration needs: whether its raw files are there; none is read. Raises SettingError
    if some are not."""
    root = data_root()
    yield (
        f"looked for under {root.resolve()} (DESPUR_DATA_ROOT), not read: python -m despur check NAME does. "
        "Pretrained weights: README.\n"
    )
    needed: dict[tuple[str, tuple[str, ...]], list[ResultPath]] = {}
    for result in set().union(*plan.list_jobs(configuration.load_configuration(configfile)).values()):
        for point in result.datasets.points if result.stage == "data" else ():
            raw = point.source or point
            needed.setdefault((raw.base_name, raw_files.list_patterns(raw)), []).append(result)
    lost = []
    for (name, patterns), places in sorted(needed.items()):
        missing = [each for each in patterns if not raw_files.find_files(each, root)]
        made = all((result.folder / "about.json").exists() for result in places)
        state = "bundled" if not patterns else "present" if not missing else "made" if made else "missing"
        if state == "missing" and raw_files.is_downloaded(name):
            state = "download"
        lost += [name] if state == "missing" else []
        yield f"{state:<10}{name}" + (
            f": {', '.join(each.split(' |')[0] for each in missing)}; from {stated(name, SOURCE)}"
            if state in ("missing", "download")
            else ""
        )
    if lost:
        raise SettingError(f"{len(lost)} of {len(needed)} data sets are missing: {', '.join(dict.fromkeys(lost))}")


def right(dataset: str) -> Iterator[str]:
    """What a data set is and where its files come from; then that they are here and can be read."""
    sweep, root = resolve("datasets", dataset), data_root()
    yield f"{documentation('datasets', sweep.base_name)}\n\nlicence: {stated(sweep.base_name, LICENCE)}"
    yield f"looked for under {root.resolve()} (DESPUR_DATA_ROOT)"
    for point in sweep.points:
        raw = point.source or point
        with patch("pooch.retrieve", side_effect=RuntimeError("this check downloads nothing; the run will")):
            made = build_dataset(raw, root)
        sizes = ", ".join(f"{len(made.rows(split)):,} {split}" for split in made.splits)
        for rows in map(made.rows, made.splits):
            for row in rows[:: 1 + len(rows) // 4]:
                made.inputs[int(row) : int(row) + 1]  # images are decoded when they are asked for
        yield f"{point.name}: right; {sizes}; source: {made.about.get('source', 'not stated')}"


def stated(dataset: str, what: str) -> str:
    """What the file of a data set, or of the source that it comes from, states; nothing is run."""
    text = (PACKAGE / "datasets" / f"{dataset}.py").read_text()
    sources = re.findall(r"^from despur\.(?:sources|datasets)(?:\.| import )(\w+)", text, re.MULTILINE)
    files = [
        file
        for name in sources
        for file in (PACKAGE / "sources" / f"{name}.py", PACKAGE / "datasets" / f"{name}.py")
        if file.exists()
    ]
    found = (re.search(what, each, re.MULTILINE) for each in (text, *(file.read_text() for file in files)))
    return next((match[1] for match in found if match), "not stated")
