"""Contrasts of measurements and what they decide. No files, no papers."""
