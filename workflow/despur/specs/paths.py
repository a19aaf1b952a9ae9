"""Result paths (docs/result_paths.md): the folder of each result, and the runs that a path names.

A point is a specification in which each setting has one value; a name with ``~`` stands for several."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from despur.specs.declarations import read_declarations
from despur.specs.names import parse, shorten, show_text
from despur.specs.resolution import draw_for_seeds, resolve, resolve_canonical
from despur.specs.settings import SettingError, spell
from despur.specs.spec import Spec, Sweep
from despur.specs.stages import FOLDERS, PARTS, STAGES

NAME = r"[a-z][a-z0-9_]*(?:[+][a-z0-9_.]+=[A-Za-z0-9_.~-]+)*"
BY_SEED = tuple(folder for folder in FOLDERS if folder != "data")  # folders of results of a name and seeds
MOST_SEEDS = 1000  # of one path; more would fill memory before anything runs
SEEDS = r"s(?:0|[1-9][0-9]*)(?:-[1-9][0-9]*)?"
DATASET = ("data set, as cmnist or cmnist+p_corr=0.9", NAME)  # the parts of a path, in words, and how they are spelled
COMPONENT = ("name, as cnc or cnc+lambda=0.5", NAME)
RANGE = ("range of seeds, as s0 (one) or s0-2 (0 to 2)", SEEDS)
WANTED = {"data": (DATASET,), **dict.fromkeys(BY_SEED, (DATASET, COMPONENT, RANGE))}  # after the folder of a stage


def data_root() -> Path:
    """Where raw data lies."""
    return Path(os.environ.get("DESPUR_DATA_ROOT", "data"))


@dataclass(frozen=True)
class ResultPath:
    """The folder of a result: ``root/folder of the stage/dataset[/name/seeds]``."""

    root: Path
    stage: str
    dataset: str
    name: str = ""
    seeds: str = ""

    @property
    def folder(self) -> Path:
        return self.root.joinpath(*filter(None, (STAGES[self.stage].folder, self.dataset, self.name, self.seeds)))

    @property
    def datasets(self) -> Sweep:
        return resolve_canonical("datasets", self.dataset)

    @property
    def sweep(self) -> Sweep:
        stage = STAGES[self.stage]
        return resolve_canonical(stage.components, self.name, parse(self.dataset)[0], stage.part)

    @property
    def data(self) -> "ResultPath":
        """The folder of the data that these seeds read."""
        return ResultPath(self.root, "data", draw_for_seeds(self.dataset, parse_seeds(self.seeds)))

    def upstream(self, component: str) -> list["ResultPath"]:
        """The folders of a component (``groups``, ``stage1``) that this result reads. Where neither the data
        nor the component depends on the seed, all seeds read the same folder, ``s0``.

        For a data set of representations: the folder of the model that computes them, with seed 0. The model is ERM,
        or the BASE that the data set declares."""
        if self.stage == "data":
            sources = dict.fromkeys(
                (p.source.name, p.source.base_name) for p in self.datasets.points if p.source and component == "stage1"
            )
            return [
                ResultPath(self.root, "stage1", name, read_declarations("datasets", base).get("BASE", "erm"), "s0")
                for name, base in sources
            ]
        drawn = draw_for_seeds(self.dataset, parse_seeds(self.seeds)) != self.dataset
        return [
            ResultPath(
                self.root, component, self.dataset, sweep.name, self.seeds if drawn or sweep.points[0].seed(1) else "s0"
            )
            for sweep in self.sweep.subsweeps(component)
        ]

    def list_earlier(self) -> list["ResultPath"]:
        """The results that this one is made from: its data, its groups, its stage-1 models."""
        data = [] if self.stage == "data" else [self.data]
        return [*data, *(earlier for part in PARTS for earlier in self.upstream(part))]

    def find_upstream(self, component: str, run: "Run") -> "ResultPath":
        """Of the folders of a component (:meth:`upstream`), that which one of the runs of this result reads."""
        base_name = run.spec.components[component].base_name
        return next(path for path in self.upstream(component) if path.sweep.base_name == base_name)

    def runs(self) -> list["Run"]:
        """Every run of this path: data set point x point x seed."""
        every = [
            Run(resolve("datasets", draw_for_seeds(data.name, [seed])).points[0], point, point.seed(seed))
            for data in self.datasets.points
            for point in self.sweep.points
            for seed in parse_seeds(self.seeds)
        ]
        return list({run.key: run for run in every}.values())


@dataclass(frozen=True)
class Run:
    """One data set point, one point of the method (stage-1 model, inference), one seed."""

    data: Spec
    spec: Spec
    seed: int

    @property
    def key(self) -> str:
        """The key of this run in the ``.safetensors`` files of its folder; also what its randomness is derived from."""
        return f"{self.data.name}/{self.spec.name}/s{self.seed}"

    def find_upstream_key(self, component: str) -> str:
        """The key of the run of the stage-1 model or of the inference (``stage1``, ``groups``) that this run reads."""
        spec = self.spec.components[component]
        return f"{self.data.name}/{spec.name}/s{spec.seed(self.seed)}"


def spell_split_key(key: str, split: str) -> str:
    """The key of what an inference gives the samples of a split: ``key`` itself for the training samples."""
    return key if split == "train" else f"{key}/{split}"


def identify_run(result: ResultPath, run: Run) -> dict[str, Any]:
    """The columns that say which run a row is of: data set, method, the settings that the sweeps vary, seed."""
    method = {key: spell(run.spec.value(key)) for key in result.sweep.swept}
    data = {f"data.{key}": spell(run.data.value(key)) for key in result.datasets.swept}
    return {"dataset": run.data.name, "method": run.spec.name, **method, **data, "seed": run.seed}


def locate_result(path: str | Path) -> ResultPath:
    """The result path of a result's folder or of any file in it. Raises SettingError for any other path."""
    folders = str(path).removesuffix("/").split("/")
    starts = [place for place, folder in enumerate(folders) if folder in WANTED]
    faults = [find_fault(folders[start:]) for start in starts]
    if "" not in faults:
        fault = faults[-1] if faults else f"none of its folders is {', '.join(WANTED)}"
        raise SettingError(
            f"{show_text(str(path))}: {fault}. A result is results/data/DATASET or "
            f"results/{{{','.join(BY_SEED)}}}/DATASET/NAME/SEEDS, for example results/runs/colored_digits/cnc/s0-2"
        )
    start = max(start for start, fault in zip(starts, faults, strict=True) if not fault)
    stage, *parts = folders[start:]
    root = Path("/".join([*folders[:start], ""]) or ".")
    return ResultPath(root, stage, *parts[: len(WANTED[stage])])


