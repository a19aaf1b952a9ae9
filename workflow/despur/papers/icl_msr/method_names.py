"""The paper's names for the runs of this paper folder, whose jobs are named by the model that they read."""

from functools import cache
from typing import Any

import pandas as pd

from despur.orchestration import experiments
from despur.specs.names import parse
from despur.specs.resolution import resolve

SETTINGS = {
    "weight": "lambda",
    "uniformity": "gamma",
    "vectors": "n",
    "second_order": "second_order",
    "epochs": "epochs",
}


@cache
def list_printed_names() -> dict[str, str]:
    """The paper's names for the runs on each stage-1 method."""
    named = experiments.load_experiments("icl_msr")["methods"].items()
    return {resolve("methods", text).points[0].components["stage1"].base_name: name for name, text in named}


@cache
def read_settings(data: str, method: str) -> dict[str, Any]:
    """The settings that tables, figures and claims use, whether a sweep varies it or not."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    base = point.components["stage1"]
    settings = {name: base.settings.get(key) for name, key in SETTINGS.items()}
    train = resolve("datasets", data).points[0].settings.get("train", "full")
    return {
        "paper_method": list_printed_names()[base.base_name],
        "train": train,
        "label_fraction": point.settings.get("label_fraction"),
        **settings,
    }


def add_names(table: pd.DataFrame) -> pd.DataFrame:
    """Rows under the paper's names, with the settings of :func:`read_settings`."""
    settings = pd.DataFrame([*map(read_settings, table["data"], table["method"])], index=table.index)
    return table.assign(**settings)
