"""Names, ``name+key=value+...``: how they are joined and parsed, and the error for a name that does not exist.

A value may be a list, ``0.2~0.4``. What a name means: see :mod:`despur.specs.resolution`.
"""

import difflib
from collections.abc import Iterable
from functools import cache

from despur.specs.settings import SettingError
from despur.specs.stages import PARTS

LONGEST = 200  # characters of a name: file systems allow 255 bytes


def join(base: str, overrides: dict[str, str]) -> str:
    """``name+key=value+...`` with sorted keys."""
    return "".join([base, *(f"+{key}={value}" for key, value in sorted(overrides.items()))])


def parse(text: str) -> tuple[str, dict[str, list[str]]]:
    """Split a name into the component's name and its settings; a value is a list of one or more texts."""
    base, *items = text.split("+")
    shown = show_text(text)
    if not text.isprintable() or max(map(len, text.split("+"))) > 5 * LONGEST:
        raise SettingError(
            f"{shown}: names have no line ends and the like; a setting has less than {5 * LONGEST} signs"
        )
    overrides: dict[str, list[str]] = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not key or not all(value.split("~")):
            raise SettingError(f"{shown}: {shorten(repr(item))} is not key=value (a list is key=value~value)")
        if key in overrides:
            raise SettingError(f"{shown}: {key} is set twice")
        overrides[key] = value.split("~")
    return base, overrides


def change_settings(name: str, settings: str) -> str:
    """A name with other settings: ``cmnist+colors=released`` and ``p_corr=0.5~0.9`` ->
    ``cmnist+colors=released+p_corr=0.5~0.9``."""
    if not settings:
        return name
    base, overrides = parse(name)
    changed = overrides | parse(f"{base}+{settings}")[1]
    return join(base, {key: "~".join(values) for key, values in changed.items()})


@cache
def drop_setting(name: str, key: str) -> str:
    """A name without one of its settings: ``scene_digits+samples=0~100`` without ``samples`` is ``scene_digits``."""
    base, overrides = parse(name)
    return join(base, {other: "~".join(values) for other, values in overrides.items() if other != key})


def unknown(what: str, name: object, allowed: Iterable[str]) -> SettingError:
    """The error for a name that does not exist: lists the names that exist and the nearest one."""
    allowed = sorted(allowed)
    near = difflib.get_close_matches(str(name)[:LONGEST], allowed, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return SettingError(f"unknown {what} {shorten(repr(name))}{hint} Known: {', '.join(allowed) or 'none'}")


def show_text(text: str) -> str:
    """A text for messages: quoted if it has control characters, and not too long."""
    return shorten(text if text.isprintable() else repr(text))


def shorten(text: str) -> str:
    """At most ``LONGEST`` characters of a text, for messages."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def split_stage(method: str) -> tuple[str, str]:
    """The stage and the name of a method's specification: ``groups/clusters`` -> ``groups``, ``clusters``; ``cnc`` ->
    ``runs``, ``cnc``."""
    stage, slash, text = method.rpartition("/")
    if slash and "=" in stage:
        raise SettingError(f"{show_text(method)}: a value holds no slash; that of a model of a hub is written --")
    if slash and stage not in PARTS:
        raise unknown(f"stage of {method}:", stage, PARTS)
    return stage or "runs", text
