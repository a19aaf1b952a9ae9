"""The UMAP projections of representations behind Figures 2, 6, 10 and 11 of Correct-N-Contrast."""

from despur.reporting.projections import write_projections
from despur.reporting.tables import main

ARTIFACTS = {"projections": write_projections}

if __name__ == "__main__":
    main(ARTIFACTS)
