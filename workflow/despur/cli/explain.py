"""What ``python -m despur`` answers of names and paths, line by line. No torch, numpy or pandas. Of numbers:
despur/cli/show.py."""

import ast
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from despur.orchestration import configuration, experiments, matrix
from despur.specs.declarations import PACKAGE, declared, list_components, paper_hyperparameters
from despur.specs.names import parse
from despur.specs.paths import ResultPath, locate
from despur.specs.settings import SettingError, spell
from despur.specs.spec import Spec

LISTS = ("methods", "datasets", "encoders", "inference", "papers", "claims")
MEANING = {
    "data": "a data set: arrays and a table",
    "stage1": "a first model: representations and logits of every sample",
    "groups": "an attribute inferred for every training sample",
    "runs": "trained models, their outputs and metrics",
}


def list_(what: str) -> Iterator[str]:
    """what there is: methods, datasets, encoders, inference, papers or claims"""
    if what == "papers":
        yield from (
            f"{paper:<20} {experiments.load_experiments(paper)['title']}" for paper in experiments.list_papers()
        )
    elif what == "claims":
        for paper in experiments.list_papers():
            for claim in yaml.safe_load((experiments.PAPERS / paper / "claims.yaml").read_text()):
                yield f"{paper:<20} {claim['name']}: {claim['statement']} ({claim['result']})"
    else:
        yield from (f"{name:<28} {summary(what, name)}" for name in list_components(what))


def summary(kind: str, name: str) -> str:
    """What a component's docstring says first; the file is not run."""
    return textwrap.shorten(documentation(kind, name).partition("\n\n")[0], 130, placeholder=" ...")


def documentation(kind: str, name: str) -> str:
    return ast.get_docstring(ast.parse((PACKAGE / kind / f"{name}.py").read_text())) or ""


def explain(path: str) -> Iterator[str]:
    """what a path is, what it needs and is needed for, and every setting with where its value comes from"""
    if "/papers/" in path:
        yield from explain_artifact(Path(path))
        return
    result = locate(path)
    folder = Path("results") / result.folder.relative_to(result.root)
    state = "made" if (result.folder / "about.json").exists() else "not made yet"
    yield f"{folder}: {MEANING[result.stage]} ({state})"
    if needs := reads(result):
        yield "reads    " + ", ".join(str(Path("results") / up.folder.relative_to(up.root)) for up in needs)
    users = [
        f"{file}: {paper} {artifact}"
        for file, config in configurations().items()
        for paper, artifact, folders in asked(config)
        if str(folder) in folders
    ]
    yield "shown by " + (", ".join(users) or "nothing that a configuration asks for")
    sweep = result.datasets if result.stage == "data" else result.sweep
    if result.stage != "data":
        points = f"{len(result.datasets.points)} of data x {len(sweep.points)} of the method"
        yield f"runs     {len(result.runs())}: {points} x seeds {result.seeds[1:]}"
        yield from settings(result.datasets.points, parse(result.dataset)[1], {}, "", "")
    role = result.stage if result.stage in ("stage1", "groups") else ""
    yield from settings(sweep.points, sweep.overrides, {}, parse(result.dataset)[0] if result.name else "", role)


def reads(result: ResultPath) -> list[ResultPath]:
    """The folders that a folder is made from."""
    data = [] if result.stage == "data" else [result.data]
    return [*data, *(up for part in ("stage1", "groups") for up in result.upstream(part))]


def settings(
    points: list[Spec],
    overrides: Mapping[str, Any],
    outer: Mapping[str, Any],
    dataset: str,
    role: str,
    prefix: str = "",
) -> Iterator[str]:
    """Each setting of a component and, below it, of its parts: value (several in a sweep) and source. ``outer``: what
    the data set's file states of it for the whole."""
    first = points[0]
    yield f"\n{prefix.rstrip('.') or first.kind}: {first.base_name}, {summary(first.kind, first.base_name)}"
    stated = {**outer, **(paper_hyperparameters(dataset, first.base_name, role) if dataset else {})}
    for key, setting in declared(first.kind, first.base_name)["SETTINGS"].items():
        values = " ~ ".join(dict.fromkeys(spell(point.settings[key]) for point in points))
        inherited = key in overrides or (key == "stage1" and "stage1" in overrides)
        source = (
            "the path"
            if inherited
            else f"published, datasets/{dataset}.py"
            if key in stated
            else f"default: {setting.source}"
        )
        yield f"  {prefix}{key} = {values}  ({source})"
    for key in first.components:
        asked, of_part = (
            {
                k.removeprefix(f"{key}."): v
                for k, v in items.items()
                if k.startswith(f"{key}.") or k.split(".")[0] == "stage1"
            }
            for items in (overrides, stated)
        )
        same = [
            point.components[key]
            for point in points
            if point.components[key].base_name == first.components[key].base_name
        ]
        yield from settings(same, asked, of_part, dataset, key, f"{prefix}{key}.")


def explain_artifact(path: Path) -> Iterator[str]:
    """A table or figure of a paper: what it shows, and the runs behind it in each configuration that makes it."""
    paper, artifact = path.parent.name, path.stem
    if artifact not in experiments.load_experiments(paper)["artifacts"]:
        raise SettingError(
            f"{path}: {paper} has no {artifact}; it has {', '.join(experiments.load_experiments(paper)['artifacts'])}"
        )
    script, title = experiments.find_script(artifact)[0], experiments.load_experiments(paper)["title"]
    yield f"{path}: {experiments.format_label(artifact)} of {title}, made by papers/{paper}/{script}"
    for file, config in configurations().items():
        if paper in config["papers"]:
            yield f"\n{file}: {experiments.list_outputs(config, paper, artifact)[0]}"
            changed = config.get("artifacts", {}).get(paper, {}).get(artifact)
            if changed:
                yield f"  this configuration sets {changed}"
            for cell in experiments.list_artifact_runs(config, paper, artifact):
                part = f" in the part of {cell.role}" if cell.stand_in else ""
                yield f"  {cell.printed} on {cell.dataset}{part}: {', '.join(cell.folders)}"


def unused() -> Iterator[str]:
    """folders of results that no configuration asks for, with their sizes; nothing is deleted"""
    wanted = {folder for config in configurations().values() for *_, folders in asked(config) for folder in folders}
    places = [locate(folder) for folder in wanted]
    for result in places:  # grows: stages read stages
        places += reads(result)
    kept, total = {result.folder for result in places}, 0
    for stage in MEANING:
        for folder in sorted((experiments.RESULTS / stage).glob("*" if stage == "data" else "*/*/*")):
            if folder not in kept:
                size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
                total += size
                yield f"{size / 1e6:>10.1f} MB  {folder}"
    yield f"{total / 1e6:>10.1f} MB in all; asked for by: {', '.join(map(str, configurations()))}"


def configurations() -> dict[Path, dict[str, Any]]:
    """Every configuration here."""
    files = [file for file in (Path("config.yaml"), *sorted(Path("config").glob("*.yaml"))) if file.exists()]
    return {file: configuration.load_configuration(file) for file in files}


def asked(config: Mapping[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    """(paper, artifact, folder) of everything that a configuration shows."""
    found = [
        (paper, artifact, cell.folders)
        for paper in config["papers"]
        for artifact in experiments.load_experiments(paper)["artifacts"]
        for cell in experiments.list_artifact_runs(config, paper, artifact)
    ]
    return [*found, *(("matrix", cell.printed, cell.folders) for cell in matrix.list_artifact_runs(config))]
