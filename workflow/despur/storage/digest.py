"""What a job's result depends on besides its inputs: the specification and the code behind it, as one string.

Snakemake's own trigger sees a rule's script alone, not what it imports, and build tools that see imports compare
whole files: a comment would train everything again. So syntax trees are compared here."""

import ast
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from despur.specs.code_files import parse_file
from despur.specs.declarations import PACKAGE, find_component, list_files, list_measures, revision
from despur.specs.extensions import EXTENSIBLE, list_extensions
from despur.specs.paths import ResultPath, parse_seeds
from despur.specs.public import read_stub
from despur.specs.spec import Spec
from despur.specs.stages import PARTS, STAGES
from despur.specs.syntax import find_target, parse
from despur.storage.checksums import ABOUT, read_kept
from despur.storage.made_from import identify_raw, identify_weights

CODE = "code"  # what the digest of code is called in a cache key and in resamples.parquet


def parse_code(path: Path) -> tuple[str, frozenset[str]]:
    """Digest of a file of code, and the modules of this package that it may import, as paths. Raises SettingError for
    what is no Python."""
    try:
        return parse(path.read_text(), path.parent.name in EXTENSIBLE)
    except SyntaxError:
        parse_file(path)  # which says where
        raise


@cache
def _file(path: Path) -> tuple[str, frozenset[Path]]:
    """Digest of a file of code, and the files of this package and of extensions that it imports."""
    digest, modules = parse_code(path)
    imported = {name for module in modules for name in list_modules(path, module)}
    places = (root / module for module in imported for root in (PACKAGE, *list_extensions()))
    files = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    return digest, frozenset(file for file in files if file.exists())


def list_modules(file: Path, module: str) -> list[str]:
    """What an import of a file may stand for: of a relative one, the module from the package on; of a public name
    (``losses/info_nce``, or ``losses/*``), also the modules that define what the package's stub lists."""
    folders = Path(_name(file)).parts[1:-1]  # below despur, or below the extension
    path = os.path.normpath("/".join([*folders, module])) if module.startswith(".") else module
    package, _, name = path.rpartition("/")
    if not (stub := PACKAGE / package / "__init__.pyi").exists():
        return [path]
    public = {key: of.partition(".")[2].replace(".", "/") for key, (of, _) in read_stub(str(stub)).items()}
    return [path, *(public.values() if name == "*" else [public[name]] if name in public else [])]


def _closure(files: Iterable[Path]) -> set[Path]:
    """These files and everything they import from this package."""
    seen: set[Path] = set()
    queue = list(files)
    while queue:
        file = queue.pop()
        if file not in seen:
            seen.add(file)
            queue += _file(file)[1]
    return seen


@cache
def code_digest(*files: Path) -> str:
    """Digest of the syntax trees of these files and of everything they import from this package.

    Comments, docstrings, formatting and declared defaults do not change it.
    """
    parts = sorted(f"{_name(file)}:{_file(file)[0]}" for file in _closure(files))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def _name(file: Path) -> str:
    """A file's path below the folder that holds the package, or below that which holds its extension."""
    holders = (PACKAGE.parent, *(folder.parent for folder in list_extensions()))
    return str(file.relative_to(next(folder for folder in holders if folder in file.parents)))


def script_digest(script: str) -> str:
    """Digest of a script below ``workflow`` (``despur/papers/cnc/tables.py``), or of an absolute path, and of the code
    behind it."""
    return code_digest(PACKAGE.parent / script)


