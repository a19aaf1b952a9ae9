"""The package as a library: data sets for torch, and methods trained without Snakemake."""
