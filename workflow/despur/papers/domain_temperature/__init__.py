"""Adaptive temperature control in contrastive learning (Lewis et al. 2023)."""
