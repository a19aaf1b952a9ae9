"""What cheap runs of a grid left over (``screened`` of experiments.yaml)."""

from collections.abc import Mapping
from typing import Any

from despur.specs.spec import Spec


def list_screenings(artifact: Mapping[str, Any], method: str, data: Spec) -> list[dict[str, Any]]:
    """What an artifact declares as ``screened`` of a printed method on data with these settings, whatever its draw."""
    return [
        rule
        for rule in artifact.get("screened", [])
        if rule["method"] == method
        and rule["at"].items() <= data.settings.items()
        and data.changes.keys() - {"draw"} <= rule["at"].keys()
    ]