def find_fault(folders: Sequence[str]) -> str:
    """Which part of a path, read from the folder of a stage on, is not that of a result; empty where all are."""
    stage, *parts = folders
    wanted = WANTED[stage]
    for part, (words, pattern) in zip(parts, wanted, strict=False):
        if not re.fullmatch(pattern, part):
            return f"{shorten(repr(part))} is no {words}"
    if len(parts) < len(wanted):
        return f"it lacks a {wanted[len(parts)][0]}"
    file = "/".join(parts[len(wanted) :])
    return "" if re.fullmatch(r"[\w.]*", file) else f"{shorten(file)} is no file in it"


def parse_seeds(text: str) -> list[int]:
    """``s0-2`` -> [0, 1, 2]; ``s4`` -> [4]."""
    first, _, last = text[1:].partition("-")
    if not re.fullmatch(SEEDS, text) or max(len(first), len(last)) > len(str(MOST_SEEDS)):
        raise SettingError(f"{shorten(repr(text))}: seeds are s0 or s0-2, below {10 * MOST_SEEDS:,}")
    if last and int(last) <= int(first):
        raise SettingError(f"{text}: the last seed must come after the first; one seed is s{first}")
    if int(last or first) - int(first) >= MOST_SEEDS:
        raise SettingError(f"{text}: more than {MOST_SEEDS:,} seeds")
    return list(range(int(first), int(last or first) + 1))


def chunk_seeds(seeds: int | Sequence[str], size: int) -> list[str]:
    """Seeds in chunks, one for each job: a number of seeds in chunks of ``size`` (7 by 5: ``s0-4``, ``s5-6``),
    or the ranges that are given, which must not overlap."""
    if isinstance(seeds, int) and seeds > MOST_SEEDS:
        raise SettingError(f"seeds {seeds}: at most {MOST_SEEDS:,}")
    if not isinstance(seeds, int):
        every = [seed for text in seeds for seed in parse_seeds(f"s{text}")]
        if len(set(every)) < len(every):
            raise SettingError(f"seeds {list(seeds)}: a seed is named twice")
        return [f"s{text}" for text in seeds]
    spans = [(first, min(first + size, seeds) - 1) for first in range(0, seeds, size)]
    return [f"s{first}-{last}" if last > first else f"s{first}" for first, last in spans]


def chunk_size(result: ResultPath) -> int:
    """How many seeds of a method, stage-1 model or inference are trained in one job. Its encoder declares it."""
    stage = STAGES[result.stage]
    spec = resolve(stage.components, result.name, parse(result.dataset)[0], stage.part).points[0]
    encoder = next((part for part in spec.walk() if part.kind == "encoders"), None)
    return read_declarations("encoders", encoder.base_name).get("SEED_CHUNK", 5) if encoder else 5
