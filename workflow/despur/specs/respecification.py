"""A component's specification as another run resolved it, read back by this version."""

from collections.abc import Mapping
from typing import Any

from despur.specs.declarations import declared
from despur.specs.names import join
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError, spell
from despur.specs.spec import Spec


def respecify(kind: str, base: str, stated: Mapping[str, Any], dataset: str = "") -> Spec:
    """The point with these resolved settings. A setting that is not among them was added since; it must have its
    default, which is how runs were made before. Raises SettingError if it has not, or if a setting does not exist."""
    settings = declared(kind, base)["SETTINGS"]
    try:
        asked = overrides(stated, called="name" in settings)
    except (AttributeError, KeyError, TypeError):
        raise SettingError(f"{base}: the specification is not settings by name") from None
    (point,) = resolve(kind, join(base, asked), dataset).points
    now = overrides(point.resolved(), called="name" in settings)
    stated_as = {key: asked[key] if key in asked else find_default(point, key) for key in {*now, *asked}}
    if other := sorted(key for key, text in stated_as.items() if now.get(key) != text):
        raise SettingError(f"{base}: the specification does not say {', '.join(other)} as this version does")
    return point


def find_default(spec: Spec, key: str) -> str:
    """The default that the file of a component declares for a key, dotted or not, as a name spells it."""
    head, _, rest = key.partition(".")
    if rest:
        return find_default(spec.components[head], rest)
    return spell(declared(spec.kind, spec.base_name)["SETTINGS"][key].default)


def overrides(stated: Mapping[str, Any], called: bool = False) -> dict[str, str]:
    """Every setting that a resolved specification states, as a name spells it; components by their dots. ``called``:
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
