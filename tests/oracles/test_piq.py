"""The structural distance of CIM is one minus piq's MS-SSIM."""

import pytest
import torch

from despur.losses.similarity import SCALE_WEIGHTS, structural_distance

piq = pytest.importorskip("piq", reason="piq is not installed (make test-oracles)")


@pytest.mark.parametrize(("side", "window", "scales"), [(32, 7, 3), (29, 5, 2)])
def test_structural_distance(side, window, scales):
    left, noise = 2 * torch.rand(2, 4, 3, side, side, generator=torch.Generator().manual_seed(0)) - 1
    right = (left + 0.3 * noise).clamp(-1, 1)
    weights = torch.tensor(SCALE_WEIGHTS[:scales])
    expected = piq.multi_scale_ssim((left + 1) / 2, (right + 1) / 2, window, reduction="none", scale_weights=weights)
    torch.testing.assert_close(structural_distance(left, right, window, scales), 1 - expected)
