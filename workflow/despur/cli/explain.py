"""``despur explain PATH``: what a path means, line by line. No torch, numpy or pandas."""

from collections.abc import Iterator
from pathlib import Path

from despur.cli.commands import Arguments
from despur.cli.rows import Row
from despur.orchestration import artifact_files, experiments
from despur.orchestration.configuration import list_shown_folders, load_all_configurations
from despur.specs.declarations import summarize
from despur.specs.paths import ResultPath, locate_result
from despur.specs.resolution import SAME_STAGE1
from despur.specs.settings import spell
from despur.specs.spec import Spec
from despur.specs.stages import STAGES

ARGUMENTS: Arguments = {
    "path": {"help": "a result, or its folder"},
    "--all": {"action": "store_true", "dest": "defaults", "help": "also the settings that have their defaults"},
}


def explain(path: str, defaults: bool = False) -> Iterator[str]:
    """what a path is, what it is made from and used for, and each setting that is no default, with where it comes
    from"""
    if Path(path).parent.parent.name == "papers":
        yield from explain_artifact(Path(path))
        return
    result = locate_result(path)
    folder = Path("results") / result.folder.relative_to(result.root)
    settings = list(explain_settings(result, defaults))  # first: what cannot be is refused before anything is said
    state = "made" if (result.folder / "about.json").exists() else "not made yet"
    yield f"{folder}: {STAGES[result.stage].result} ({state})"
    if inputs := result.list_earlier():
        yield "reads    " + ", ".join(
            str(Path("results") / earlier.folder.relative_to(earlier.root)) for earlier in inputs
        )
    users = list_users(folder)
    if not users and result.stage == "runs":  # other results may be read by runs that are shown
        users = ["no table or figure of a configuration"]
    for i, line in enumerate(users):
        yield f"{'' if i else 'shown by':8} {line}"
    yield from settings


def list_users(folder: Path) -> list[str]:
    """The tables and figures that show a folder, by configuration and paper: ``config.yaml: cnc table_1, figure_5``."""
    users: dict[str, list[str]] = {}
    for file, config in load_all_configurations().items():
        for paper, artifact, folders in list_shown_folders(config):
            if str(folder) in folders and artifact not in users.setdefault(f"{file}: {paper}", []):
                users[f"{file}: {paper}"].append(artifact)
    return [f"{name} {', '.join(artifacts)}" for name, artifacts in users.items()]


def explain_settings(result: ResultPath, defaults: bool) -> Iterator[str]:
    """The settings of a result's data set and of its method; those that have their defaults only with ``defaults``."""
    data = result.datasets
    if result.stage == "data":
        yield from list_settings(data.points, defaults)
        return
    method = result.sweep
    points = f"{len(data.points)} of data x {len(method.points)} of the method"
    yield f"runs     {len(result.runs())}: {points} x seeds {result.seeds[1:]}"
    yield from list_settings(data.points, defaults)
    yield from list_settings(method.points, defaults)


def list_settings(points: list[Spec], defaults: bool, prefix: str = "") -> Iterator[str]:
    """Each setting of a component and, below it, of its components: value (several in a sweep) and source. Without
    ``defaults``, how many settings have theirs, or those of the method's stage 1."""
    first, left_out = points[0], 0
    yield f"\n{prefix.rstrip('.') or first.kind}: {first.base_name}, {summarize(first.kind, first.base_name)}"
    for key in first.settings:
        values = list(dict.fromkeys(spell(point.settings[key]) for point in points))
        text, source = " ~ ".join(values), first.origins[key]
        if not defaults and source.startswith(("default: ", SAME_STAGE1)):
            left_out += 1
            continue
        told = {"setting": f"{prefix}{key}", "values": values, "source": source}
        yield Row(f"  {prefix}{key} = {text}  ({source})", "settings", kind=first.kind, **told)
    shared = f", or {SAME_STAGE1}" if SAME_STAGE1 in first.origins.values() else ""
    if left_out:
        yield f"  and {left_out} at their defaults{shared}: --all lists them"
    for key, component in first.components.items():
        alike = [point.components[key] for point in points]
        alike = [other for other in alike if other.base_name == component.base_name]
        yield from list_settings(alike, defaults, f"{prefix}{key}.")


def explain_artifact(path: Path) -> Iterator[str]:
    """A table or figure of a paper: what it shows, and the runs behind it in each configuration that makes it."""
    paper, artifact = artifact_files.locate_artifact(path)
    experiment = experiments.load_experiments(paper)
    script = artifact_files.spell_folder(paper) / f"{artifact_files.find_module(artifact)[0]}.py"
    yield f"{path}: {artifact_files.format_label(artifact)} of {experiment['title']}, made by {script}"
    for file, config in load_all_configurations().items():
        if paper in config["papers"]:
            yield f"\n{file}: {artifact_files.list_outputs(config, paper, artifact)[0]}"
            if changed := config.get("artifacts", {}).get(paper, {}).get(artifact):
                yield f"  this configuration sets {changed}"
            for run in experiments.list_artifact_runs(config, paper, artifact):
                instead = f" instead of {run.paper_dataset}" if run.substitute else ""
                text = f"  {run.paper_method} on {run.dataset}{instead}: {', '.join(run.folders)}"
                yield Row(
                    text,
                    "runs",
                    configuration=str(file),
                    paper_method=run.paper_method,
                    paper_dataset=run.paper_dataset,
                    used_dataset=run.dataset,
                    folders=run.folders,
                )
