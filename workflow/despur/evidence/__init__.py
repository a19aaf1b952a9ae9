"""What was measured, and what may be said of it: runs, statistics, numbers, claims and the ledger of records."""
