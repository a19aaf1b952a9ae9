"""Specifications: components with all their settings, to the last one. One point, or a sweep: every combination of
lists of values."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from despur.specs.declarations import read_declarations
from despur.specs.names import join
from despur.specs.settings import spell


@dataclass(frozen=True)
class Spec:
    """One point, fully resolved. ``changes`` are the settings that differ from the default, spelled canonically.
    ``origins`` say where each of ``settings`` comes from."""

    kind: str
    base_name: str
    settings: dict[str, Any]
    components: dict[str, "Spec"]
    changes: dict[str, str]
    origins: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def name(self) -> str:
        return join(self.base_name, self.changes)

    @property
    def source(self) -> "Spec | None":
        """For a data set of representations: the data set that is represented."""
        return self.components["source"] if self.settings.get("features") == "embedded" else None

    def walk(self, without: Collection[str] = ()) -> Iterator["Spec"]:
        """It and every component that it is built from; ``without`` those that have these keys, such as ``stage1``."""
        yield self
        for key, component in self.components.items():
            if key not in without:
                yield from component.walk(without)

    @property
    def reads_true_attribute(self) -> bool:
        """Whether it, or an inference that it reads, sees the true attribute of training samples."""
        return self.declares("READS_TRUE_GROUPS")

    @property
    def trains_on_attribute(self) -> bool:
        """The same, of training or validation samples."""
        return self.reads_true_attribute or self.declares("READS_VALIDATION_GROUPS")

    def declares(self, flag: str) -> bool:
        """Whether the file of it, or of a component that it reads, sets a flag."""
        return any(read_declarations(part.kind, part.base_name).get(flag) for part in self.walk())

    def seed(self, seed: int) -> int:
        """The seed of a run: ``seed``, or 0 where nothing is drawn (``SEEDLESS``)."""
        return 0 if read_declarations(self.kind, self.base_name).get("SEEDLESS") else seed

    def value(self, key: str) -> Any:
        """The resolved value behind a key, dotted or not."""
        if key in self.settings:
            return self.settings[key]
        head, _, rest = key.partition(".")
        if head in self.components:
            return self.components[head].value(rest)
        return self.components["groups"].value(key)

    def resolved(self) -> dict[str, Any]:
        """Everything that decides the numbers of a result, as plain data."""
        return {
            "name": self.base_name,
            **self.settings,
            **{key: component.resolved() for key, component in self.components.items()},
        }


@dataclass(frozen=True)
class Sweep:
    """What a name means: one point, or every combination of its lists."""

    kind: str
    base_name: str
    overrides: dict[str, list[str]]
    points: list[Spec]

    @cached_property
    def name(self) -> str:
        kept = {}
        for key in self.overrides:
            values = list(dict.fromkeys(spell(v) for v in sorted({p.value(key) for p in self.points}, key=_order)))
            if len(values) > 1 or any(key in p.changes for p in self.points):
                kept[key] = "~".join(values)
        return join(self.base_name, kept)

    @property
    def swept(self) -> list[str]:
        """Keys that take several values in this sweep."""
        return [key for key in sorted(self.overrides) if len({p.value(key) for p in self.points}) > 1]

    def subsweeps(self, key: str) -> list["Sweep"]:
        """The sweeps of a component (``groups``, ``stage1``) that this sweep reads: one for each of its names and of
        its stage 1."""
        alike: dict[tuple[str, str], dict[str, Spec]] = {}
        for component in (p.components[key] for p in self.points if key in p.components):
            alike.setdefault((component.base_name, component.settings.get("stage1", "")), {})[component.name] = (
                component
            )
        sweeps = []
        for (base, _), named in alike.items():
            points = list(named.values())
            changed = {
                k: list(dict.fromkeys(spell(p.value(k)) for p in points)) for point in points for k in point.changes
            }
            sweeps.append(Sweep(points[0].kind, base, changed, points))
        return sweeps


def _order(value: Any) -> tuple[bool, Any]:
    return (isinstance(value, str), value)
