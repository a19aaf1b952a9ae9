"""The runs behind each table and figure: a paper's experiments.yaml, as the configuration changes it. No torch, no
pandas.

Keys of experiments.yaml:
- ``title``, ``datasets``: of the paper, and the paper's data sets;
- ``methods``: which specification each printed method is: ``cnc+two_sided=false``, or of another stage
  ``groups/clusters``, ``stage1/erm``;
- ``data``: by the paper's data set, its settings in this paper (``waterbirds: fit=clip``), where the data set itself is
  used and the configuration names none of them;
- ``accepted_variants``: settings, ``colors=released``, that count as the paper's though they are not the default
  (``despur/evidence/runs/changed_settings.py``);
- ``choices``: settings that the paper leaves open, ``simclr+encoder.width=16``, and where; numbers may support one
  (``despur/evidence/numbers/choices.py``);
- ``open``: further settings that it leaves open, by method or data set (``methods``: all methods);
- ``printed_points``: of a method, ``at`` which settings the paper prints the ``point`` of its grid that it selected;
- ``fitted``: settings that were ``found_on`` printed ``numbers`` (columns of reported/*.csv), of ``methods``: these
  numbers are never compared, others of the methods are counted apart (``despur/evidence/numbers/settings.py``);
- ``sentences``: of the numbers that sentences state (``despur/evidence/sentences/sentence_format.py``);
- ``artifacts``: its tables and figures.

Keys of an artifact:
- ``datasets``: the paper's data sets;
- ``methods``: their names, or a mapping of names to specifications of the artifact's own, which may differ by data set
  of the paper, and be several (grids); ``any_method_name``: a configuration may give them any name;
- ``data``: settings of the data, ``p_corr=0.5~0.9``;
- ``inputs``: kinds of files of its runs (``despur/specs/stages.py``; default: metrics);
- ``can_lack``: kinds of its inputs without which it is still made of what was measured elsewhere;
- ``reads``: files of the paper's folder besides its own printed numbers, or other artifacts (``projections``);
- ``from``: artifacts whose runs it shows, too; without ``datasets`` only theirs (of ``methods``, if it names some);
- ``selected``: the methods that run instead of a grid's unless the configuration says ``sweep: true``;
- ``screened``: ``runs`` of a method, ``at`` these settings of the data, that a cheap run of its grid (``how``) left
  over; they run besides those that are selected;
- ``shows_settings``: made anew when a declared setting changes;
- ``writes``: the names of its files, where one job makes several tables or figures.

The configuration may replace ``seeds``, ``data`` and ``methods`` of an artifact with runs of its own, give all its
methods ``settings``, and leave it out (``made: false``)."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from despur.orchestration.paper_folders import find_paper
from despur.orchestration.screenings import list_screenings
from despur.specs.names import change_settings, parse, split_stage
from despur.specs.paths import ResultPath, chunk_seeds, chunk_size, locate_result
from despur.specs.resolution import change_data, check_length, resolve
from despur.specs.stages import STAGES
from despur.specs.yaml_files import load_file

RESULTS = Path("results")
REFERENCE, LEDGER = RESULTS / "reference", RESULTS / "ledger"  # kept: what full runs measured, a record for each run
PUBLISHED = Path("config/published.yaml")  # everything that the papers print


@dataclass(frozen=True)
class ArtifactRun:
    """One printed method on one data set of a paper, and the runs and data that stand for them here."""

    paper_dataset: str  # the paper's data set
    dataset: str  # the data set that is used for it
    paper_method: str  # the paper's method
    folders: tuple[str, ...]  # a run folder for each chunk of seeds
    artifact: str = ""  # the table or figure that shows it
    paper: str = ""  # in whose folder its settings stand; none: in none
    sources: tuple[tuple[str, str], ...] = ()  # runs and where each was measured; none: in ``folders``

    @property
    def result(self) -> ResultPath:
        """The folder of its first seeds; the others differ in their seeds only."""
        return locate_result(self.folders[0])

    @property
    def substitute(self) -> bool:
        return is_substitute(self.paper_dataset, self.dataset)


def is_substitute(paper_dataset: str, dataset: str) -> bool:
    """Whether other data is used for the paper's. A subset of a data set is called by its setting:
    bios+professions=nurse_surgeon is bios_nurse_surgeon; one of a family may be called by it: living17 is
    breeds_living17."""
    base, settings = parse(dataset)
    same = {base, *(f"{base}_{value}" for values in settings.values() for value in values)}
    return paper_dataset not in same and not paper_dataset.endswith(f"_{base}")


@cache
def load_experiments(paper: str) -> dict[str, Any]:
    """A paper's experiments.yaml. Raises SettingError for a paper that has no folder."""
    return load_file(find_paper(paper) / "experiments.yaml")


def list_substitutes(config: Mapping[str, Any], paper_dataset: str) -> list[str]:
    """The data sets that the configuration uses for a paper's data set; none: not run."""
    chosen = config["datasets"].get(paper_dataset, [])
    if isinstance(chosen, Mapping):
        chosen = chosen["data"]
    return [chosen] if isinstance(chosen, str) else list(chosen)


def list_specifications(entry: Any, paper_dataset: str) -> list[str]:
    """The specifications of a printed method on a data set of the paper: one for all data sets; or one, several or
    none for each."""
    here = entry.get(paper_dataset, []) if isinstance(entry, Mapping) else entry
    return [here] if isinstance(here, str) else list(here)


