"""What a name means: ``cnc+lambda=0.5+stage1.epochs=1`` on ``cmnist``, resolved to the last setting.

A setting is what the name says, else what the data set's file states, else its default. A key with dots is of a
component. There is one stage 1, called ``stage1`` in keys: a component's own or, where it declares none, that of its
groups; where both are declared, groups are inferred from the component's. A method's own stage 1 is trained as it is
alone. Each name has one canonical spelling: keys sorted, defaults dropped, one spelling per number."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from despur.specs.conditions import refuse_no_classes
from despur.specs.declarations import paper_hyperparameters, read_declarations, refuse_unknown_stated
from despur.specs.names import LONGEST, change_settings, join, parse, shorten, unknown
from despur.specs.settings import SettingError, Settings, spell
from despur.specs.spec import Spec, Sweep
from despur.specs.stated_of_stage1 import Declaration, DerivedText, select_stated, spell_as_alone, spell_file

SAME_STAGE1 = "as the method's stage 1"  # where settings of the stage 1 of its groups come from
MOST_POINTS = 1000  # of one name; the largest grids of the papers have tens


def _resolve_point(kind: str, base: str, overrides: dict[str, str], dataset: str, stage: str, path: str = "") -> Spec:
    """Resolve one point; ``path`` is where it stands in the name (``groups.``, ``stage1.``), for messages."""
    declaration = _load_declaration(kind, base, stage, path)
    refuse_unknown_stated(dataset, base, stage)
    presets = paper_hyperparameters(dataset, base, stage)
    values, changes, origins = _read_own_settings(declaration, presets, overrides, dataset, path)
    stated_of_stage1 = select_stated(declaration, presets, values | overrides, dataset)
    if kind == "methods" and "stage1" in values:
        stated_of_stage1 = spell_as_alone(values["stage1"], dataset) | stated_of_stage1
    dotted = stated_of_stage1 | {key: text for key, text in overrides.items() if key not in values}
    components = _resolve_components(declaration, values, dotted, dataset, path)
    _refuse_unknown_keys(base, declaration, components, dotted, path)
    refuse_no_classes(base, declaration, values)
    for key, component in components.items():
        changes |= _list_changes_of(key, component, declaration)
    spec = Spec(kind, base, values, components, changes, origins)
    return replace(spec, changes=_compare_with_stated(spec, stated_of_stage1))


def _refuse_unknown_keys(
    base: str, declaration: Declaration, components: Mapping[str, Spec], dotted: Mapping[str, str], path: str
) -> None:
    """Refuse a key that is neither a setting of the component nor of one of its components."""
    wrong = [key for key in dotted if _component_of(key, declaration) not in components]
    if not wrong:
        return
    below = [
        f"{key}.{name}"
        for key, component in components.items()
        for name in read_declarations(component.kind, component.base_name)["SETTINGS"]
    ]
    raise unknown(f"setting of {base}:", path + min(wrong), [path + key for key in (*declaration, *below)])


def _compare_with_stated(spec: Spec, stated_of_stage1: Mapping[str, str]) -> dict[str, str]:
    """The changes of a specification: those of its stage 1 from what is stated for this method, not from defaults."""
    changes = {key: text for key, text in spec.changes.items() if key not in stated_of_stage1}
    for key, stated_text in stated_of_stage1.items():
        text = spell(spec.value(key))
        if text != stated_text:
            changes[key] = text
    return changes


def _load_declaration(kind: str, base: str, stage: str, path: str) -> Declaration:
    """The settings that a component declares; a stage 1 may not read another stage."""
    try:
        declaration: Declaration = read_declarations(kind, base)["SETTINGS"]
    except SettingError as error:
        raise SettingError(f"{path.rstrip('.')}: {error}" if path else str(error)) from None
    if stage == "stage1" and {"groups", "stage1"} & set(declaration):
        raise SettingError(f"stage1={base}: {base} reads another stage, so it cannot be a stage-1 model; erm can")
    return declaration


def _read_own_settings(
    declaration: Declaration, presets: Settings, overrides: Mapping[str, str], dataset: str, path: str
) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """The values of a component's own settings; those that differ from their defaults, spelled; where each comes
    from."""
    values: dict[str, Any] = {}
    changes: dict[str, str] = {}
    origins: dict[str, str] = {}
    for key, setting in declaration.items():
        default, origins[key] = setting.default, f"default: {setting.source}"
        if key in presets:
            default, origins[key] = setting.parse(path + key, spell(presets[key])), spell_file(dataset)
        values[key] = default
        if key in overrides:
            values[key] = setting.parse(path + key, overrides[key], default)
            origins[key] = getattr(overrides[key], "origin", "the path")
        if values[key] != default:
            changes[key] = spell(values[key])
    return values, changes, origins


def _resolve_components(
    declaration: Declaration, values: Settings, dotted: Mapping[str, str], dataset: str, path: str
) -> dict[str, Spec]:
    """The components of a component; groups last, as they are inferred from the stage 1 beside them."""
    components: dict[str, Spec] = {}
    for key in sorted((key for key in declaration if declaration[key].folder), key=lambda key: key == "groups"):
        nested = {k.removeprefix(f"{key}."): text for k, text in dotted.items() if _component_of(k, declaration) == key}
        if key == "groups" and "stage1" in components:
            nested |= _copy_stage1(components["stage1"], values[key])
        below = "stage1." if key == "stage1" else f"{path}{key}."
        components[key] = _resolve_point(declaration[key].folder, values[key], nested, dataset, key, below)
    return components


def _component_of(key: str, declaration: Declaration) -> str:
    """The component that a key is of: ``encoder.width`` of the encoder; ``stage1.epochs`` of the groups, if they alone
    read a stage 1."""
    head = key.split(".")[0]
    return "groups" if head == "stage1" and "stage1" not in declaration and "groups" in declaration else head


def _copy_stage1(stage1: Spec, inference: str) -> dict[str, str]:
    """The settings of groups beside a component's stage 1. If groups are inferred from a stage 1, it is this one."""
    if "stage1" not in read_declarations("inference", inference)["SETTINGS"]:
        return {}
    texts = {"stage1": stage1.base_name} | {
        f"stage1.{key}": spell(stage1.value(key)) for key in (*stage1.settings, *stage1.changes)
    }
    return {key: DerivedText(text, SAME_STAGE1) for key, text in texts.items()}


