"""The commands of `despur`."""
