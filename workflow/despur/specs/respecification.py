"""A component's specification as another run resolved it, read back by this version."""

from collections.abc import Mapping
from typing import Any

from despur.specs.declarations import read_declarations
from despur.specs.names import join
from despur.specs.resolution import resolve
from despur.specs.settings import DEFAULT, SettingError, spell
from despur.specs.spec import Spec


def respecify(kind: str, base: str, resolved: Mapping[str, Any], dataset: str = "") -> Spec:
    """The point with these resolved settings; those that were added since have the values of then. Raises SettingError
    if a setting does not exist, or if nothing says which value one had."""
    settings = read_declarations(kind, base)["SETTINGS"]
    try:
        wanted = overrides(complete(kind, base, resolved), called="name" in settings)
    except (AttributeError, KeyError, TypeError):
        raise SettingError(f"{base}: the specification is not settings by name") from None
    (point,) = resolve(kind, join(base, wanted), dataset).points
    now = overrides(point.resolved(), called="name" in settings)
    if other := sorted(key for key in {*now, *wanted} if now.get(key) != wanted.get(key)):
        raise SettingError(f"{base}: the specification does not say {', '.join(other)} as this version does")
    return point


def complete(kind: str, base: str, resolved: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved specification with the settings that it lacks, as they were added since: at the values that declare
    the behavior of then (``before``, else the default)."""
    completed = dict(resolved)
    for key, setting in read_declarations(kind, base)["SETTINGS"].items():
        if key not in completed:
            if setting.before is None:
                raise SettingError(f"{base}: {key} was added since, and nothing says which value it had")
            value = setting.default if setting.before is DEFAULT else setting.before
            completed[key] = {"name": value} if setting.folder else value
        if setting.folder:
            completed[key] = complete(setting.folder, completed[key]["name"], completed[key])
    return completed


def overrides(resolved: Mapping[str, Any], called: bool = False) -> dict[str, str]:
    """Every setting that a resolved specification states, as a name spells it; components by their dots. ``called``:
    ``name`` is one."""
    texts: dict[str, str] = {}
    for key, value in resolved.items():
        if isinstance(value, Mapping):
            texts[key] = value["name"]
            if key == "groups" and "stage1" in resolved:  # inferred from the stage 1 beside them
                value = {inner: setting for inner, setting in value.items() if inner != "stage1"}
            texts |= {f"{key}.{inner}": text for inner, text in overrides(value).items()}
        elif key != "name" or called:
            texts[key] = spell(value)
    return texts
