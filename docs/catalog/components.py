"""Catalogs of methods, encoders and inferences, from their files: declarations, docstrings and imports. No file is
run."""

import ast
from functools import cache
from typing import Any

from catalog.claims import judge
from catalog.docstrings import walk_docstrings
from catalog.downloads import describe_downloads
from catalog.equations import describe_equation
from catalog.losses import describe_losses
from catalog.markdown import code, contents, escape, find_places, link_file, page, table
from catalog.verdicts import list_names, tabulate_claims
from despur.orchestration.experiments import list_specifications, load_experiments
from despur.orchestration.paper_folders import list_papers
from despur.specs.declarations import find_component, list_components, read_declarations, read_docstring, summarize
from despur.specs.names import parse
from despur.specs.settings import Setting, spell

TITLES = {"methods": "Methods", "encoders": "Encoders", "inference": "Inferences"}
INTRODUCTIONS = {
    "methods": "After this page you know every method: its source, settings, losses, and what it reads.",
    "encoders": "After this page you know every encoder and its settings.",
    "inference": "After this page you know every inference of an attribute, and what it reads.",
}


def build_pages(kind: str) -> dict[str, str]:
    """The pages of a kind of components, by name: one for each, and ``index``."""
    names = list_components(kind)
    rows = [[f"[{name}]({name}.md)", escape(summarize(kind, name)), *describe_use(kind, name)] for name in names]
    titles = ["name", "what it is", *(["papers"] if kind == "methods" else [])]
    index = page(TITLES[kind], INTRODUCTIONS[kind], table(titles, rows), contents(names), "[All pages](../index.md)")
    return {"index": index, **{name: build_page(kind, name) for name in names}}


def describe_use(kind: str, name: str) -> list[str]:
    """The papers that run a method; nothing for other components."""
    return [", ".join(sorted({paper for paper, _ in list_uses(name)}))] if kind == "methods" else []


def build_page(kind: str, name: str) -> str:
    """All that the file of a component says of it."""
    parts = [
        escape(read_docstring(kind, name)),
        f"File: {link_file(find_component(kind, name))}",
        describe_equation(name) if kind == "methods" else "",
        list_stated_places(kind, name),
        f"## Settings\n\n{format_settings(read_declarations(kind, name)['SETTINGS'])}",
    ]
    if kind == "methods":
        parts += [
            describe_inputs(name),
            describe_losses(name),
            describe_papers(name),
            describe_published(name),
            describe_claims(name),
        ]
    if kind == "encoders":
        parts.append(describe_downloads(kind, name))
    if kind == "inference":
        parts.append(f"## What it reads\n\n{describe_evidence(name)}")
    return page(name, *parts, f"[All {TITLES[kind].lower()}](index.md)")


def list_stated_places(kind: str, name: str) -> str:
    """Sections and equations that the docstrings of a file name; those of settings stand beside the settings."""
    tree = ast.parse(find_component(kind, name).read_text())
    places = ((where, find_places(text)) for where, text in walk_docstrings(tree, name))
    rows = [[code(where), escape(", ".join(names))] for where, names in places if names]
    return f"## Sections and equations\n\n{table(['where in the file', 'of the paper'], rows)}" if rows else ""


def format_settings(settings: dict[str, Setting]) -> str:
    """A row for each setting."""
    rows = [
        [code(key), code(spell(setting.default)), escape(setting.allowed), escape(setting.source)]
        for key, setting in settings.items()
    ]
    return table(["setting", "default", "allowed", "source of the default"], rows)


def describe_inputs(name: str) -> str:
    """What a method reads besides the training samples and their classes."""
    settings, lines = read_declarations("methods", name)["SETTINGS"], []
    if "groups" in settings:
        inference = settings["groups"].default
        lines.append(
            f"- Groups: of the class and the attribute that an inference gives; by default "
            f"[`{inference}`](../inference/{inference}.md), {describe_evidence(inference)}"
        )
    if "stage1" in settings:
        base = settings["stage1"].default
        lines.append(f"- Stage-1 model: by default [`{base}`]({base}.md).")
    if read_declarations("methods", name).get("SEEDLESS"):
        lines.append("- Nothing is drawn: all seeds give the same result.")
    return "## What it reads\n\n" + ("\n".join(lines) or "No groups, and no stage-1 model.")


def describe_evidence(inference: str) -> str:
    """Which true attributes an inference sees."""
    declarations = read_declarations("inference", inference)
    if declarations.get("READS_TRUE_GROUPS"):
        return "which reads the true attribute of training samples."
    if declarations.get("READS_VALIDATION_GROUPS"):
        return "which reads the true attribute of validation samples."
    return "which reads no true attribute."


def describe_papers(name: str) -> str:
    """Under which names the papers print a method."""
    rows = [[f"[{paper}](../papers/{paper}.md)", code(printed)] for paper, printed in list_uses(name)]
    return f"## Papers that run it\n\n{table(['paper', 'as'], rows)}" if rows else ""


@cache
def list_uses(name: str) -> tuple[tuple[str, str], ...]:
    """(paper, printed name) of all printed methods that are, or read, this method."""
    uses = (
        (paper, printed)
        for paper in list_papers()
        for printed, by_dataset in list_printed_methods(paper)
        if name in {base for specification in list_stated(by_dataset) for base in list_bases(specification)}
    )
    return tuple(dict.fromkeys(uses))


def list_printed_methods(paper: str) -> list[tuple[str, Any]]:
    """(name, specifications) of all printed methods: those of the paper, and those that an artifact states itself."""
    experiments = load_experiments(paper)
    mappings = [
        experiments["methods"],
        *(artifact.get("methods", {}) for artifact in experiments["artifacts"].values()),
    ]
    return [item for methods in mappings if isinstance(methods, dict) for item in methods.items()]


def list_stated(by_dataset: Any) -> list[str]:
    """All specifications of a printed method, on any data set."""
    datasets = by_dataset if isinstance(by_dataset, dict) else [""]
    return [specification for dataset in datasets for specification in list_specifications(by_dataset, dataset)]


def list_bases(specification: str) -> set[str]:
    """The methods in ``cnc+groups=oracle`` or ``stage1/erm``: its name, and the stage-1 models that it names."""
    base, settings = parse(specification.rpartition("/")[2])
    return {base, *(str(value) for value in settings.get("stage1", ()))}


def describe_published(name: str) -> str:
    """The settings that the files of data sets state for a method."""
    rows = []
    for dataset in list_components("datasets"):
        for role, values in read_declarations("datasets", dataset).get("PAPER_HYPERPARAMETERS", {}).items():
            if role.rpartition("/")[2] != name:
                continue
            shown = " ".join(code(f"{key}={spell(value)}") for key, value in values.items())
            rows.append([f"[{dataset}](../datasets/{dataset}.md)", role.rpartition("/")[0] or "–", shown])
    return f"## Settings by data set\n\n{table(['data set', 'stage', 'settings'], rows)}" if rows else ""


def describe_claims(name: str) -> str:
    """The claims that name a method, and their verdicts."""
    claims = [
        (paper, claim)
        for paper in list_papers()
        for claim, _ in judge(paper)
        if list_names(claim.contrasts) & {printed for user, printed in list_uses(name) if user == paper}
    ]
    return f"## Claims and verdicts\n\n{tabulate_claims(claims)}" if claims else ""
