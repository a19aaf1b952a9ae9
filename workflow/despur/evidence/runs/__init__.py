"""What the runs behind an artifact measured: read from folders of runs and from records of the ledger."""
