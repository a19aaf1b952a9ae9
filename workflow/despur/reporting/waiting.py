"""The printed numbers and claims that wait for a run: of the paper's own data, at its settings."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from despur.evidence.claims.claim_format import Claim
from despur.evidence.numbers.printed import at_settings, explain_not_compared, is_same, parse_settings
from despur.evidence.numbers.settings import list_fitted_rules, list_unselected, split_names, was_found_on
from despur.evidence.runs.changed_settings import describe_changes, name_data
from despur.evidence.runs.grids import MeasuredMethods, describe_grid, name_family
from despur.evidence.runs.sources import Sources, list_runs
from despur.evidence.sentences.sentence_format import read_formula
from despur.evidence.statistics.contrasts import SEEDS
from despur.evidence.statistics.levels import MeasurementKeys, is_many, list_single_values
from despur.orchestration.configuration import list_method_names
from despur.orchestration.experiments import ArtifactRun, load_experiments
from despur.specs.declarations import read_declarations
from despur.specs.names import parse
from despur.specs.paths import identify_run, locate_result
from despur.specs.resolution import change_data, resolve
from despur.specs.settings import spell

COMPARED = ("percent", "fraction", "pp", "ratio")  # units of the printed numbers that are compared


@dataclass(frozen=True)
class StatedLevels:
    """Those that a setting has, whatever is fixed besides."""

    of_setting: list[Any]

    def levels(self, key: str, measurement: MeasurementKeys) -> list[Any]:
        return self.of_setting


def describe_points(
    artifact_run: ArtifactRun, sources: Sources, now: MeasuredMethods, then: MeasuredMethods
) -> pd.DataFrame:
    """The points of a run with their settings, as metrics.csv names them; whether each has the seeds that a comparison
    needs now (``compared``), or with the open runs (``settled``). ``untuned``, ``partial``: the settings that the paper
    selects from a grid and that nothing selects among the methods that are measured ``now``, or ``then``; that are not
    searched in full (:class:`Grid`)."""
    result, rows = locate_result(artifact_run.folders[0]), []
    planned = {run.key for folder in artifact_run.folders for run in locate_result(folder).runs()}
    for runs in list_runs(artifact_run, SEEDS).values():
        keys, enough = {run.key for run in runs}, len(runs) >= SEEDS
        compared, settled = (enough and keys <= measured for measured in ({*sources.where}, {*sources.where} | planned))
        data = name_data(artifact_run, runs[0].data.name)
        state = {"data": data, "compared": compared, "settled": settled and not compared}
        family, method = name_family(artifact_run, data), runs[0].spec.name
        methods = (now if compared else then).get(family, frozenset())
        grid = describe_grid(artifact_run, data, method, methods)
        rows.append(identify_run(result, runs[0]) | state | {"untuned": grid.untuned, "partial": grid.partial})
    return pd.DataFrame(rows)


def find_numbers(
    printed: pd.DataFrame, artifact: str, artifact_run: ArtifactRun, points: pd.DataFrame, state: str
) -> Iterator[int]:
    """The positions of the printed numbers of an artifact that are of a point in this ``state``: ``compared``, or
    ``settled`` with the open runs."""
    rows = (printed["paper_dataset"] == artifact_run.paper_dataset) & (printed["method"] == artifact_run.paper_method)
    rows &= printed["artifact"] == artifact
    for number in printed[rows & printed["unit"].isin(COMPARED)].itertuples():
        if not reads_run(number, artifact_run):
            continue
        mine = at_settings(points, number.setting)
        pairs = list(zip(mine["data"], mine["method"], strict=True))
        same = [is_compared(artifact_run, number.setting, *pair) for pair in pairs]
        grid = artifact_run.paper, artifact_run.artifact
        tuned = [not list_unselected(*grid, untuned, number.setting) for untuned in mine["untuned"]]
        unseen = [
            not was_found_on(list_fitted_rules(artifact_run.paper, number.method, *pair), number) for pair in pairs
        ]
        mine = mine[pd.DataFrame([same, tuned, unseen], columns=mine.index, dtype=bool).all()]
        if mine[state].any():
            yield int(number.Index)


def reads_run(number: Any, artifact_run: ArtifactRun) -> bool:
    """Whether a printed number is of a run of this artifact and on this point of the data. One of a sentence reads the
    artifact that its formula names."""
    formula = read_formula(number.formula) if isinstance(number.formula, str) else {}
    named = [formula, parse_settings(number.setting)]
    return formula.get("artifact", artifact_run.artifact) == artifact_run.artifact and reads_data(named, artifact_run)


def reads_data(node: Any, artifact_run: ArtifactRun, levels: Mapping[str, list[Any]] = MappingProxyType({})) -> bool:
    """Whether a formula is of this point of the data: of each setting of the data that the artifact varies, it names
    the value; where it does not name the setting, it is of the default. ``levels``: those that the paper speaks of,
    where these are not those of the artifact."""
    declared = load_experiments(artifact_run.paper)["artifacts"][artifact_run.artifact].get("data", "")
    (point,) = resolve("datasets", artifact_run.dataset).points
    for key, values in parse(change_data(point.base_name, declared))[1].items():
        default = read_declarations("datasets", point.base_name)["SETTINGS"][key].default
        named = list_levels(node, key, levels.get(f"data.{key}", levels.get(key, list(values)))) or [default]
        if len(values) > 1 and not any(is_same(spell(point.settings[key]), value) for value in named):
            return False
    return True


def list_levels(node: Any, key: str, levels: list[Any]) -> list[Any]:
    """Which of these levels of a setting of the data a formula names anywhere: itself, by a word (``every``), as the
    ends of a trend, or as that over which a correlation is taken."""
    found: list[Any] = []
    for name in (key, f"data.{key}"):
        found += find_values(node, name)
        found += ["lowest", "highest"] * any(name in find_values(node, trend) for trend in ("rises_with", "falls_with"))
        found += ["every"] * any(name in over for over in find_values(node, "over"))
    plain = itertools.chain(*(value if isinstance(value, list) else [value] for value in found))
    stated = StatedLevels(levels)
    return [
        level
        for value in plain
        for level in (list_single_values(key, value, [{}], stated) if is_many(value) else [value])
    ]


def find_values(node: Any, key: str) -> Iterator[Any]:
    """Every value of a key of a nested value."""
    if isinstance(node, Mapping):
        yield from (value for name, value in node.items() if name == key)
        yield from itertools.chain(*(find_values(value, key) for value in node.values()))
    elif isinstance(node, list):
        yield from itertools.chain(*(find_values(value, key) for value in node))


def is_compared(artifact_run: ArtifactRun, setting: Any, data: str, method: str) -> bool:
    """Whether a point has the data and settings of a printed number."""
    changes = parse_settings(describe_changes(artifact_run, data, method))
    return not explain_not_compared(setting, data, artifact_run.substitute, changes)


def find_claims(claims: Iterable[Claim], artifact_run: ArtifactRun, points: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """(claim, data sets) of the claims about the paper's own data that read open runs, perhaps besides others."""
    settled = points[points["settled"]]
    if artifact_run.substitute or not len(settled):
        return
    for claim in claims:
        if reads_points(claim, artifact_run, settled):
            yield from ((claim.name, ", ".join(names)) for names in claim.rows if artifact_run.paper_dataset in names)


def reads_points(claim: Claim, artifact_run: ArtifactRun, points: pd.DataFrame) -> bool:
    """Whether a claim is judged by points of a run of this artifact: where it does not name settings that the paper
    selects from a grid, they are selected. One that names no method reads all of its artifacts."""
    formula = [claim.contrasts, claim.given, claim.defaults]
    words = {*list_words(formula)}
    methods = list_method_names(artifact_run.paper) & words or {artifact_run.paper_method}
    return (
        not (claim.not_executed or claim.ours)
        and artifact_run.artifact in claim.artifacts
        and artifact_run.paper_method in methods
        and reads_data(formula, artifact_run, claim.levels)
        and any(split_names(names) <= words for names in points["partial" if claim.grid else "untuned"])
    )


def list_words(node: Any) -> Iterator[str]:
    """Every word of a nested value, keys as well."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        yield from list_words([*node, *node.values()])
    elif isinstance(node, list):
        for item in node:
            yield from list_words(item)
