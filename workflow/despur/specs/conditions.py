"""Conditions on settings, as declarations of files state them: ``model=roberta-*``, or several with blanks between."""

from fnmatch import fnmatchcase

from despur.specs.settings import Settings, spell


def meets(settings: Settings, conditions: str | bool) -> bool:
    """Whether settings have the values that all of these conditions state; True or False: any settings, or none."""
    if isinstance(conditions, bool):
        return conditions
    chosen = [f"{key}={spell(value)}" for key, value in settings.items()]
    return all(any(fnmatchcase(text, condition) for text in chosen) for condition in conditions.split())
