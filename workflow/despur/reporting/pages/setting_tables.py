"""A page for each paper with all that can be set of its data sets and methods, from the declarations of components.

    python -m despur.reporting.pages.setting_tables

writes workflow/despur/papers/PAPER/settings.md."""

import argparse
from collections.abc import Iterator
from typing import Any

from despur.orchestration.configuration import load_configuration
from despur.orchestration.experiments import PUBLISHED, list_runs_of_papers
from despur.orchestration.paper_folders import PAPERS
from despur.reporting.markdown import to_markdown
from despur.specs.declarations import paper_hyperparameters, read_declarations
from despur.specs.paths import locate_result
from despur.specs.settings import spell
from despur.specs.spec import Spec
from despur.storage.texts import write_text

CONFIGURATION = PAPERS.parents[2] / PUBLISHED
FILE = "settings.md"
TITLES = {
    "datasets": "data set",
    "augment": "augmentation",
    "encoders": "encoder",
    "inference": "inference",
    "methods": "method",
}
Component = tuple[str, str]  # kind, name
Row = tuple[str, str, str, str]  # setting, default, what data sets state, source


def list_used_components(paper: str) -> list[Component]:
    """Data sets and methods of all that a paper runs on its own data, grids too, and what they are built of; by kind
    and name."""
    components: set[Component] = set()
    for artifact_run in list_runs_of_papers({**load_configuration(CONFIGURATION), "sweep": True, "papers": [paper]}):
        result = locate_result(artifact_run.folders[0])
        for point in (*result.datasets.points, *result.sweep.points):
            components |= set(list_parts(point))
    return sorted(components, key=lambda component: (list(TITLES).index(component[0]), component[1]))


def list_parts(spec: Spec) -> Iterator[Component]:
    """A component and all that it is built of."""
    yield spec.kind, spec.base_name
    for part in spec.components.values():
        yield from list_parts(part)


def list_lines(paper: str) -> Iterator[str]:
    """The lines of a page: a table of what all trained methods share, then one for each component."""
    components = list_used_components(paper)
    datasets = [name for kind, name in components if kind == "datasets"]
    rows = {component: list_rows(*component, datasets) for component in components}
    trained = [
        set(rows[key]) for key in rows if key[0] == "methods" and "epochs" in read_declarations(*key)["SETTINGS"]
    ]
    shared = set.intersection(*trained) if trained else set()
    common = [
        row
        for row in max(rows.values(), key=lambda component_rows: len(shared & set(component_rows)), default=[])
        if row in shared
    ]
    yield from list_table_lines("All methods that are trained", common)
    for (kind, name), component_rows in rows.items():
        yield from list_table_lines(
            f"{TITLES[kind].capitalize()} `{name}`", [row for row in component_rows if row not in shared]
        )


def list_rows(kind: str, name: str, datasets: list[str]) -> list[Row]:
    """What can be set of a component: its own settings, and what these data sets state of its components."""
    settings = read_declarations(kind, name)["SETTINGS"]
    of_datasets = describe_stated(kind, name, datasets) if kind != "datasets" else {}
    parts = {"stage1", *(key for key in settings if settings[key].folder)}
    keys = [*settings, *(key for key in of_datasets if "." in key and key.split(".")[0] in parts)]
    return [
        (
            f"`{key}`",
            f"`{spell(settings[key].default)}`" if key in settings else "–",
            of_datasets.get(key, "–"),
            settings[key].source.replace("|", "\\|") if key in settings else "–",
        )
        for key in keys
    ]


def describe_stated(kind: str, name: str, datasets: list[str]) -> dict[str, str]:
    """What the files of data sets state for a component, by setting: ``cmnist `5` to infer groups``."""
    stages = {"inference": ["groups"], "methods": ["", "stage1"]}.get(kind, [""])
    by_value: dict[str, list[str]] = {}
    for dataset in datasets:
        general = paper_hyperparameters(dataset, name, "")
        for stage in stages:
            settings: dict[str, Any] = paper_hyperparameters(dataset, name, stage)
            for key, value in settings.items():
                if stage != "stage1" or general.get(key) != value:
                    at = " to infer groups" if stage == "stage1" else ""
                    by_value.setdefault(key, []).append(f"{dataset} `{spell(value)}`{at}")
    return {key: ", ".join(texts) for key, texts in by_value.items()}


def list_table_lines(title: str, rows: list[Row]) -> Iterator[str]:
    """A table under its title; nothing where there are no rows."""
    if rows:
        yield from ("", f"## {title}", "", to_markdown(["setting", "default", "data sets", "source"], rows))


def render(paper: str) -> str:
    """The page of a paper."""
    head = (
        f"# Settings of `{paper}`",
        "",
        "Generated by `python -m despur.reporting.pages.setting_tables`. *default*: of the declaration; *data sets*:",
        "what the file of a data set says instead; *source*: where the default comes from. A dash: nothing.",
    )
    return "\n".join((*head, *list_lines(paper), ""))


def write_pages() -> None:
    """Write the pages of all papers anew."""
    for readme in sorted(PAPERS.glob("*/README.md")):
        write_text(readme.parent / FILE, render(readme.parent.name))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    write_pages()
