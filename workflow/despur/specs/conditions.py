"""Conditions on settings, as declarations of files state them: ``model=roberta-*``, or several with blanks between."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from despur.specs.declarations import read_declarations
from despur.specs.settings import Setting, SettingError, Settings, spell


def meets(settings: Settings, conditions: str | bool) -> bool:
    """Whether settings have the values that all of these conditions state; True or False: any settings, or none."""
    if isinstance(conditions, bool):
        return conditions
    chosen = [f"{key}={spell(value)}" for key, value in settings.items()]
    return all(any(fnmatchcase(text, condition) for text in chosen) for condition in conditions.split())


def refuse_no_classes(base: str, declaration: Mapping[str, Setting], values: Settings) -> None:
    """Raises SettingError for an inference whose values name no class, where the method ``base`` compares them with the
    true class: ``as_class`` of its groups. ``declaration``, ``values``: of its settings."""
    groups = declaration.get("groups")
    if groups is None or not meets(values, groups.as_class):
        return
    if read_declarations("inference", values["groups"]).get("NAMES_NO_CLASS"):
        under = groups.as_class if isinstance(groups.as_class, str) else ""
        raise SettingError(
            f"groups={values['groups']}: its values name no class, and {base}{under and f' with {under}'} compares "
            "them with the true class: choose groups=predictions, clusters, ssa or oracle"
            + (under and f", or another value of {under.partition('=')[0]}")
        )
