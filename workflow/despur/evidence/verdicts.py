"""Every verdict that despur gives, by name. Tables keep the values; no code looks for words in them."""

from enum import StrEnum


class NumberVerdict(StrEnum):
    """On a printed number, in points (of percent) or, of other units, in percent of the printed number."""

    WITHIN_2 = "within 2"
    WITHIN_5 = "within 5"
    BEYOND_5 = "beyond 5"
    NOT_KNOWN = "not known"
    AS_PRINTED = "as printed"  # of what does not vary (counts; the same in all seeds, here and in print)
    NOT_AS_PRINTED = "not as printed"
    FITTED = "fitted to print"  # a setting was found on this number: never compared
    OTHER_SETTINGS = "other settings"
    SUBSTITUTE = "substitute data"
    NOT_COMPARED = "not compared"  # the reason says why
    NOT_RUN = "not run here"


MEASURED = (NumberVerdict.WITHIN_2, NumberVerdict.WITHIN_5, NumberVerdict.BEYOND_5, NumberVerdict.NOT_KNOWN)
COUNTED = (NumberVerdict.AS_PRINTED, NumberVerdict.NOT_AS_PRINTED)


class ClaimVerdict(StrEnum):
    """On a claim: on the paper's data, then on other data, where only an order is looked at."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    NOT_TUNED = "baseline not tuned"
    SEEN = "seen here"
    OPPOSITE = "opposite seen here"
    NOT_SEEN = "not seen"
    NOT_RUN = "not run here"
    NOT_EXECUTED = "not executed"


DECIDED = (ClaimVerdict.HOLDS, ClaimVerdict.FAILS, ClaimVerdict.UNDECIDED)  # what data of the paper can give
ORDERS = (ClaimVerdict.SEEN, ClaimVerdict.OPPOSITE, ClaimVerdict.NOT_SEEN)  # what other data can give


class ChoiceVerdict(StrEnum):
    """On a setting that a paper leaves open."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    TOO_FEW = "too few seeds"
    NOTHING = "nothing to compare"  # no number of percentages was compared without the choice and under it
    NOT_TRIED = "not tried"


class PrintedVerdict(StrEnum):
    """What a paper's own printed numbers say of its claim."""

    HOLDS = "holds"
    CONTRADICTED = "contradicted by the paper's own numbers"
    NOT_PRINTED = "not printed"


class Tier(StrEnum):
    """On which data something was measured; never added up."""

    PAPER = "the paper's data"
    OTHER_ENCODER = "the paper's data, another encoder"
    SUBSTITUTE = "substitute data"


class Settings(StrEnum):
    """Where the settings of a measurement come from."""

    STATED = "stated"
    SELECTED = "selected"
    CHOSEN = "chosen by us"
    FITTED_ELSEWHERE = "fitted elsewhere"
    FITTED = "fitted to print"
