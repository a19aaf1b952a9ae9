"""What commands print: lines for people, some of which are rows of a table for programs, too (``--json``)."""

import json
import math
from collections.abc import Iterable
from typing import Any


class Row(str):
    """A line, and what it says as values by name. ``table``: the table that it is a row of."""

    table: str
    values: dict[str, Any]

    def __new__(cls, text: str, table: str, **values: Any) -> "Row":
        row = super().__new__(cls, text)
        row.table, row.values = table, values
        return row


def format_json(lines: Iterable[str]) -> str:
    """The rows of each table, as one JSON object; what has no number is null."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if isinstance(line, Row):
            values = {
                key: None if isinstance(value, float) and math.isnan(value) else value
                for key, value in line.values.items()
            }
            tables.setdefault(line.table, []).append(values)
    return json.dumps(tables, indent=1, ensure_ascii=False, default=str, allow_nan=False)
