"""What a paper's room asks of the house: experiments.yaml against the configuration. No torch, no pandas."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from despur.paths import Place, chunk_size, chunks
from despur.settings import SettingError
from despur.spec import canonical, parse, resolve, unknown

PAPERS = Path(__file__).parent.parent / "papers"
RESULTS = Path("results")


@dataclass(frozen=True)
class Cell:
    """One printed method on one data set of a paper, and what plays their parts here."""

    role: str  # the paper's data set
    dataset: str  # what plays its part
    printed: str  # the paper's method
    folders: tuple[str, ...]  # a run folder for each chunk of seeds

    @property
    def stand_in(self) -> bool:
        """Whether other data plays the part of the paper's."""
        return parse(self.dataset)[0] != self.role

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def papers() -> list[str]:
    return sorted(p.parent.name for p in PAPERS.glob("*/experiments.yaml"))


@cache
def room(paper: str) -> dict[str, Any]:
    """A paper's experiments.yaml. Raises SettingError for a paper that has no room."""
    if paper not in papers():
        raise unknown("paper", paper, papers())
    return yaml.safe_load((PAPERS / paper / "experiments.yaml").read_text())


def players(config: Mapping[str, Any], role: str) -> list[str]:
    """What the configuration lets play a data set's part; none: not run."""
    cast = config["datasets"].get(role, [])
    return [cast] if isinstance(cast, str) else list(cast)


def check_keys(config: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Refuse unknown keys and values of the wrong type or range; the message says what the key is for."""
    known = schema["properties"]
    for key in config:
        if key not in known:
            raise unknown("config key", key, known)
    error = best_match(Draft202012Validator(schema).iter_errors(dict(config)))
    if error is not None:
        named = str(next(iter(error.absolute_path), "missing"))
        purpose = f" ({named}: {known[named]['description'].strip()})" if named in known else ""
        raise SettingError(f"config key {named}: {error.message}{purpose}")


def check(config: Mapping[str, Any]) -> None:
    """Refuse papers, data sets and methods that do not exist, before any job starts; the message names the nearest that does."""
    asked = [room(paper) for paper in config["papers"]]
    roles, methods = ({name for here in asked for name in here[key]} for key in ("datasets", "methods"))
    for role in config["datasets"]:
        if role not in roles:
            raise unknown("config key datasets: data set", role, roles)
        for name in players(config, role):
            canonical("datasets", name)
    try:
        chunks(config["seeds"], 1)
    except SettingError as error:
        raise SettingError(f"config key seeds: {error}") from None
    for method in config.get("methods", []):
        if method not in methods:
            raise unknown("config key methods: method", method, methods)


def cells(config: Mapping[str, Any], paper: str, artifact: str) -> list[Cell]:
    """Every cell of an artifact that this configuration runs."""
    here = room(paper)
    asked = here["artifacts"][artifact]
    wanted = [m for m in asked["methods"] if m in config.get("methods", asked["methods"])]
    return [
        Cell(role, dataset, printed, run_folders(config, dataset, here["methods"][printed]))
        for role in asked["datasets"]
        for dataset in players(config, role)
        for printed in wanted
    ]


def run_folders(config: Mapping[str, Any], dataset: str, method: str) -> tuple[str, ...]:
    """The run folders of a method on a data set, one for each chunk of seeds."""
    name = resolve("methods", method, parse(dataset)[0]).name
    seeds = chunks(config["seeds"], chunk_size(name, dataset))
    return tuple(str(Place(RESULTS, "runs", dataset, name, s).folder) for s in seeds)
