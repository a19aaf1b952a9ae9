"""The names of methods that are part of another one's sweep."""

import pandas as pd

from despur.evidence.numbers.printed import is_same

# the other one, and the setting and value that tell them apart
VARIANTS = {
    "adv_single": ("adv", "discriminators", "1"),
    "con_ce_scl": ("con", "parts", "scl"),
    "con_ce_fcl": ("con", "parts", "fcl"),
}


def add_names(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with a method name of its own for each of VARIANTS."""
    for name, (method, setting, value) in VARIANTS.items():
        if setting in table:
            mine = table[setting].map(lambda measured, value=value: is_same(measured, value))
            table.loc[mine & (table["paper_method"] == method), "paper_method"] = name
    return table
