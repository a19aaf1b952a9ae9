"""The commands of `python -m despur`."""
