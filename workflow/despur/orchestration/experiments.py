"""What a paper's room asks of the house: experiments.yaml against the configuration. No torch, no pandas.

A room's ``methods`` say which specification of the house each printed method is: ``cnc+two_sided=false``, or of
another stage ``groups/clusters``, ``stage1/erm``. Its ``artifacts`` say what each table and figure shows: ``datasets``
(the paper's), ``methods`` (their names, or a mapping of names to specifications of the artifact's own, which may
differ by data set of the paper, and be several: grids), ``data`` (settings of the data, ``p_corr=0.5~0.9``), ``needs``
(kinds of files, below; default: metrics) and ``reads`` (files of the room besides its own printed numbers, or other
artifacts: figures read ``projections``). ``selected`` are the methods that run in the place of a grid's unless the
configuration says ``sweep: true``. ``from`` are artifacts whose runs it shows too; without ``datasets`` of its own,
only theirs (of ``methods``, if it names some). ``shows_settings``: made anew when a declared setting changes.
``writes``: the names of its files, where one job makes several tables or figures. A room's ``readings`` are settings,
``colors=released``, that count as the paper's though they are not the default (``despur/reporting/printed.py``). The
configuration may replace ``seeds`` (for all methods, or by method), ``data`` and ``methods`` of an artifact with runs
of its own, of these runs. ``any_method_name``: there its methods may have any name, as tables name runs by their
models."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from despur.specs.names import parse, unknown
from despur.specs.paths import KINDS, ResultPath, chunk_seeds, chunk_size, locate, split_stage
from despur.specs.resolution import change_settings, check_length, resolve

PAPERS = Path(__file__).parents[2] / "papers"
RESULTS = Path("results")
FILES = {  # what an artifact may need of the folders behind its cells, by stage
    "metrics": {"runs": "metrics.csv", "groups": "agreement.csv"},
    "resamples": {"runs": "resamples.parquet"},
    "outputs": {"runs": "outputs.safetensors", "stage1": "outputs.safetensors", "groups": "groups.safetensors"},
    "saliency": {"runs": "saliency.csv"},
    "maps": {"runs": "saliency.safetensors"},
    "models": {"runs": "models.safetensors", "stage1": "models.safetensors"},
    "history": {"runs": "history.csv", "stage1": "history.csv"},
    "about": {"runs": "about.json", "stage1": "about.json", "groups": "about.json"},
    "base_about": {},  # about.json of the stage-1 folders that these folders read
}

# by the first word of an artifact's name: the file of its room that makes it, and what it writes; the report shows the
# first
MADE = {
    "figure": ("figures.py", ("png", "csv", "pdf")),
    "projections": ("projections.py", ("parquet",)),
}
TABLE = ("tables.py", ("html", "csv", "md", "tex"))


@dataclass(frozen=True)
class Cell:
    """One printed method on one data set of a paper, and what plays their parts here."""

    role: str  # the paper's data set
    dataset: str  # what plays its part
    printed: str  # the paper's method
    folders: tuple[str, ...]  # a run folder for each chunk of seeds
    artifact: str = ""  # whose cell it is
    paper: str = ""  # in whose room its settings stand; none: in no room

    @property
    def stand_in(self) -> bool:
        """Whether other data plays the part of the paper's. A part of a data set is called by its setting:
        bios+professions=nurse_surgeon is bios_nurse_surgeon; one of a family may be called by it: living17 is
        breeds_living17."""
        base, settings = parse(self.dataset)
        same = {base, *(f"{base}_{value}" for values in settings.values() for value in values)}
        return self.role not in same and not self.role.endswith(f"_{base}")

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def list_papers() -> list[str]:
    return sorted(p.parent.name for p in PAPERS.glob("*/experiments.yaml"))


@cache
def load_experiments(paper: str) -> dict[str, Any]:
    """A paper's experiments.yaml. Raises SettingError for a paper that has no room."""
    if paper not in list_papers():
        raise unknown("paper", paper, list_papers())
    return yaml.safe_load((PAPERS / paper / "experiments.yaml").read_text())


def list_substitutes(config: Mapping[str, Any], role: str) -> list[str]:
    """What the configuration lets play a data set's part; none: not run."""
    cast = config["datasets"].get(role, [])
    cast = cast["data"] if isinstance(cast, Mapping) else cast
    return [cast] if isinstance(cast, str) else list(cast)


def list_specifications(stated: Any, role: str) -> list[str]:
    """The specifications of a printed method on a data set of the paper: one for all data sets; or one, several or
    none for each."""
    here = stated.get(role, []) if isinstance(stated, Mapping) else stated
    return [here] if isinstance(here, str) else list(here)


def select_methods(config: Mapping[str, Any], role: str, methods: Mapping[str, Any]) -> list[str]:
    """Which of these printed methods the configuration runs on a data set of the paper, which may list some of the
    runs."""
    cast = config["datasets"].get(role)
    chosen = config.get("methods", methods)
    here = cast.get("methods", methods) if isinstance(cast, Mapping) else methods
    return [method for method, name in methods.items() if method in chosen and (method in here or "/" in name)]


def configure_artifact(config: Mapping[str, Any], paper: str, artifact: str) -> dict[str, Any]:
    """What an artifact shows: as its paper's room says (of a grid only what is selected, unless the configuration
    sweeps), changed as the configuration says."""
    here = load_experiments(paper)["artifacts"][artifact]
    selected = {} if config.get("sweep") else {"methods": here["selected"]} if "selected" in here else {}
    return {**here, **selected, **config.get("artifacts", {}).get(paper, {}).get(artifact, {})}


