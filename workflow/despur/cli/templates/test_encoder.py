import torch

from despur.encoders import new_encoder
from despur.specs.resolution import resolve


def test_representations_have_the_size_that_is_stated():
    (spec,) = resolve("encoders", "new_encoder+width=7").points
    encoder = new_encoder.build(spec.settings, (3, 4, 4))
    z = encoder(torch.ones(5, 3, 4, 4))
    assert z.shape == (5, 7) and encoder.dim == 7
    z.sum().backward()
    assert all(parameter.grad is not None for parameter in encoder.parameters())
