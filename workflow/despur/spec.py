"""Names and specifications: what ``cnc+lambda=0.5+stage1.epochs=1`` on ``cmnist`` means, to the last setting.

A name is ``base+key=value+...``; a value may be a list, ``0.2~0.4`` (a sweep). Each name has one canonical
spelling: keys sorted, defaults dropped, one spelling per number. The folders of this package are the registry;
their files' declarations are read without being run, so that names resolve in milliseconds, without torch.
"""

import ast
import difflib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from despur import settings
from despur.settings import SettingError, Settings, spell

PACKAGE = Path(__file__).parent
LONGEST = 200  # characters: file systems allow 255 bytes
DECLARATIONS = {"SETTINGS", "PUBLISHED", "BASE", "READS_TRUE_GROUPS", "READS_VALIDATION_GROUPS", "SEED_CHUNK", "SEEDLESS"}


def available(kind: str) -> list[str]:
    """Names in a folder of the package (datasets, encoders, inference, methods): the folder is the registry."""
    return sorted(p.stem for p in (PACKAGE / kind).glob("*.py") if p.stem not in ("__init__", "base"))


def unknown(what: str, name: str, known: Iterable[str]) -> SettingError:
    """The error for a name that does not exist: says what exists and what is nearest."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return SettingError(f"unknown {what} {name!r}{hint} Known: {', '.join(known) or 'none'}")


@cache
def declared(kind: str, name: str) -> dict[str, Any]:
    """The declarations (SETTINGS, PUBLISHED, ...) at the top of a component's file, without running the file."""
    if name not in available(kind):
        raise unknown(kind, name, available(kind))
    tree = ast.parse((PACKAGE / kind / f"{name}.py").read_text())
    found: dict[str, Any] = {"SETTINGS": {}}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in DECLARATIONS:
            code = compile(ast.Expression(node.value), f"{kind}/{name}.py", "eval")
            found[node.targets[0].id] = eval(code, dict(vars(settings)))
    return found


@dataclass(frozen=True)
class Spec:
    """One point, fully resolved. ``changes`` are the settings that differ from the default, spelled canonically."""

    kind: str
    base: str
    settings: dict[str, Any]
    parts: dict[str, "Spec"]
    changes: dict[str, str]

    @property
    def name(self) -> str:
        return join(self.base, self.changes)

    @property
    def source(self) -> "Spec | None":
        """Of a data set that is another one as a model represents it: the other."""
        return self.parts["source"] if self.settings.get("features") == "embedded" else None

    def seed(self, seed: int) -> int:
        """The seed that a run of this has when one of this seed is asked for: 0 where nothing is drawn (``SEEDLESS``)."""
        return 0 if declared(self.kind, self.base).get("SEEDLESS") else seed

    def value(self, key: str) -> Any:
        """The resolved value behind a key, dotted or not."""
        if key in self.settings:
            return self.settings[key]
        head, _, rest = key.partition(".")
        if head in self.parts:
            return self.parts[head].value(rest)
        return self.parts["groups"].value(key)

    def resolved(self) -> dict[str, Any]:
        """Everything that decides the digits, as plain data."""
        return {"name": self.base, **self.settings, **{key: part.resolved() for key, part in self.parts.items()}}


