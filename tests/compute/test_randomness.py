import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from despur.compute.randomness import derive_generator, derive_seed, seed_torch

PURPOSES = st.text("abc_", min_size=1, max_size=5)
COUNTS = st.lists(st.integers(-3, 20), max_size=3).map(tuple)


def test_numbers_stay_what_they_are():
    assert derive_seed("cmnist", 0) == 1408761248494710680
    assert derive_seed("colored_digits/erm/0", 3, 14) == 4613812928008691184


@settings(deadline=None)
@given(PURPOSES, COUNTS)
def test_a_number_fits_in_63_bits(purpose, counts):
    assert 0 <= derive_seed(purpose, *counts) < 2**63


@settings(deadline=None)
@given(PURPOSES, COUNTS, PURPOSES, COUNTS)
def test_different_uses_get_different_numbers(purpose, counts, other_purpose, other_counts):
    same = (purpose, counts) == (other_purpose, other_counts)
    assert (derive_seed(purpose, *counts) == derive_seed(other_purpose, *other_counts)) == same


def test_draws_do_not_depend_on_what_was_drawn_before():
    alone = derive_generator("leakage", 1).random(5)
    derive_generator("leakage", 0).random(1000)
    np.random.default_rng().random(3)
    assert np.array_equal(derive_generator("leakage", 1).random(5), alone)


def test_generators_of_different_counts_are_uncorrelated():
    draws = np.stack([derive_generator("order", count).standard_normal(4000) for count in range(4)])
    assert np.abs(np.corrcoef(draws) - np.eye(4)).max() < 4 / np.sqrt(4000)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_torch_is_seeded_as_by_its_own_function(device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU here")
    torch.zeros(1, device=device)  # now it is in use
    torch.manual_seed(2**62 + 5)
    asked = torch.randn(7, device=device)
    torch.randn(3, device=device)
    seed_torch(2**62 + 5)
    assert torch.equal(torch.randn(7, device=device), asked)


def test_every_gpu_is_seeded_not_only_the_current_one(monkeypatch):
    """With generators of the CPU in the place of those of two GPUs."""
    gpus = [torch.Generator(), torch.Generator()]
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "default_generators", gpus)
    monkeypatch.setattr(torch.cuda.random, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda.random, "current_device", lambda: 0)
    seed_torch(7)
    assert [gpu.initial_seed() for gpu in gpus] == [7, 7]