def select_methods(config: Mapping[str, Any], paper_dataset: str, methods: Mapping[str, Any]) -> dict[str, str]:
    """Which of these printed methods the configuration runs on a data set of the paper, which may list some of the
    runs, and the settings that it gives each there, such as ``stage1.epochs=10``. Other stages (``stage1/erm``) run for
    all."""
    chosen, entry = config.get("methods", methods), config["datasets"].get(paper_dataset)
    listed = entry.get("methods") if isinstance(entry, Mapping) else None
    settings = listed if isinstance(listed, Mapping) else {}
    here = methods if listed is None else listed
    selected = [method for method, name in methods.items() if method in chosen and (method in here or "/" in name)]
    return {method: str(settings.get(method, "")) for method in selected}


def configure_artifact(config: Mapping[str, Any], paper: str, artifact: str) -> dict[str, Any]:
    """What an artifact shows: as its paper says (of a grid only what is selected or screened, unless the configuration
    sweeps), changed as the configuration says. With methods or settings of its own it runs nothing that is screened."""
    here = load_experiments(paper)["artifacts"][artifact]
    changes = config.get("artifacts", {}).get(paper, {}).get(artifact, {})
    if "selected" in here and not config.get("sweep"):
        here = here | {"methods": here["selected"]}
    if config.get("sweep") or "methods" in changes or changes.get("settings"):
        here = here | {"screened": []}
    return {**here, **changes}


def list_artifact_runs(config: Mapping[str, Any], paper: str, artifact: str) -> list[ArtifactRun]:
    """All runs of an artifact in this configuration; none of one that it leaves out."""
    here = configure_artifact(config, paper, artifact)
    if not here.get("made", True):
        return []
    runs = list(dict.fromkeys(run for name in here.get("from", []) for run in list_artifact_runs(config, paper, name)))
    if "datasets" in here:
        return runs + list_own_runs(config, paper, artifact)
    return [run for run in runs if run.paper_method in here.get("methods", [run.paper_method])]


def list_own_runs(config: Mapping[str, Any], paper: str, artifact: str) -> list[ArtifactRun]:
    """The runs of an artifact that are not those of others."""
    here = configure_artifact(config, paper, artifact)
    methods = here.get("methods", {})
    if not isinstance(methods, Mapping):
        methods = {name: load_experiments(paper)["methods"][name] for name in methods}
    runs, settings = [], here.get("settings", "")
    seeds = here.get("seeds", config["seeds"])  # for all methods, or by method
    for paper_dataset in here.get("datasets", []):
        used = [_apply_paper_settings(paper, paper_dataset, data) for data in list_substitutes(config, paper_dataset)]
        datasets = [change_data(data, here.get("data", "")) for data in used]
        selected = select_methods(config, paper_dataset, methods)
        for dataset, (method, own) in itertools.product(datasets, selected.items()):
            method_seeds = seeds.get(method, config["seeds"]) if isinstance(seeds, Mapping) else seeds
            names = [change_settings(name, own) for name in list_specifications(methods[method], paper_dataset)]
            left_over = [] if own else _list_screened(here, paper_dataset, dataset, method)
            screened = [run for run in left_over if run[1] not in names]
            for data, name in [*itertools.product([dataset], names), *screened]:
                folders = list_run_folders(data, change_settings(name, settings), method_seeds)
                runs.append(ArtifactRun(paper_dataset, data, method, folders, artifact, paper))
    return runs


def _list_screened(artifact: Mapping[str, Any], paper_dataset: str, dataset: str, method: str) -> list[tuple[str, str]]:
    """Data and specification of each run that a screening of a printed method left over; none on a substitute, which it
    was not screened on."""
    points = () if is_substitute(paper_dataset, dataset) else resolve("datasets", dataset).points
    return [(p.name, name) for p in points for rule in list_screenings(artifact, method, p) for name in rule["runs"]]


def _apply_paper_settings(paper: str, paper_dataset: str, dataset: str) -> str:
    """A data set as the configuration uses it, with the settings that it has in this paper; a substitute as it is."""
    text = load_experiments(paper).get("data", {}).get(paper_dataset, "")
    if not text or is_substitute(paper_dataset, dataset):
        return dataset
    named = parse(dataset)[1]
    return change_data(dataset, "+".join(item for item in text.split("+") if item.partition("=")[0] not in named))


def list_runs_of_papers(config: Mapping[str, Any]) -> list[ArtifactRun]:
    """All runs of all artifacts of the papers of this configuration, in their order."""
    return [
        artifact_run
        for paper in config["papers"]
        for artifact in load_experiments(paper)["artifacts"]
        for artifact_run in list_artifact_runs(config, paper, artifact)
    ]


def list_run_folders(dataset: str, method: str, seeds: int | list[str]) -> tuple[str, ...]:
    """The folders of a method (or ``stage1/BASE``, ``groups/INFERENCE``) on a data set, one for each chunk of seeds."""
    stage, text = split_stage(method)
    name = check_length(resolve(STAGES[stage].components, text, parse(dataset)[0], STAGES[stage].part).name)
    result = ResultPath(RESULTS, stage, dataset, name)
    return tuple(str(replace(result, seeds=chunk).folder) for chunk in chunk_seeds(seeds, chunk_size(result)))