@dataclass(frozen=True)
class Sweep:
    """What a name asks for: one point, or every combination of its lists."""

    kind: str
    base: str
    overrides: dict[str, list[str]]
    points: list[Spec]
    dataset: str
    role: str

    @property
    def name(self) -> str:
        kept = {}
        for key in self.overrides:
            values = list(dict.fromkeys(spell(v) for v in sorted({p.value(key) for p in self.points}, key=_order)))
            if len(values) > 1 or any(key in p.changes for p in self.points):
                kept[key] = "~".join(values)
        return join(self.base, kept)

    @property
    def swept(self) -> list[str]:
        """Keys that take several values in this sweep."""
        return [key for key in sorted(self.overrides) if len({p.value(key) for p in self.points}) > 1]

    def part(self, key: str) -> list["Sweep"]:
        """The sweeps of a component (``groups``, ``stage1``) that this sweep reads: one for each of its names and of its stage 1."""
        parts: dict[tuple[str, str], list[Spec]] = {}
        for part in (p.parts[key] for p in self.points if key in p.parts):
            parts.setdefault((part.base, part.parts["stage1"].base if "stage1" in part.parts else ""), []).append(part)
        found = []
        for alike in parts.values():
            changed = {k: "~".join(dict.fromkeys(spell(p.value(k)) for p in alike)) for p in alike for k in p.changes}
            found.append(resolve(alike[0].kind, join(alike[0].base, changed), self.dataset, key))
        return found


def _order(value: Any) -> tuple[bool, Any]:
    return (isinstance(value, str), value)


def join(base: str, overrides: dict[str, str]) -> str:
    """``base+key=value+...`` with sorted keys."""
    return "".join([base, *(f"+{key}={value}" for key, value in sorted(overrides.items()))])


def parse(text: str) -> tuple[str, dict[str, list[str]]]:
    """Split a name into its base and overrides; a value is a list of one or more texts."""
    base, *items = text.split("+")
    overrides: dict[str, list[str]] = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not key or not all(value.split("~")):
            raise SettingError(f"{text}: {item!r} is not key=value (a list is key=value~value)")
        if key in overrides:
            raise SettingError(f"{text}: {key} is set twice")
        overrides[key] = value.split("~")
    return base, overrides


def published(dataset: str, base: str, role: str) -> dict[str, Any]:
    """What a data set's file states for a component: for all ('*'), for this one, for this one in a role. ``stage1.epochs`` is of the
    stage 1 that it reads, if it reads one."""
    table = declared("datasets", dataset).get("PUBLISHED", {}) if dataset else {}
    layers = ("*", base, f"{role}/{base}")
    return {key: value for layer in layers for key, value in table.get(layer, {}).items()}


def _point(kind: str, base: str, asked: dict[str, str], dataset: str, role: str, path: str = "") -> Spec:
    """Resolve one point; ``path`` is where it stands in the name (``groups.``, ``stage1.``), for messages."""
    try:
        declaration = declared(kind, base)["SETTINGS"]
    except SettingError as error:
        raise SettingError(f"{path.rstrip('.')}: {error}" if path else str(error)) from None
    if role == "stage1" and {"groups", "stage1"} & set(declaration):
        raise SettingError(f"stage1={base}: {base} reads another stage, so it cannot be a base; erm can")
    stated = published(dataset, base, role)
    values: dict[str, Any] = {}
    parts: dict[str, Spec] = {}
    changes: dict[str, str] = {}
    for key, setting in declaration.items():
        default = setting.parse(path + key, spell(stated[key])) if key in stated else setting.default
        values[key] = setting.parse(path + key, asked.pop(key), default) if key in asked else default
        if values[key] != default:
            changes[key] = spell(values[key])
    of_stage1 = _stated_of_stage1(declaration, stated, values | asked, dataset)
    asked |= {key: value for key, value in of_stage1.items() if key not in asked}
    for key in sorted((key for key in declaration if declaration[key].folder), key=lambda key: key == "groups"):
        below = {k.removeprefix(f"{key}."): asked.pop(k) for k in list(asked) if k.startswith(f"{key}.")}
        if key == "groups" and "stage1" not in parts:
            below |= {k: asked.pop(k) for k in list(asked) if _of_stage1(k)}
        elif key == "groups" and "stage1" in declared("inference", values[key])["SETTINGS"]:  # they are inferred from the same stage 1
            same = parts["stage1"]
            below |= {"stage1": same.base} | {f"stage1.{k}": spell(same.value(k)) for k in (*same.settings, *same.changes)}
        parts[key] = _point(declaration[key].folder, values[key], below, dataset, key, "stage1." if key == "stage1" else f"{path}{key}.")
        for k, v in parts[key].changes.items():
            of_groups = key == "groups" and _of_stage1(k)
            if not (of_groups and "stage1" in parts):
                changes[k if of_groups else f"{key}.{k}"] = v
    if asked:
        dotted = [f"{k}.{sub}" for k, p in parts.items() for sub in declared(p.kind, p.base)["SETTINGS"]]
        raise unknown(f"setting of {base}:", path + min(asked), [path + key for key in (*declaration, *dotted)])
    spec = Spec(kind, base, values, parts, changes)
    for key, default in of_stage1.items():  # a part's own name says what differs from its own defaults, this one's what differs from these
        changes.pop(key, None)
        if (value := spell(spec.value(key))) != default:
            changes[key] = value
    return spec


