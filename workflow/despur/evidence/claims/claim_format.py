"""claims.yaml: a paper's claims as data that can be checked against its text.

    defaults: {metric: worst_group_accuracy}     # keys of every measurement of the file, unless a claim says otherwise;
                                                 # artifact and datasets: of every claim
    printed:                                     # how the paper's tables (reported/*.csv) call a measurement, where
                                                 # the name differs
      - {of: {metric: gap}, is: {metric: tpr_gap}}
    claims:
      - name: best_without_group_labels
        statement: CNC has the highest worst-group accuracy of all methods without group labels
        place: Sec. 5.1, Table 1
        artifact: table_1                        # whose runs it reads; beside: [...] further ones
        datasets: [cmnist, waterbirds, celeba]   # of the paper; a verdict for each
        contrasts: {higher: cnc, than: [erm, jtt, cim]}
        margin: 0                                # what each contrast must exceed; 0 where left out
        because: "'highest'"                     # the paper's words or numbers behind margin and contrasts

A **measurement** is a mapping of keys: ``method``, ``metric``, ``split`` (test), ``selection`` (best), ``group``
(none), ``dataset`` (the row's), and settings as metrics.csv calls them (``data.p_corr: 0.9``, ``backbone:
clip_rn50``); ``null`` takes a default away. A method alone is a measurement, too. Shares are shares, not percent; a
margin has the unit of its contrast.

``contrasts`` is one of these, with keys that all its measurements share (``metric: linear_top1``):

    higher: A, than: B      A - B
    lower: A, than: B       B - A
    near: A, to: B          A - B and B - A: comparable in both directions, with a margin below 0
    pairs: {A: B, C: D}     A - B, C - D: each method is higher than its own other
    rises_with: KEY         at the highest level of a setting, minus at its lowest
    falls_with: KEY         the reverse
    rank_correlation: [METRIC, METRIC], over: [KEYS], sign: 1 or -1
                            over all points that differ in KEYS (method, data.p_corr, selection, ...): one Spearman
                            correlation a seed, Fisher's z

A, B are a measurement, a list of them, or a number. A measurement may have ``change: {KEY: [FROM, TO]}``: its value
at TO minus that at FROM; so a contrast of two changes is a difference of differences. A key with several values makes
several contrasts, each with a bound of its own: a list, ``[erm, jtt]``; ``every`` level that both sides have; levels
within bounds, ``{above: 0.95, at_most: 1}`` (above, at_least, below, at_most, other_than). ``lowest`` and ``highest``
are single levels. ``other_than`` may be a list. Further words of a contrast:

    mean: {KEY: VALUES}     averages both sides over values of settings, groups, methods, splits, selections, data sets
    scale: log              differences of logarithms, for ratios and all times
    margin: NUMBER          where it differs from the claim's
    counted: true           the value (a number of parameters) is the same for every seed, so that one seed decides

A list of contrasts is a claim about all of them. ``at_least: m`` beside ``contrasts`` requires m of them (``most``:
more than half): of a list, each item counts once, however many contrasts it stands for. Such counts nest:
``{at_least: m, of: [...]}`` ("one of two methods beats all others"), and ``{at_least: m, each: {KEY: VALUES}, of:
...}``, which counts values of a key ("at most levels"). ``given``: contrasts that must lie above 0, else nothing is
decided (an encoder that has collapsed has no gap). ``together: true``: one verdict for all data sets, each of which
gives its contrasts (``each: {dataset: [...]}`` counts them); or for their mean (``mean: {dataset: every}``).

**Margins** are 0: a claim is an order. A magnitude that a sentence prints is a number (reported/prose.csv), not a
margin: a perfect replication would lie on it, and stay undecided. Near and comparable mean ``margin: near``: within the
larger tolerance of numbers, 5 points, or 5 % of what is compared on the scale of logarithms, in both directions.

Every claim is also executed on the numbers that the paper prints, by its own contrasts and margins (or those of
``printed: {contrasts: ...}``, where the printed numbers go by other names). Where they contradict it, ``slip`` says
where; where they are not printed, ``not_printed`` says why; both may be a mapping by data set. A test compares them
with what is found. ``not_executed: why`` in the place of contrasts: it cannot be executed, and is listed.

``levels`` of the file are those that the paper speaks of, by key (``levels: {sigma: [0, 25, 50]}``): on the paper's
data ``every``, ``lowest`` and bounds mean them, and a claim is not run where one of them is missing.
``grid: true`` marks a claim about all settings of the paper's grids: it is not run unless they were. ``about``: order
(where left out), magnitude (a margin or a number on a side), time or size; only orders are looked at on other data
than the paper's. ``primary``: the claim of the paper's verdict, from its abstract or contributions, and where that
needs absent data, one more that is decidable here; its text says which records existed when it was named.
``ours: true``: what no sentence of the paper states; judged as claims are, shown apart, not counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from despur.evidence.claims.read_formulas import read_group
from despur.evidence.statistics.formulas import DEFAULTS, Formulas, read_margin
from despur.evidence.statistics.levels import Levels
from despur.specs.names import unknown
from despur.specs.settings import SettingError
from despur.specs.yaml_files import load_file

FILE_KEYS = ("defaults", "printed", "levels", "claims")
REQUIRED = ("name", "statement", "place", "artifact", "datasets")
ABOUT = ("order", "magnitude", "time", "size")
SIDES = ("higher", "lower", "near", "than", "to")


@dataclass(frozen=True)
class Claim:
    """One claim of claims.yaml, with the defaults of its file."""

    name: str
    statement: str
    place: str
    artifact: str
    datasets: list[str]
    because: str = ""
    contrasts: Any = None
    margin: float = 0.0
    at_least: int | str | None = None
    given: Any = None
    beside: list[str] = field(default_factory=list)
    together: bool = False
    printed: Mapping[str, Any] | None = None
    slip: str | Mapping[str, str] = ""
    not_printed: str | Mapping[str, str] = ""
    not_executed: str = ""
    ours: bool = False
    levels: Mapping[str, list[Any]] = field(default_factory=dict)
    grid: bool = False
    about: str = "order"
    primary: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def artifacts(self) -> tuple[str, ...]:
        """The artifacts whose runs it reads."""
        return (self.artifact, *self.beside)

    @property
    def is_order(self) -> bool:
        """Whether it is about an order alone, which other data than the paper's may show, too."""
        return self.about == "order" and not self.margin and not states_magnitude(self.contrasts)

    @property
    def rows(self) -> list[list[str]]:
        """The data sets of each of its verdicts."""
        return [self.datasets] if self.together else [[name] for name in self.datasets]

    def formulas(self, datasets: Sequence[str], levels: Levels) -> Formulas:
        """Its contrasts on these data sets. Raises Missing where there is no level; SettingError for what the format
        does not know."""
        return self._read({"at_least": self.at_least, "of": self.contrasts}, datasets, levels)

    def conditions(self, datasets: Sequence[str], levels: Levels) -> Formulas:
        """What is given, on these data sets; an empty group if nothing is."""
        return self._read({"of": self.given or [], "margin": 0.0}, datasets, levels)

    def printed_formulas(self, datasets: Sequence[str], levels: Levels) -> Formulas:
        """Its contrasts in the terms of the printed numbers, where those differ."""
        contrasts = (self.printed or {}).get("contrasts", self.contrasts)
        return self._read({"at_least": self.at_least, "of": contrasts}, datasets, levels)

    def _read(self, node: Mapping[str, Any], datasets: Sequence[str], levels: Levels) -> Formulas:
        where = list(datasets) if self.together else datasets[0]
        try:
            return read_group(node, {**DEFAULTS, **self.defaults, "dataset": where, "margin": self.margin}, levels)
        except SettingError as error:
            raise SettingError(f"claim {self.name}: {error}") from error


