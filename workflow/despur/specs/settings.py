"""The kinds of settings, typed and bounded: how a data set, encoder, inference or method declares what can be chosen.

A file declares ``SETTINGS = {"temperature": float_(0.05, "App. E.2.4", above=0), ...}``. The second argument says where
the default comes from. Declarations are read without running the file (:mod:`despur.specs.declarations`)."""

import math
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

Settings = Mapping[str, Any]
DEFAULT = object()  # as if no other value were said
WORD = {*string.ascii_letters, *string.digits, *"_-."}


class SettingError(ValueError):
    """A key, value or name that cannot be used; the message says what is allowed."""


@dataclass(frozen=True)
class SearchRange:
    """From where to where ``despur search`` draws a setting, and who says so. ``scale``: what is uniformly distributed:
    the value (``linear``), its logarithm (``log``) or that of its distance to 1 (``log_to_one``). ``relative``: the
    ends are factors of the value that the method has on the data set without a search."""

    low: float
    high: float
    scale: str
    source: str
    relative: bool = False

    def resolve(self, value: float) -> "SearchRange":
        """The range for a method that has this value without a search; a positive one lies in it."""
        if not self.relative:
            return replace(self, low=min(self.low, value), high=max(self.high, value)) if value > 0 else self
        if value <= 0:
            raise SettingError(f"a range around {spell(value)}: a logarithmic one needs a positive value")
        return replace(self, low=self.low * value, high=self.high * value, relative=False)


def uniform(low: float, high: float, source: str) -> SearchRange:
    """Every value is as likely as any other."""
    return SearchRange(low, high, "linear", source)


def log_uniform(low: float, high: float, source: str) -> SearchRange:
    """Every logarithm is as likely as any other."""
    return SearchRange(low, high, "log", source)


def log_to_one(low: float, high: float, source: str) -> SearchRange:
    """Every logarithm of the distance to 1 is as likely as any other, for values shortly below 1."""
    return SearchRange(low, high, "log_to_one", source)


def around(factor: float, source: str) -> SearchRange:
    """Every logarithm is as likely as any other, from the value on this data set over ``factor`` to it times
    ``factor``."""
    return SearchRange(1 / factor, factor, "log", source, relative=True)


@dataclass(frozen=True)
class Setting:
    """One setting: default, source of the default, how to read it from text, and what is allowed."""

    default: Any
    source: str
    read: Callable[[str], Any]
    allowed: str
    check: Callable[[Any], bool] = lambda value: True
    folder: str = ""  # for parts: the folder whose files are the choices
    as_class: bool | str = False  # of groups: whether (or with which setting) a value is compared with the class
    before: Any = DEFAULT  # what records that lack the setting had; None: nothing that can be said
    search: SearchRange | None = None  # where despur search looks for better values

    def parse(self, key: str, text: str, default: Any = None) -> Any:
        """The value behind ``text``; raises :class:`SettingError` naming key, value and what is allowed."""
        try:
            value = self.read(text)
        except ValueError:
            value = None
        if value is None or not self.check(value):
            shown = spell(self.default if default is None else default)
            hint = f"; several values are written {text.replace(',', '~')}" if "," in text else ""
            raise SettingError(f"{key}={text}: must be {self.allowed} (default {shown}){hint}")
        return value


def spell(value: Any) -> str:
    """The one spelling of a value in names: true/false, shortest digits that read back the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value).replace("+", "")
    return str(value)


def _bounds(kind: str, low: float, high: float, above: float, below: float) -> tuple[str, Callable[[Any], bool]]:
    limits = [
        f"{word} {spell(float(bound))}"
        for word, bound in (("at least", low), ("at most", high), ("above", above), ("below", below))
        if math.isfinite(bound)
    ]
    return f"{kind} {' and '.join(limits)}".strip(), lambda v: low <= v <= high and above < v < below


def float_(
    default: float,
    source: str,
    *,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
    search: SearchRange | None = None,
) -> Setting:
    """A finite real number within bounds."""
    allowed, check = _bounds("a number", at_least, at_most, above, below)
    return Setting(float(default), source, float, allowed, lambda v: math.isfinite(v) and check(v), search=search)


def int_(default: int, source: str, *, at_least: float = -math.inf, at_most: float = math.inf) -> Setting:
    """A whole number within bounds."""
    allowed, check = _bounds("a whole number", at_least, at_most, -math.inf, math.inf)
    return Setting(default, source, int, allowed, check)


def bool_(default: bool, source: str) -> Setting:
    """true or false."""
    return Setting(default, source, {"true": True, "false": False}.get, "true or false")


def choice(default: str, source: str, *options: str) -> Setting:
    """One of a few words."""
    return Setting(default, source, str, "one of " + ", ".join(options), lambda v: v in options)


def check_choice(name: str, value: str, *options: str) -> None:
    """Raises SettingError for a word that is none of the options of an argument."""
    if value not in options:
        raise SettingError(f"{name}={value!r}: one of {', '.join(options)}")


def digit_classes(default: str, source: str) -> Setting:
    """Which digits make up each class: ``3-8`` has two classes of one digit, ``01234-56789`` two of five."""

    def check(text: str) -> bool:
        classes = text.split("-")
        return (
            len(classes) > 1
            and all(c.isdecimal() and c == "".join(sorted(c)) for c in classes)
            and not re.search(r"(\d).*\1", text)
        )

    return Setting(default, source, str, "two or more classes of ascending digits like 01-89, no digit twice", check)


def name(default: str, source: str) -> Setting:
    """Any word of letters, digits, ``_``, ``-`` and dots: the name of a file, without its folder."""
    return Setting(
        default, source, str, "letters, digits, _, - and dots", lambda v: set(v) <= WORD and not v.startswith(".")
    )


def draw(source: str) -> Setting:
    """Which random draw of a data set: a whole number, or ``seed`` to draw anew for each seed of a run."""
    return Setting(
        0,
        source,
        lambda text: text if text == "seed" else int(text),
        "a whole number, at least 0, or seed",
        lambda v: v == "seed" or v >= 0,
    )


def component(folder: str, default: str, source: str, *, as_class: bool | str = False) -> Setting:
    """A component by name (an encoder, a stage-1 model, an inference). Its own settings have dotted keys. ``as_class``:
    of an inference, whether the method compares its values with the true class: True, or the setting with which it
    does (``anchors=correct``). An inference that declares NAMES_NO_CLASS is then refused."""
    return Setting(default, source, str, f"a name in {folder}/", folder=folder, as_class=as_class)


def added(setting: Setting, before: Any = None) -> Setting:
    """A setting that records of before lack, and whose default is another behavior than theirs: they had the value
    ``before``; None: no value says what they had, so they are not used."""
    return replace(setting, before=before)


def without(settings: Mapping[str, Setting], *names: str) -> dict[str, Setting]:
    """Settings less some that a component does not have."""
    return {key: setting for key, setting in settings.items() if key not in names}


def for_each(methods: str | Mapping[str, Mapping[str, Any]], **shared: Any) -> dict[str, dict[str, Any]]:
    """What a data set's file states for several methods alike, named with blanks between them. Of some it may state
    more; what is said of all counts."""
    by_methods = {methods: {}} if isinstance(methods, str) else methods
    return {method: {**more, **shared} for names, more in by_methods.items() for method in names.split()}
