"""The ledger: records of finished runs in files that git keeps, and which of them count."""
