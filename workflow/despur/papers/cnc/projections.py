"""The UMAP projections of representations behind Figures 2, 6, 10 and 11 of Correct-N-Contrast."""

from despur.evidence.numbers.tables import main
from despur.reporting.projections import write_projections

ARTIFACTS = {"projections": write_projections}

if __name__ == "__main__":
    main(ARTIFACTS)