def read_claims(file: Path) -> tuple[list[Claim], list[dict[str, Any]]]:
    """The claims of a file, and how the paper's tables call what they measure; none where there is no such file.
    Raises SettingError for unknown or missing keys."""
    text = (load_file(file) if file.exists() else {}) or {"claims": []}
    for key in set(text) - set(FILE_KEYS):
        raise unknown(f"{file}: key", key, FILE_KEYS)
    defaults = text.get("defaults", {})
    of_claims = {key: defaults[key] for key in REQUIRED if key in defaults}
    of_measurements = {key: value for key, value in defaults.items() if key not in REQUIRED}
    levels = text.get("levels", {})
    shared = of_claims | ({"levels": levels} if levels else {})
    claims = [read_claim({**shared, **claim}, of_measurements, file) for claim in text["claims"]]
    if repeated := [name for name, count in Counter(claim.name for claim in claims).items() if count > 1]:
        raise SettingError(f"{file}: several claims have the name {', '.join(repeated)}")
    return claims, text.get("printed", [])


def read_levels(file: Path) -> dict[str, list[Any]]:
    """The levels that the paper of a claims.yaml speaks of; none where there is no such file."""
    return (load_file(file) or {}).get("levels", {}) if file.exists() else {}


def states_magnitude(node: Any) -> bool:
    """Whether contrasts have margins of their own, say that something is near, or have a number on a side."""
    if isinstance(node, Mapping):
        numbers = [node[side] for side in SIDES if isinstance(node.get(side), int | float)]
        return bool(node.get("margin")) or any(numbers) or any(map(states_magnitude, node.values()))
    return isinstance(node, list) and any(map(states_magnitude, node))


def read_claim(entries: Mapping[str, Any], defaults: Mapping[str, Any], file: Path) -> Claim:
    """One claim; raises SettingError for unknown or missing keys."""
    where = f"{file}: claim {entries.get('name')}"
    keys = [entry.name for entry in fields(Claim) if entry.name != "defaults"]
    for key in set(entries) - set(keys):
        raise unknown(f"{where}: key", key, keys)
    if missing := [key for key in REQUIRED if key not in entries]:
        raise SettingError(f"{where} has no {', '.join(missing)}")
    if not isinstance(entries["datasets"], list):
        raise SettingError(f"{where}: datasets is {entries['datasets']!r}, not a list of names")
    if (about := entries.get("about", "order")) not in ABOUT:
        raise unknown(f"{where}: about", about, ABOUT)
    if ("contrasts" in entries) == ("not_executed" in entries):
        raise SettingError(f"{where} needs either contrasts, or not_executed and why")
    return Claim(**{**entries, "margin": read_margin(entries.get("margin", 0))}, defaults=defaults)
