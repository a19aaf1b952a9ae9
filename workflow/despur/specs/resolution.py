"""What a name means: ``cnc+lambda=0.5+stage1.epochs=1`` on ``cmnist``, resolved to the last setting.

A setting is what the name asks for, else what the data set's file states, else its default. A key with dots is of a
part. There is one stage 1, called ``stage1`` in keys: a component's own or, where it declares none, that of its
groups; where both are declared, groups are inferred from the component's. Each name has one canonical spelling: keys
sorted, defaults dropped, one spelling per number."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from despur.specs.declarations import declared, paper_hyperparameters
from despur.specs.names import join, parse, unknown
from despur.specs.settings import Setting, SettingError, Settings, spell
from despur.specs.spec import Spec, Sweep

LONGEST = 200  # characters: file systems allow 255 bytes
Declaration = Mapping[str, Setting]


def _point(kind: str, base: str, asked: dict[str, str], dataset: str, role: str, path: str = "") -> Spec:
    """Resolve one point; ``path`` is where it stands in the name (``groups.``, ``stage1.``), for messages."""
    declaration = _declaration(kind, base, role, path)
    stated = paper_hyperparameters(dataset, base, role)
    values, changes = _own(declaration, stated, asked, path)
    of_stage1 = _stated_of_stage1(declaration, stated, values | asked, dataset)
    dotted = of_stage1 | {key: text for key, text in asked.items() if key not in values}
    parts = _parts(declaration, values, dotted, dataset, path)
    if vain := [key for key in dotted if _part_of(key, declaration) not in parts]:
        known = [f"{k}.{sub}" for k, p in parts.items() for sub in declared(p.kind, p.base_name)["SETTINGS"]]
        raise unknown(f"setting of {base}:", path + min(vain), [path + key for key in (*declaration, *known)])
    for key, part in parts.items():
        changes |= _changes_of(key, part, declaration)
    spec = Spec(kind, base, values, parts, changes)
    # A part's own name says what differs from its own defaults; the name of what reads it, what differs from what is
    # stated of it there.
    unlike_stated = {key: text for key, default in of_stage1.items() if (text := spell(spec.value(key))) != default}
    return replace(spec, changes={key: text for key, text in changes.items() if key not in of_stage1} | unlike_stated)


def _declaration(kind: str, base: str, role: str, path: str) -> Declaration:
    """The settings that a component declares; a stage 1 may not read another stage."""
    try:
        declaration: Declaration = declared(kind, base)["SETTINGS"]
    except SettingError as error:
        raise SettingError(f"{path.rstrip('.')}: {error}" if path else str(error)) from None
    if role == "stage1" and {"groups", "stage1"} & set(declaration):
        raise SettingError(f"stage1={base}: {base} reads another stage, so it cannot be a base; erm can")
    return declaration


def _own(
    declaration: Declaration, stated: Settings, asked: Mapping[str, str], path: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of a component's own settings; those that differ from their defaults, spelled."""
    values: dict[str, Any] = {}
    changes: dict[str, str] = {}
    for key, setting in declaration.items():
        default = setting.parse(path + key, spell(stated[key])) if key in stated else setting.default
        values[key] = setting.parse(path + key, asked[key], default) if key in asked else default
        if values[key] != default:
            changes[key] = spell(values[key])
    return values, changes


def _parts(
    declaration: Declaration, values: Settings, dotted: Mapping[str, str], dataset: str, path: str
) -> dict[str, Spec]:
    """The parts of a component, each with what is asked of it; groups last, as they are inferred from the stage 1
    beside them."""
    parts: dict[str, Spec] = {}
    for key in sorted((key for key in declaration if declaration[key].folder), key=lambda key: key == "groups"):
        asked = {k.removeprefix(f"{key}."): text for k, text in dotted.items() if _part_of(k, declaration) == key}
        if key == "groups" and "stage1" in parts:
            asked |= _same_stage1(parts["stage1"], values[key])
        below = "stage1." if key == "stage1" else f"{path}{key}."
        parts[key] = _point(declaration[key].folder, values[key], asked, dataset, key, below)
    return parts


def _part_of(key: str, declaration: Declaration) -> str:
    """The part that a key is of: ``encoder.width`` of the encoder; ``stage1.epochs`` of the groups, where they alone
    read a stage 1."""
    head = key.split(".")[0]
    return "groups" if head == "stage1" and "stage1" not in declaration and "groups" in declaration else head


def _same_stage1(stage1: Spec, inference: str) -> dict[str, str]:
    """What groups are asked for beside a component's stage 1: that very one, if they are inferred from one."""
    if "stage1" not in declared("inference", inference)["SETTINGS"]:
        return {}
    return {"stage1": stage1.base_name} | {
        f"stage1.{key}": spell(stage1.value(key)) for key in (*stage1.settings, *stage1.changes)
    }


def _changes_of(key: str, part: Spec, declaration: Declaration) -> dict[str, str]:
    """The changes of a part, by the component's keys; not those of a stage 1 that the groups were handed."""
    found = {
        k if key == "groups" and k.split(".")[0] == "stage1" else f"{key}.{k}": text for k, text in part.changes.items()
    }
    return {k: text for k, text in found.items() if _part_of(k, declaration) == key}


