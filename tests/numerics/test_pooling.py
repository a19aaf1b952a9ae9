import pytest
import torch
from torch.nn.functional import max_pool2d

from despur.numerics.pooling import MaxPool


def with_ties(*shape):
    """Small integers, so that most squares have equal pixels, and both zeros."""
    return torch.randint(-1, 2, shape, generator=torch.Generator().manual_seed(0)) * torch.tensor(-1.0)


@pytest.fixture(params=["contiguous", "channels last", "a slice"])
def images(request):
    found = with_ties(5, 3, 8, 12)
    if request.param == "channels last":
        return found.contiguous(memory_format=torch.channels_last)
    return found if request.param == "contiguous" else with_ties(5, 6, 8, 24)[:, ::2, :, ::2]


def test_values_are_those_of_torch(images):
    assert torch.equal(MaxPool()(images), max_pool2d(images, 2))
    assert torch.equal(MaxPool()(images.requires_grad_()), max_pool2d(images, 2))


def test_of_equal_pixels_the_first_has_the_gradient_as_in_torch(images):
    ours, theirs = images.clone().requires_grad_(), images.clone().requires_grad_()
    gradient = torch.randn(5, 3, 4, 6, generator=torch.Generator().manual_seed(1))
    MaxPool()(ours).backward(gradient)
    max_pool2d(theirs, 2).backward(gradient)
    assert torch.equal(ours.grad, theirs.grad)


def test_second_derivatives_are_right():
    images = torch.randn(2, 2, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    assert torch.autograd.gradgradcheck(lambda x: MaxPool()(x).square(), images.requires_grad_())


def test_what_is_not_a_number_stays_none():
    images = with_ties(1, 1, 4, 4)
    images[0, 0, 0, 1] = torch.nan
    assert MaxPool()(images).isnan().tolist() == [[[[True, False], [False, False]]]]
