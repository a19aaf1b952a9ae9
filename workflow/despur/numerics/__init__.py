"""Numerical algorithms that need no deep learning: least squares, logistic regression, neighbors, UMAP."""
