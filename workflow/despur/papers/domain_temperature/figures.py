"""Figures of Lewis et al. 2023: the module named in each import draws them."""

from despur.papers.domain_temperature.accuracy_figures import draw_figure_1, draw_figure_4, draw_figure_5
from despur.papers.domain_temperature.data_figures import draw_figure_2, draw_figure_3
from despur.papers.domain_temperature.heat_maps import draw_figure_grids
from despur.papers.domain_temperature.temperature_figures import draw_figure_6_7
from despur.reporting.tables import main

ARTIFACTS = {
    "figure_1": draw_figure_1,
    "figure_2": draw_figure_2,
    "figure_3": draw_figure_3,
    "figure_4": draw_figure_4,
    "figure_5": draw_figure_5,
    "figure_6_7": draw_figure_6_7,
    "figure_grids": draw_figure_grids,
}

if __name__ == "__main__":
    main(ARTIFACTS)
