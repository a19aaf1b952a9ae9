"""From the contrasts of claims.yaml (:mod:`despur.evidence.claims.claim_format`) to formulas."""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from despur.evidence.statistics.formulas import DEFAULTS, Correlation, Formula, Formulas, describe, read_margin
from despur.evidence.statistics.levels import (
    LEVEL_WORDS,
    Levels,
    MeasurementKeys,
    Missing,
    is_many,
    list_combinations,
    list_single_values,
)
from despur.specs.names import unknown
from despur.specs.settings import SettingError

FORMS = ("higher", "lower", "near", "pairs", "rises_with", "falls_with", "rank_correlation")
CONTRAST_WORDS = (*FORMS, "than", "to", "over", "sign", "mean", "scale", "margin", "counted")
SCALES = ("plain", "log")


def read_group(node: Any, shared: Mapping[str, Any], levels: Levels) -> Formulas:
    """The formulas of a list of contrasts, of ``{at_least, each, of}``, or of one contrast, with the keys that surround
    it.

    Of a list, an item that is no count is replaced by its contrasts. Raises SettingError for what the format does
    not know; Missing.
    """
    if isinstance(node, list):
        return Formulas([part for item in node for part in _list_items(read_group(item, shared, levels))])
    if not isinstance(node, Mapping):
        raise SettingError(f"{node!r} is neither a contrast nor a list of contrasts")
    inner = {**shared, **{key: value for key, value in node.items() if key not in ("at_least", "each", "of")}}
    if "of" not in node:
        return Formulas(list(read_contrasts(inner, levels)))
    parts = _read_items(node, inner, levels)
    count = node.get("at_least")
    if count not in (None, "most") and (type(count) is not int or count < 1):
        raise SettingError(f"at_least is {count!r}, neither most nor a number from 1 on")
    if count not in (None, "most") and count > len(parts):
        raise Missing(f"at least {count} of only {len(parts)}")
    return Formulas(parts, len(parts) // 2 + 1 if count == "most" else count)


def _list_items(formulas: Formulas) -> list[Formula | Correlation | Formulas]:
    return formulas.parts if formulas.at_least is None else [formulas]


def _read_items(
    node: Mapping[str, Any], shared: Mapping[str, Any], levels: Levels
) -> list[Formula | Correlation | Formulas]:
    """What a group counts: for ``each`` value of a key, all that it is ``of``; else the items of a list, or single
    contrasts."""
    if "each" in node:
        ((key, values),) = node["each"].items()
        keys = {name: value for name, value in shared.items() if name not in CONTRAST_WORDS}
        single_values = list_single_values(key, _all_datasets(key, values, shared), [keys], levels)
        groups = [read_group(node["of"], {**shared, key: value}, levels) for value in single_values]
    elif isinstance(node["of"], list):
        groups = [read_group(item, shared, levels) for item in node["of"]]
    else:
        return _list_items(read_group(node["of"], shared, levels))
    return [group.parts[0] if len(group.parts) == 1 else group for group in groups]


def _all_datasets(key: str, values: Any, shared: Mapping[str, Any]) -> Any:
    """Every data set is every one that the claim names, whether it was run or not."""
    return shared[key] if (key, values) == ("dataset", "every") else values


def read_contrasts(entries: Mapping[str, Any], levels: Levels) -> Iterator[Formula | Correlation]:
    """The contrasts that one specification stands for, each once."""
    entries = {key: value for key, value in entries.items() if value is not None}
    form, words = read_form(entries)
    shared = {key: value for key, value in entries.items() if key not in CONTRAST_WORDS and key not in words["mean"]}
    if form == "rank_correlation":
        yield read_correlation(words, shared, levels)
        return
    hidden = {*words["mean"], *(["dataset"] if isinstance(entries["dataset"], str) else [])}
    formulas: dict[str, Formula] = {}
    for high, low in list_pairs(words, shared, levels):
        formula = read_formula(words, high, low, hidden, levels)
        formulas.setdefault(formula.label, formula)
    if not formulas:
        raise Missing(f"nothing to compare for {form}: {entries[form]}")
    yield from formulas.values()


def read_form(entries: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The form of a contrast, such as ``higher``, and its words. Raises SettingError for none, several, or a scale that
    there is not."""
    forms = [form for form in FORMS if form in entries]
    if len(forms) != 1:
        raise SettingError(f"a contrast has one of {', '.join(FORMS)}; here: {', '.join(forms) or 'none'}")
    words = {"mean": {}, **{key: entries[key] for key in CONTRAST_WORDS if key in entries}}
    if words.get("scale", "plain") not in SCALES:
        raise unknown("scale", words["scale"], SCALES)
    words["mean"] = {key: _all_datasets(key, values, entries) for key, values in words["mean"].items()}
    return forms[0], words


def list_pairs(words: Mapping[str, Any], shared: Mapping[str, Any], levels: Levels) -> Iterator[tuple[Any, Any]]:
    """The pairs (higher, lower) of single measurements or numbers that are compared."""
    for sides in read_sides(words, shared, levels):
        for fixed in list_combinations(shared, sides, levels):
            for high, low in itertools.product(*(_single(side, fixed, levels) for side in sides)):
                if high != low:
                    yield high, low


def read_sides(words: Mapping[str, Any], shared: Mapping[str, Any], levels: Levels) -> list[tuple[Any, Any]]:
    """The pairs (higher, lower) of a specification: measurements or numbers."""
    if "pairs" in words:
        return [(_side(high), _side(low)) for high, low in words["pairs"].items()]
    if key := words.get("rises_with", words.get("falls_with")):
        ends = {key: "highest"}, {key: "lowest"}
        return [ends if "rises_with" in words else ends[::-1]]
    form, other = next(
        (form, other) for form, other in (("higher", "than"), ("lower", "than"), ("near", "to")) if form in words
    )
    if other not in words:
        raise SettingError(f"{form} needs {other}")
    pairs = list(itertools.product(*([_side(one) for one in list_values(words[key])] for key in (form, other))))
    reverse = [(b, a) for a, b in pairs]
    return {"higher": pairs, "lower": reverse, "near": [*pairs, *reverse]}[form]


def list_values(value: Any) -> list[Any]:
    """One value or several, as a list."""
    return value if isinstance(value, list) else [value]


def _side(side: Any) -> Any:
    """A method's name as a measurement; numbers and measurements as they are."""
    return {"method": side} if isinstance(side, str) else side


def _single(side: Any, shared: MeasurementKeys, levels: Levels) -> list[Any]:
    """A side with the shared keys: one measurement for each combination of its values; a number as it is."""
    return list(list_combinations({**shared, **side}, [{}], levels)) if isinstance(side, Mapping) else [side]


def read_formula(words: Mapping[str, Any], high: Any, low: Any, hidden: set[str], levels: Levels) -> Formula:
    """high - low, with means and changes written out."""
    both = [side for side in (high, low) if isinstance(side, Mapping)]
    averaged: list[MeasurementKeys] = [{}]
    for key, values in words["mean"].items():
        averaged = [
            {**one, key: v}
            for one in averaged
            for v in list_single_values(key, values, [{**side, **one} for side in both], levels)
        ]
    log, constant, terms = words.get("scale") == "log", 0.0, []
    for sign, side in ((1.0, high), (-1.0, low)):
        if isinstance(side, Mapping):
            terms += [
                (sign * w / len(averaged), term) for one in averaged for w, term in _terms({**side, **one}, levels)
            ]
        else:
            constant += sign * (math.log(side) if log else float(side))
    label = describe(high, low, hidden) + "".join(f", mean over {key}" for key in words["mean"])
    label = f"logarithms: {label}" if log else label
    scale = words.get("scale", "plain")
    return Formula(tuple(terms), constant, read_margin(words["margin"]), label, scale, bool(words.get("counted")))


def _terms(side: MeasurementKeys, levels: Levels) -> list[tuple[float, MeasurementKeys]]:
    """A measurement, or its change, as a weighted sum."""
    if "change" not in side:
        return [(1.0, side)]
    plain = {key: value for key, value in side.items() if key != "change"}
    ((key, ends),) = side["change"].items()
    first, last = (list_single_values(key, end, [plain], levels)[0] if end in LEVEL_WORDS else end for end in ends)
    return [(1.0, {**plain, key: last}), (-1.0, {**plain, key: first})]


def read_correlation(words: Mapping[str, Any], shared: Mapping[str, Any], levels: Levels) -> Correlation:
    """The rank correlation that a specification stands for: over what is listed or within bounds, else over every
    level of a setting, and over what was measured of the rest (epochs)."""
    first, second = words["rank_correlation"]
    sign = float(words.get("sign", 1))
    sign_of = "negative " if sign < 0 else ""
    label = f"Fisher's z of the {sign_of}rank correlation of {first} and {second} over {', '.join(words['over'])}"
    every = {key: "every" for key in words["over"] if key not in ("method", "dataset", *DEFAULTS)}
    of = every | {
        key: value for key, value in shared.items() if key != "metric" and (key not in words["over"] or is_many(value))
    }
    plain = {key: value for key, value in of.items() if not is_many(value)} | {"metric": first}
    of = {
        key: list_single_values(key, value, [plain], levels) if is_many(value) else value for key, value in of.items()
    }
    return Correlation((first, second), tuple(words["over"]), of, sign, read_margin(words["margin"]), label)
