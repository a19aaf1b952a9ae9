"""Contrastive learning for fair representations (Shen et al. 2021)."""