def _of_stage1(key: str) -> bool:
    return key.split(".")[0] == "stage1"


def _stated_of_stage1(declaration: Settings, stated: Settings, asked: Settings, dataset: str) -> dict[str, str]:
    """What a data set's file states of the stage 1 of a component, of those settings that it has. Nothing where another is asked for than
    the one that declaration or file name (for this, or for the inference of its groups), or where none is read (``groups=oracle``)."""
    of_stage1 = {key: spell(value) for key, value in stated.items() if key.startswith("stage1.")}
    if of_stage1 and "stage1" not in declaration and "groups" in asked:
        declaration, stated = declared("inference", asked["groups"])["SETTINGS"], published(dataset, asked["groups"], "groups")
    if not of_stage1 or "stage1" not in declaration:
        return {}
    named = stated.get("stage1", declaration["stage1"].default)
    known = declared("methods", named)["SETTINGS"] if asked.get("stage1", named) == named else {}
    return {key: value for key, value in of_stage1.items() if key.split(".")[1] in known}


@cache
def resolve(kind: str, text: str, dataset: str = "", role: str = "") -> Sweep:
    """Resolve a name to its points.

    ``dataset`` is the base name of the data set that it runs on (its file states the published settings), ``role``
    is ``stage1`` for a base. Raises :class:`SettingError` that names the key, the value, what is allowed and the nearest name.
    """
    base, overrides = parse(text)
    short = {key: key.removeprefix("groups.") if key.startswith("groups.stage1") else key for key in overrides}
    if len(set(short.values())) < len(short):
        raise SettingError(f"{text}: groups.stage1 and stage1 are the same setting")
    overrides = {short[key]: values for key, values in overrides.items()}
    points = [
        _point(kind, base, dict(zip(overrides, values, strict=True)), dataset, role) for values in itertools.product(*overrides.values())
    ]
    return Sweep(kind, base, overrides, points, dataset, role)


def at_seeds(dataset: str, seeds: Sequence[int]) -> str:
    """The data set that these seeds read: where ``draw=seed``, each seed has a draw of its own."""
    sweep = resolve("datasets", dataset)
    draws = sweep.overrides.get("draw", [])
    if "seed" not in draws:
        return sweep.name
    overrides = {**sweep.overrides, "draw": [d for d in draws if d != "seed"] + [str(s) for s in seeds]}
    return resolve("datasets", join(sweep.base, {k: "~".join(v) for k, v in overrides.items()})).name


def canonical(kind: str, text: str, dataset: str = "", role: str = "") -> Sweep:
    """Like :func:`resolve`, but refuses a name that is not spelled canonically, and says how it is."""
    sweep = resolve(kind, text, dataset, role)
    if len(text) > LONGEST:
        raise SettingError(f"{text}: longer than the {LONGEST} characters of a folder's name; ask for shorter lists")
    if sweep.name != text:
        raise SettingError(f"{text} is called {sweep.name} (keys sorted, defaults dropped): ask for that path")
    return sweep
