"""The files that each table and figure reads and writes. No torch, no pandas."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from despur.orchestration.experiments import RESULTS, configure_artifact, list_artifact_runs, load_experiments
from despur.orchestration.paper_folders import PAPERS, find_paper
from despur.specs.names import unknown
from despur.specs.paths import ResultPath, locate_result
from despur.specs.stages import find_files

# by the first word of an artifact's name: the module of its paper that makes it, and what it writes; the report
# shows the first
MADE = {"figure": ("figures", ("png", "csv", "pdf")), "projections": ("projections", ("parquet",))}
TABLE = ("tables", ("html", "csv", "md", "tex"))
TEMPLATES = ("table.html.jinja", "scorecard.macros.jinja", "scorecard.css")  # of the page of a table


def list_inputs(config: Mapping[str, Any], paper: str, artifact: str) -> list[str]:
    """Every file that an artifact reads: its printed numbers, and what it needs of its runs' folders and of their
    data."""
    kinds = configure_artifact(config, paper, artifact).get("inputs", ["metrics"])
    files: list[Path] = []
    for artifact_run in list_artifact_runs(config, paper, artifact):
        for result in map(locate_result, artifact_run.folders):
            files += list_run_inputs(result, kinds)
    return sorted({*map(str, files), *list_paper_inputs(config, paper, artifact)})


def list_run_inputs(result: ResultPath, kinds: Sequence[str]) -> list[Path]:
    """The files of these kinds (:mod:`despur.specs.stages`) in one folder of results; ``base_about``: about.json of its
    stage-1 models; ``data``: the table and the inputs of its data."""
    files = find_files(result.stage)
    inputs = [result.folder / files[kind] for kind in kinds if kind in files]
    if "base_about" in kinds:
        inputs += [base.folder / "about.json" for base in result.upstream("stage1")]
    if "data" in kinds:
        inputs += [result.data.folder / "table.parquet", result.data.folder / "inputs.npy"]
    return inputs


def list_templates(artifact: str) -> list[str]:
    """The templates of the page of a table, which its job reads, too."""
    return [spell_template(name) for name in TEMPLATES] if find_module(artifact) == TABLE else []


def spell_template(name: str) -> str:
    """The template of a page as jobs name it: from the project's folder; absolute where another workflow uses this one
    as a module, from a folder of its own."""
    file = Path("workflow/report") / name
    return str(file if file.exists() else PAPERS.parents[1] / "report" / name)


def list_outputs(config: Mapping[str, Any], paper: str, artifact: str) -> list[str]:
    """The files of an artifact, by name; what the report shows comes first of each."""
    return [
        f"{config.get('outputs', RESULTS)}/papers/{paper}/{name}.{kind}"
        for name in list_names(paper, artifact)
        for kind in find_module(artifact)[1]
    ]


def list_names(paper: str, artifact: str) -> list[str]:
    """The names of an artifact's files, without their endings: its own, mostly."""
    return load_experiments(paper)["artifacts"].get(artifact, {}).get("writes", [artifact])


def list_paper_outputs(config: Mapping[str, Any], paper: str) -> list[str]:
    """All files of a paper's tables and figures."""
    return [file for artifact in list_artifacts(config, paper) for file in list_outputs(config, paper, artifact)]


def list_paper_inputs(config: Mapping[str, Any], paper: str, artifact: str) -> list[str]:
    """What else an artifact reads: its printed numbers (none for most figures), a table's caption, the files of its
    paper's folder and the other artifacts that it names."""
    here, folder = load_experiments(paper)["artifacts"], spell_folder(paper)
    names = [f"reported/{artifact}.csv", *([f"captions/{artifact}.rst"] if find_module(artifact) == TABLE else [])]
    files_read = [str(folder / file) for file in names if (find_paper(paper) / file).exists()]
    for name in here[artifact].get("reads", []):
        files_read += list_outputs(config, paper, name) if name in here else [str(folder / name)]
    return files_read


def spell_folder(paper: str) -> Path:
    """A paper's folder as jobs name it: from the project's folder; absolute where it lies in an extension."""
    folder = find_paper(paper)
    return Path("workflow/despur/papers") / paper if folder.parent == PAPERS else folder


def list_artifacts(config: Mapping[str, Any], paper: str) -> list[str]:
    """What this configuration makes of a paper, in the order of its experiments.yaml: the tables and figures that have
    runs."""
    return [name for name in load_experiments(paper)["artifacts"] if list_artifact_runs(config, paper, name)]


def sort_for_report(paper: str) -> list[str]:
    """All artifacts of a paper: pictures before tables, else in the order of its experiments.yaml."""
    return sorted(load_experiments(paper)["artifacts"], key=lambda name: find_module(name) == TABLE)


def find_artifacts(paper: str) -> dict[str, str]:
    """By the name of each file of a paper, without its ending: the artifact whose job writes it."""
    return {name: artifact for artifact in load_experiments(paper)["artifacts"] for name in list_names(paper, artifact)}


def locate_artifact(path: Path) -> tuple[str, str]:
    """The paper and the artifact of a file of ``results/papers/PAPER``. Raises SettingError where there is none."""
    paper, artifacts = path.parent.name, find_artifacts(path.parent.name)
    if path.stem not in artifacts:
        raise unknown(f"artifact of {paper}", path.stem, artifacts)
    return paper, artifacts[path.stem]


def find_module(artifact: str) -> tuple[str, tuple[str, ...]]:
    """The module of its paper that makes an artifact, and the kinds of files that it writes."""
    return MADE.get(artifact.split("_")[0], TABLE)


def format_label(artifact: str) -> str:
    """``table_a1`` -> ``Table A.1``."""
    words = [f"A.{word[1:]}" if word[:1] == "a" and word[1:].isdigit() else word for word in artifact.split("_")]
    return " ".join([words[0].capitalize(), *words[1:]])
