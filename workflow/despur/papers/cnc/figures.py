"""Figures of Correct-N-Contrast: the module named in each import draws them."""

from despur.papers.cnc.alignment import draw_figure_5, draw_figure_theorem_3_1
from despur.papers.cnc.curves import draw_figure_3, draw_figure_4, draw_figure_7, draw_figure_7d
from despur.papers.cnc.grad_cam import draw_figure_1, draw_figure_12_13
from despur.papers.cnc.umap_figures import draw_figure_2, draw_figure_6_11, draw_figure_10
from despur.reporting.tables import main

ARTIFACTS = {
    "figure_1": draw_figure_1,
    "figure_2": draw_figure_2,
    "figure_3": draw_figure_3,
    "figure_4": draw_figure_4,
    "figure_5": draw_figure_5,
    "figure_6": draw_figure_6_11,
    "figure_7": draw_figure_7,
    "figure_7d": draw_figure_7d,
    "figure_10": draw_figure_10,
    "figure_11": draw_figure_6_11,
    "figure_12": draw_figure_12_13,
    "figure_13": draw_figure_12_13,
    "figure_theorem_3_1": draw_figure_theorem_3_1,
}

if __name__ == "__main__":
    main(ARTIFACTS)