def list_artifact_runs(config: Mapping[str, Any], paper: str, artifact: str) -> list[Cell]:
    """Every cell of an artifact that this configuration runs."""
    here = configure_artifact(config, paper, artifact)
    others = list(
        dict.fromkeys(cell for name in here.get("from", []) for cell in list_artifact_runs(config, paper, name))
    )
    if "datasets" not in here:
        return [cell for cell in others if cell.printed in here.get("methods", [cell.printed])]
    return others + list_own_runs(config, paper, artifact)


def list_own_runs(config: Mapping[str, Any], paper: str, artifact: str) -> list[Cell]:
    """The cells of an artifact that are not those of others."""
    here = {"datasets": [], "methods": {}} | configure_artifact(config, paper, artifact)
    named = (
        here["methods"]
        if isinstance(here["methods"], Mapping)
        else {m: load_experiments(paper)["methods"][m] for m in here["methods"]}
    )
    return [
        Cell(
            role,
            dataset,
            printed,
            list_run_folders(dataset, name, _seeds(config, here.get("seeds"), printed)),
            artifact,
            paper,
        )
        for role in here["datasets"]
        for dataset in (change_settings(player, here.get("data", "")) for player in list_substitutes(config, role))
        for printed in select_methods(config, role, named)
        for name in list_specifications(named[printed], role)
    ]


def list_runs_of_papers(config: Mapping[str, Any]) -> list[Cell]:
    """Every cell of every artifact of the papers that this configuration runs, in their order."""
    return [
        cell
        for paper in config["papers"]
        for artifact in load_experiments(paper)["artifacts"]
        for cell in list_artifact_runs(config, paper, artifact)
    ]


def _seeds(config: Mapping[str, Any], own: Any, method: str) -> int | list[str]:
    """How many seeds a method of an artifact gets: the artifact's own number, its number for this method, or that of
    the whole run."""
    found = own.get(method) if isinstance(own, Mapping) else own
    return config["seeds"] if found is None else found


def list_run_folders(dataset: str, method: str, seeds: int | list[str]) -> tuple[str, ...]:
    """The folders of a method (or ``stage1/BASE``, ``groups/INFERENCE``) on a data set, one for each chunk of seeds."""
    stage, text = split_stage(method)
    name = check_length(resolve(KINDS[stage], text, parse(dataset)[0], "" if stage == "runs" else stage).name)
    result = ResultPath(RESULTS, stage, dataset, name)
    return tuple(
        str(ResultPath(RESULTS, stage, dataset, name, s).folder) for s in chunk_seeds(seeds, chunk_size(result))
    )


def list_inputs(config: Mapping[str, Any], paper: str, artifact: str) -> list[str]:
    """Every file that an artifact reads: its printed numbers, and what it needs of its cells' folders and of their
    data."""
    here = configure_artifact(config, paper, artifact)
    needs, found = here.get("needs", ["metrics"]), []
    for cell in list_artifact_runs(config, paper, artifact):
        for result in map(locate, cell.folders):
            found += [
                result.folder / FILES[kind][result.stage] for kind in needs if result.stage in FILES.get(kind, {})
            ]
            found += [base.folder / "about.json" for base in result.upstream("stage1") if "base_about" in needs]
            found += (
                [result.data.folder / "table.parquet", result.data.folder / "inputs.npy"] if "data" in needs else []
            )
    return sorted({*map(str, found), *list_paper_inputs(config, paper, artifact)})


def list_outputs(config: Mapping[str, Any], paper: str, artifact: str) -> list[str]:
    """The files of an artifact, by name; what the report shows comes first of each."""
    names = load_experiments(paper)["artifacts"].get(artifact, {}).get("writes", [artifact])
    return [
        f"{config.get('outputs', RESULTS)}/papers/{paper}/{name}.{kind}"
        for name in names
        for kind in find_script(artifact)[1]
    ]


def list_paper_inputs(config: Mapping[str, Any], paper: str, artifact: str) -> list[str]:
    """What else an artifact reads: its printed numbers (none for most figures), files of its room and other artifacts
    that it names."""
    here, folder = load_experiments(paper)["artifacts"], Path("workflow/papers") / paper
    own = f"reported/{artifact}.csv"
    found = [str(folder / own)] if (PAPERS / paper / own).exists() else []
    for name in here[artifact].get("reads", []):
        found += list_outputs(config, paper, name) if name in here else [str(folder / name)]
    return found


def list_artifacts(config: Mapping[str, Any], paper: str) -> list[str]:
    """What this configuration makes of a paper, in its room's order: all tables, and what else there is something to
    draw of."""
    return [
        name
        for name in load_experiments(paper)["artifacts"]
        if find_script(name) == TABLE or list_artifact_runs(config, paper, name)
    ]


def find_script(artifact: str) -> tuple[str, tuple[str, ...]]:
    """The file of its room that makes an artifact, and the kinds of files that it writes."""
    return MADE.get(artifact.split("_")[0], TABLE)


def format_label(artifact: str) -> str:
    """``table_a1`` -> ``Table A.1``."""
    words = [f"A.{word[1:]}" if word[:1] == "a" and word[1:].isdigit() else word for word in artifact.split("_")]
    return (
        " ".join(words).capitalize()
        if not any(w.startswith("A.") for w in words)
        else " ".join([words[0].capitalize(), *words[1:]])
    )
