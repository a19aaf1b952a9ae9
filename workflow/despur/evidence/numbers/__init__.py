"""The printed numbers beside ours, and whether they agree."""