@cache
def declarations_digest() -> str:
    """Digest of every declared and published setting: for a table that shows them."""
    files = sorted(file for kind in ("datasets", "inference", "methods") for file in list_files(kind).values())
    texts = [
        ast.unparse(node)
        for file in files
        for node in parse_file(file).body
        if find_target(node) in ("SETTINGS", "PAPER_HYPERPARAMETERS")
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _components(spec: Spec, without: tuple[str, ...] = PARTS) -> set[Path]:
    """Files of a specification and of what it is built from, except what an earlier stage runs."""
    return {find_component(part.kind, part.base_name) for part in spec.walk(without)}


def _entries(*stages: str) -> set[Path]:
    """Files that stages run whatever the specification: their programs, and what measures runs."""
    measures = list_measures().values() if "evaluate" in stages else ()
    return {*measures, *(PACKAGE / f"{STAGES[stage].program}.py" for stage in stages)}


@cache
def cache_key(result: ResultPath) -> str:
    """The cache key of a result folder: specification, seeds, digests of the code and of raw data, as JSON with sorted
    keys."""
    sweep = result.datasets if result.stage == "data" else result.sweep
    stage = STAGES[result.stage]
    built = [] if stage.adds_to_runs else sweep.points
    files = _entries(result.stage).union(*(_components(point) for point in built))
    key_parts: dict[str, Any] = {
        "stage": result.stage,
        "dataset": [point.resolved() for point in result.datasets.points],
        "points": [point.resolved() for point in sweep.points],
        "seeds": parse_seeds(result.seeds) if result.seeds else [],
        CODE: code_digest(*sorted(files)),
    }
    if result.stage == "data" and (raw := identify_raw(result)):
        key_parts["raw"] = raw
    if stage.trains and (weights := identify_weights(result, sweep.points)):
        key_parts["weights"] = weights
    if stage.trains and os.environ.get("DESPUR_PRECISION") == "bf16":
        key_parts["precision"] = "bf16"
    return json.dumps(key_parts, sort_keys=True)


def digest_evaluation(result: ResultPath) -> str:
    """The digest of the code that evaluates runs."""
    return str(json.loads(cache_key(replace(result, stage="evaluate")))[CODE])


def locate_checkpoints(result: ResultPath) -> Path:
    """The folder of a job's checkpoints: another one where its cache key or the content of what it reads is another
    one."""
    return _checkpoints(result, json.loads(cache_key(result)))


def list_checkpoints(result: ResultPath) -> list[Path]:
    """The folders of a job's checkpoints in single precision and in bf16."""
    key_parts = {key: value for key, value in json.loads(cache_key(result)).items() if key != "precision"}
    return [_checkpoints(result, key_parts), _checkpoints(result, key_parts | {"precision": "bf16"})]


def _checkpoints(result: ResultPath, key_parts: dict[str, Any]) -> Path:
    key = json.dumps(key_parts | {"reads": list_read_checksums(result)}, sort_keys=True)
    return result.root / ".resume" / hashlib.sha256(key.encode()).hexdigest()[:16]


def list_read_checksums(result: ResultPath) -> dict[str, dict[str, str]]:
    """Of each result that a training reads and that is here, the checksums of its files, by folder. Files above 1 GiB
    have none."""
    abouts = [read.folder / ABOUT for read in result.list_earlier() if (read.folder / ABOUT).exists()]
    return {str(about.parent): read_kept(about, about.stat().st_mtime_ns) for about in abouts}


def revisions(result: ResultPath) -> dict[str, int]:
    """Every REVISION above 1 in the code behind a result and behind the stages that it reads: ``{"methods/cnc":
    2}``."""
    numbers = {_name(file).partition("/")[2].removesuffix(".py"): revision(file) for file in list_code(result)}
    return {name: number for name, number in sorted(numbers.items()) if number > 1}


def list_code(result: ResultPath) -> set[Path]:
    """The files of the code behind a result and behind the stages that it reads; of what adds to runs, of it alone."""
    adds_to_runs = STAGES[result.stage].adds_to_runs
    stages = [result.stage] if adds_to_runs else ["data", *PARTS, result.stage]
    points = [] if adds_to_runs else [*result.datasets.points, *(result.sweep.points if result.name else [])]
    return _closure(_entries(*stages).union(*(_components(point, without=()) for point in points)))