def _stated_of_stage1(declaration: Declaration, stated: Settings, asked: Settings, dataset: str) -> dict[str, str]:
    """What a data set's file states of the stage 1 of a component, of those settings that it has. Nothing where
    another is asked for than the one that declaration or file name (for this, or for the inference of its groups), or
    where none is read (``groups=oracle``)."""
    of_stage1 = {key: spell(value) for key, value in stated.items() if key.startswith("stage1.")}
    if of_stage1 and "stage1" not in declaration and "groups" in asked:
        declaration, stated = (
            declared("inference", asked["groups"])["SETTINGS"],
            paper_hyperparameters(dataset, asked["groups"], "groups"),
        )
    if not of_stage1 or "stage1" not in declaration:
        return {}
    named = stated.get("stage1", declaration["stage1"].default)
    known = declared("methods", named)["SETTINGS"] if asked.get("stage1", named) == named else {}
    return {key: value for key, value in of_stage1.items() if key.split(".")[1] in known}


@cache
def resolve(kind: str, text: str, dataset: str = "", role: str = "") -> Sweep:
    """Resolve a name to its points.

    ``dataset`` is the base name of the data set that it runs on (its file states the published settings), ``role`` is
    ``stage1`` for a base. Raises :class:`SettingError` that names the key, the value, what is allowed and the nearest
    name."""
    base, overrides = parse(text)
    short = {key: key.removeprefix("groups.") if key.startswith("groups.stage1") else key for key in overrides}
    if len(set(short.values())) < len(short):
        raise SettingError(f"{text}: groups.stage1 and stage1 are the same setting")
    overrides = {short[key]: values for key, values in overrides.items()}
    points = [
        _point(kind, base, dict(zip(overrides, values, strict=True)), dataset, role)
        for values in itertools.product(*overrides.values())
    ]
    return Sweep(kind, base, overrides, points)


def draw_for_seeds(dataset: str, seeds: Sequence[int]) -> str:
    """The data set that these seeds read: where ``draw=seed``, each seed has a draw of its own."""
    sweep = resolve("datasets", dataset)
    draws = sweep.overrides.get("draw", [])
    if "seed" not in draws:
        return sweep.name
    overrides = {**sweep.overrides, "draw": [d for d in draws if d != "seed"] + [str(s) for s in seeds]}
    return resolve("datasets", join(sweep.base_name, {k: "~".join(v) for k, v in overrides.items()})).name


def change_settings(dataset: str, data: str) -> str:
    """A data set with other settings: ``cmnist+colors=released`` and ``p_corr=0.5~0.9`` ->
    ``cmnist+colors=released+p_corr=0.5~0.9``."""
    if not data:
        return dataset
    base, own = parse(dataset)
    own |= parse(f"{base}+{data}")[1]
    return check_length(resolve("datasets", join(base, {key: "~".join(values) for key, values in own.items()})).name)


def check_length(name: str) -> str:
    """The name, if it can be a folder's."""
    if len(name) > LONGEST:
        raise SettingError(f"{name}: longer than the {LONGEST} characters of a folder's name; ask for shorter lists")
    return name


def resolve_canonical(kind: str, text: str, dataset: str = "", role: str = "") -> Sweep:
    """Like :func:`resolve`, but refuses a name that is not spelled canonically, and says how it is."""
    sweep = resolve(kind, text, dataset, role)
    if check_length(sweep.name) != text:
        raise SettingError(f"{text} is called {sweep.name} (keys sorted, defaults dropped): ask for that path")
    return sweep


def respecify(kind: str, base: str, stated: Mapping[str, Any], dataset: str = "") -> Spec:
    """The point that resolved settings belong to. Raises SettingError where one does not exist, or one of today is not
    said."""
    settings = declared(kind, base)["SETTINGS"]
    try:
        asked = overrides(stated, called="name" in settings)
    except (AttributeError, KeyError, TypeError):
        raise SettingError(f"{base}: the specification is not settings by name") from None
    (point,) = resolve(kind, join(base, asked), dataset).points
    now = overrides(point.resolved(), called="name" in settings)
    if other := sorted(key for key in {*now, *asked} if now.get(key) != asked.get(key)):
        raise SettingError(f"{base}: the specification does not say {', '.join(other)} as this version does")
    return point


def overrides(stated: Mapping[str, Any], called: bool = False) -> dict[str, str]:
    """Every setting that a resolved specification states, as a name spells it; parts by their dots. ``called``:
    ``name`` is one."""
    found: dict[str, str] = {}
    for key, value in stated.items():
        if isinstance(value, Mapping):
            found[key] = value["name"]
            if key == "groups" and "stage1" in stated:  # inferred from the stage 1 beside them
                value = {inner: each for inner, each in value.items() if inner != "stage1"}
            found |= {f"{key}.{inner}": text for inner, text in overrides(value).items()}
        elif key != "name" or called:
            found[key] = spell(value)
    return found
