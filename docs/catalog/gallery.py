"""The gallery: tables and figures of full runs that are kept in results/reference, each with the command that makes
it."""

import json
from collections.abc import Iterator
from pathlib import Path

from catalog.markdown import REFERENCE, contents, escape, page, table
from despur.orchestration.artifact_files import format_label
from despur.orchestration.configuration_files import load_merged
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import PAPERS
from despur.reporting.reference import sort_artifacts
from despur.reporting.tables import read_caption

INTRODUCTION = (
    "After this page you have seen what full runs of despur give, and know how to make each table and figure.\n\n"
    "The runs called after a number of seeds are on small bundled data (`make reference`). Their numbers cannot match "
    "a paper's; [Reading the results](../reading_results.md) says what can be judged on them."
)
SHOWN = ".png", ".md"


def build_pages() -> dict[str, str]:
    """The pages, by name: one for each configuration and paper, and ``index``."""
    folders = sorted(file.parent for file in REFERENCE.glob("*/*/provenance.json"))
    names = [name_page(folder) for folder in folders]
    rows = [
        [
            f"[{folder.name}]({name}.md)",
            escape(load_experiments(folder.name)["title"]),
            folder.parent.name,
            str(len(list_shown(folder))),
        ]
        for folder, name in zip(folders, names, strict=True)
    ]
    shown = table(["paper folder", "paper", "run", "tables and figures"], rows)
    pages = {name: build_page(folder) for name, folder in zip(names, folders, strict=True)}
    pages |= {name_page(file.parent): build_matrix_page(file) for file in sorted(REFERENCE.glob("*/matrix/*.png"))}
    index = page("Gallery", INTRODUCTION, shown, contents(pages), "[All pages](../index.md)")
    return {"index": index, **pages}


def name_page(folder: Path) -> str:
    """``ten_seeds_cnc`` of results/reference/ten_seeds/cnc."""
    return f"{folder.parent.name}_{folder.name}"


def build_page(folder: Path) -> str:
    """The figures of a paper in a run, then its tables, which open on a click."""
    parts = [escape(load_experiments(folder.name)["title"]), describe_origin(folder)]
    parts += [part for file in list_shown(folder) for part in show_artifact(folder, file)]
    return page(f"{folder.name}, run {folder.parent.name}", *parts, "[The gallery](index.md)")


def list_shown(folder: Path) -> list[Path]:
    """Figures, then tables."""
    return [file for suffix in SHOWN for file in sort_artifacts(folder.name, folder.glob(f"*{suffix}"))]


def build_matrix_page(figure: Path) -> str:
    """All methods on the same data in a run, by the metrics of all papers."""
    run = figure.parts[-3]
    return page(
        f"All methods on the same data, run {run}",
        (PAPERS.parents[1] / "report/matrix.rst").read_text().strip(),
        f"![rank of each method by each metric](/{figure.relative_to(REFERENCE.parents[1])})",
        f"```bash\n{find_command(run, 'matrix.png')}\n```",
        "[The gallery](index.md)",
    )


def describe_origin(folder: Path) -> str:
    """What made the run: commit, machine and versions."""
    made = json.loads((folder / "provenance.json").read_text())
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    return f"Made by commit `{made['commit'][:12]}` on {escape(made['machine'])}, with {escape(versions)}."


def show_artifact(folder: Path, file: Path) -> Iterator[str]:
    """A heading, the caption, the figure or the table, and the command."""
    label = format_label(file.stem)
    yield f"## {label}"
    if caption := read_caption(folder.name, file.stem).strip():
        yield escape_caption(caption)
    if file.suffix == ".png":
        yield f"![{label} of {folder.name}](/{file.relative_to(REFERENCE.parents[1])})"
    else:
        yield f"<details><summary>{label}</summary>\n\n{file.read_text().strip()}\n\n</details>"
    suffix = ".html" if file.suffix == ".md" else file.suffix
    if command := find_command(folder.parent.name, f"papers/{folder.name}/{file.stem}{suffix}"):
        yield f"```bash\n{command}\n```"


def escape_caption(text: str) -> str:
    """A caption as Markdown: its emphasis and code mean the same there."""
    return text.replace("$", r"\$").replace("CMNIST*", r"CMNIST\*").replace("<", r"\<")


def find_command(run: str, file: str) -> str:
    """The command that makes a file of a run; nothing where no configuration has this run."""
    outputs = f"results/{run}"
    for configuration in sorted(Path("config").glob("*.yaml")):
        if load_merged(configuration).get("outputs") == outputs:
            return f"snakemake {outputs}/{file} --configfile {configuration}"
    return ""