def _list_changes_of(key: str, component: Spec, declaration: Declaration) -> dict[str, str]:
    """The changes of a component's component, by its keys; not those of a stage 1 that the groups were handed."""
    changes = {
        k if key == "groups" and k.split(".")[0] == "stage1" else f"{key}.{k}": text
        for k, text in component.changes.items()
    }
    return {k: text for k, text in changes.items() if _component_of(k, declaration) == key}


@cache
def resolve(kind: str, text: str, dataset: str = "", stage: str = "") -> Sweep:
    """Resolve a name to its points.

    ``dataset``: a data set's name without settings; its file states the paper's hyper-parameters. ``stage``: ``stage1``
    for a stage-1 model. Raises :class:`SettingError`: the key, the value, what is allowed and the nearest name."""
    base, overrides = parse(text)
    short = {key: key.removeprefix("groups.") if key.startswith("groups.stage1") else key for key in overrides}
    if len(set(short.values())) < len(short):
        raise SettingError(f"{text}: groups.stage1 and stage1 are the same setting")
    overrides = {short[key]: values for key, values in overrides.items()}
    if (count := math.prod(map(len, overrides.values()))) > MOST_POINTS:
        raise SettingError(f"{shorten(text)}: {count:,} combinations of values; a name may have {MOST_POINTS:,}")
    points = [
        _resolve_point(kind, base, dict(zip(overrides, values, strict=True)), dataset, stage)
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


def change_data(dataset: str, settings: str) -> str:
    """The name of a data set with other settings; without any, as it is."""
    return check_length(resolve("datasets", change_settings(dataset, settings)).name) if settings else dataset


def check_length(name: str) -> str:
    """The name, if it can be a folder's."""
    if len(name) > LONGEST:
        raise SettingError(
            f"{shorten(name)}: longer than the {LONGEST} characters of a folder's name; shorten its lists"
        )
    return name


def resolve_canonical(kind: str, text: str, dataset: str = "", stage: str = "") -> Sweep:
    """Like :func:`resolve`, but refuses a name that is not spelled canonically, and says how it is."""
    sweep = resolve(kind, text, dataset, stage)
    if check_length(sweep.name) != text:
        raise SettingError(f"{text} is called {sweep.name} (keys sorted, defaults dropped): use that path")
    return sweep
