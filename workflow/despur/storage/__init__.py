"""What lies on disk: arrays and tables, digests, provenance, raw files, pretrained weights, the ledger."""
