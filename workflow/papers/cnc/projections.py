"""The maps of representations behind Figures 2, 6, 10 and 11 of Correct-N-Contrast."""

from despur.reporting.projections import write_projections
from despur.reporting.tables import main

if __name__ == "__main__":
    main({"projections": write_projections})
