"""LEACE is concept-erasure's, with the exact covariance and all correlations."""

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from despur.methods.leace import erasure

oracle = pytest.importorskip("concept_erasure", reason="concept-erasure is not installed (make test-oracles)")


@pytest.mark.parametrize(("values", "dim", "kept"), [(2, 6, 6), (3, 20, 20), (4, 9, 5)])
def test_the_map(values, dim, kept):
    """``kept``: dimensions in which the representations vary."""
    rng = np.random.default_rng(dim)
    a = rng.integers(0, values, 500)
    x = (rng.normal(size=(500, kept)) + rng.normal(size=(values, kept))[a]) @ rng.normal(size=(kept, dim)) + 3
    fitter = oracle.LeaceFitter(dim, values, dtype=torch.float64, shrinkage=False, svd_tol=1e-6)
    fitter.update(torch.from_numpy(x), one_hot(torch.from_numpy(a)).double())
    weight, bias = erasure(x, a)
    np.testing.assert_allclose(x @ weight.T + bias, fitter.eraser(torch.from_numpy(x)).numpy(), atol=1e-8)
    if kept == dim:
        np.testing.assert_allclose(weight, fitter.eraser.P.numpy(), atol=1e-8)
