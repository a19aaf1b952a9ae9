"""The catalog of data sets, from their files. Bundled data sets are built, to count their samples."""

from functools import cache

from catalog.components import format_settings
from catalog.downloads import describe_downloads
from catalog.markdown import code, contents, escape, link_file, page, table
from despur.cli.check import find_statement
from despur.library.split_dataset import dataset
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import list_papers
from despur.specs.declarations import find_component, list_components, read_declarations, read_docstring, summarize
from despur.specs.resolution import resolve
from despur.specs.settings import spell

INTRODUCTION = "After this page you know every data set: its files, sizes, license, and who can have it."
load = cache(dataset)
COUNTED = ("colored_digits", "scene_digits", "domain_digits")  # bundled, and quick to build


def build_pages() -> dict[str, str]:
    """The pages, by name: one for each data set, and ``index``."""
    names = list_components("datasets")
    rows = [
        [f"[{name}]({name}.md)", escape(summarize("datasets", name)), describe_access(name), describe_papers(name)]
        for name in names
    ]
    shown = table(["name", "what it is", "who can have it", "papers"], rows)
    index = page("Data sets", INTRODUCTION, shown, contents(names), "[All pages](../index.md)")
    return {"index": index, **{name: build_page(name) for name in names}}


def describe_papers(name: str) -> str:
    """The papers that name a data set, or a subset of it."""
    papers = [
        paper
        for paper in list_papers()
        for datasets in [load_experiments(paper)["datasets"]]
        if any(part == name or part.endswith(f"_{name}") or part.startswith(f"{name}_") for part in datasets)
    ]
    return ", ".join(f"[{paper}](../papers/{paper}.md)" for paper in papers) or "–"


def describe_access(name: str) -> str:
    """How a user gets the files of a data set."""
    declared = read_declarations("datasets", name)
    if not {"RAW", "RAW_WITH"} & declared.keys():
        return "bundled"
    if declared.get("DOWNLOADED"):
        return "downloaded by itself"
    if name == "bring_your_own":
        return "your own files"
    return "with an account or a form" if declared.get("BY_HAND") else "anyone: `despur fetch`"


def build_page(name: str) -> str:
    """All that the file of a data set says of it."""
    answers = [
        ["who can have it", describe_access(name)],
        ["license", escape(find_statement(name, "LICENSE"))],
        ["source", escape(find_statement(name, "SOURCE"))],
        ["papers", describe_papers(name)],
    ]
    parts = [
        escape(read_docstring("datasets", name)),
        f"File: {link_file(find_component('datasets', name))}",
        table(["question", "answer"], answers),
        show_in_python(name),
        f"## Raw files\n\n{describe_files(name)}",
        describe_downloads("datasets", name),
        f"## Sizes\n\n{describe_sizes(name)}" if name in COUNTED else "",
        f"## Settings\n\n{format_settings(read_declarations('datasets', name)['SETTINGS'])}",
        describe_published(name),
    ]
    return page(name, *parts, "[All data sets](index.md)")


def show_in_python(name: str) -> str:
    """How to get its samples in Python; nothing for representations, which ``despur.train`` makes."""
    example = write_example(name)
    return f"## In Python\n\n~~~~pycon\n{example}~~~~" if example else ""


def write_example(name: str) -> str:
    """An example that holds where the raw files are below ``data``; with the first sample, if it is quick to build."""
    named = "bring_your_own+name=mine" if name == "bring_your_own" else name
    if resolve("datasets", named).points[0].source:
        return ""
    root = "" if describe_access(name) == "bundled" else ', root="data"'
    call = f'>>> import despur\n>>> train = despur.dataset("{named}"{root}, split="train")\n>>> x, y, a = train[0]\n'
    if name not in COUNTED:
        return call
    samples = load(name)
    x, y, a = samples[0]
    shown = (x.shape, samples.classes[y], samples.attributes[a])
    return f"{call}>>> x.shape, train.classes[y], train.attributes[a]\n{shown}\n"


def describe_files(name: str) -> str:
    """The patterns of raw files, below DESPUR_DATA_ROOT."""
    declarations = read_declarations("datasets", name)
    lines = [(pattern, "") for pattern in declarations.get("RAW", ())]
    lines += [(pattern, key) for key, patterns in declarations.get("RAW_WITH", {}).items() for pattern in patterns]
    rows = [
        [" or ".join(code(alternative.strip()) for alternative in pattern.split("|")), code(key)]
        for pattern, key in lines
    ]
    return table(["file under `DESPUR_DATA_ROOT`", "only with"], rows) if rows else "None: it is bundled."


def describe_sizes(name: str) -> str:
    """Samples of each class-attribute group in each split, counted in the data set as its defaults make it."""
    stored = load(name).stored
    counts = {split: stored.groups[stored.rows(split)].sum(axis=0) for split in stored.splits}
    names = stored.about["groups"]
    rows = [[escape(name), *(f"{of[i]:,}" for of in counts.values())] for i, name in enumerate(names)]
    total = ["all samples", *(f"{len(stored.rows(split)):,}" for split in stored.splits)]
    return table(["group", *stored.splits], [*rows, total])


def describe_published(name: str) -> str:
    """The settings that a data set's file states for methods."""
    settings = read_declarations("datasets", name).get("PAPER_HYPERPARAMETERS", {})
    rows = [
        [code(role) if role != "*" else "all", " ".join(code(f"{k}={spell(v)}") for k, v in values.items())]
        for role, values in settings.items()
    ]
    return f"## Settings of methods on it\n\n{table(['method', 'settings'], rows)}" if rows else ""
