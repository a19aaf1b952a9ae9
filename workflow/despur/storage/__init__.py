"""What lies on disk: reading, writing, checking."""
