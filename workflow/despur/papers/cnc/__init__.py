"""Correct-N-Contrast (Zhang et al. 2022)."""
