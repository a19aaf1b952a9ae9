"""One style for all figures, and how they are written."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.figure import Figure

from despur.store import atomic

COLUMN = 3.4  # inches: width of a column in print
NAMES = {"erm": "ERM", "jtt": "JTT", "cnc": "CNC", "gdro": "Group DRO"}
COLORS = dict(zip(NAMES, sns.color_palette("colorblind", len(NAMES)), strict=True))


def panels(count: int, width: float = COLUMN, height: float = 2.2, **keywords: Any) -> tuple[Figure, Any]:
    """A row of panels in the house style; ``width`` and ``height`` in inches, of the whole figure and of the row."""
    figure, axes = grid(1, count, width, height, **keywords)
    return figure, axes[0]


def grid(rows: int, columns: int, width: float = COLUMN, height: float = 2.2, **keywords: Any) -> tuple[Figure, Any]:
    """Rows of panels in the house style, (rows, columns); ``width`` and ``height`` in inches, of the whole figure and of each row."""
    sns.set_theme(
        context="paper",
        style="ticks",
        font_scale=0.9,
        rc={"axes.spines.top": False, "axes.spines.right": False, "savefig.dpi": 200, "pdf.fonttype": 42, "font.family": "DejaVu Sans"},
    )
    return plt.subplots(rows, columns, figsize=(width, height * rows), layout="constrained", squeeze=False, **keywords)


def write_figure(prefix: Path, figure: Figure) -> None:
    """``prefix``.pdf and .png, each atomically; no dates in them, so that equal figures are equal files."""
    for suffix, metadata in ((".pdf", {"CreationDate": None}), (".png", {"Software": None})):
        with atomic(prefix.with_suffix(suffix)) as temporary:
            figure.savefig(temporary, metadata=metadata)
    plt.close(figure)
