"""Pages from the templates of workflow/report: HTML that needs no other file."""

import re
from typing import Any

import jinja2
import pandas as pd

from despur.evidence.numbers.tables import format_digits
from despur.specs.declarations import PACKAGE
from despur.specs.durations import format_seconds

TEMPLATES = PACKAGE.parent / "report"


def render_template(name: str, **content: Any) -> str:
    """A page of a template with this content."""
    return create_environment().get_template(name).render(**content)


def create_environment() -> jinja2.Environment:
    """The templates and their filters. A name that a page does not get is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": format_number, "duration": format_seconds, "breakable": break_name}
    return environment


def format_number(value: Any, digits: int = 3) -> str:
    """A number of any size in a few digits; a dash for none."""
    if value is None or pd.isna(value):
        return "–"
    return format_digits(value, digits)


def break_name(name: Any) -> str:
    """A name that may go on in the next line after each ``+``, ``;`` and ``_`` within it; a dash for none."""
    return "–" if pd.isna(name) else re.sub(r"(?<=\w)[+;_]", "\\g<0>\u200b", str(name))
