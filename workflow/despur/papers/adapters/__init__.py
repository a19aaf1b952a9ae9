"""Contrastive adapters for foundation model group robustness (Zhang & Re 2022)."""
