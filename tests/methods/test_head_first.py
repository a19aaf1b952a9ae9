"""Fine-tuning in two phases: the last layer alone, then all."""

import numpy as np
import torch
from helpers import build, embedded
from torch import nn

RNG = np.random.default_rng
SMALL = "+batch_size=20+encoder=mlp+learning_rate=0.01"
PHASE = f"head_first{SMALL}+head_batch_size=16+head_epochs=3+head_learning_rate=0.05"


def of():
    return embedded(np.arange(60) % 3)


def epoch(method, number):
    method.epochs_done = number
    batches = list(method.epoch_batches(RNG(number)))
    return batches, [method.step(batch, RNG(i))["loss"].item() for i, batch in enumerate(batches)]


def copied(network):
    return {name: value.clone() for name, value in network.state_dict().items()}


def test_the_first_phase_comes_once_and_trains_the_last_layer_alone():
    method, task = build(PHASE, of()), of()
    encoder, head = (copied(method.networks[name]) for name in ("encoder", "head"))
    first, *others = method.epoch_batches(RNG(0))
    assert len(first) == 0 and method.count_images(first) == 60
    assert sorted(np.concatenate(others)) == list(range(60))
    loss = method.step(first, RNG(7))["loss"].item()
    torch.testing.assert_close(copied(method.networks["encoder"]), encoder)

    slow, rng = nn.Linear(300, 3), RNG(7)  # a sample is encoded anew whenever it is shown
    slow.load_state_dict(head)
    optimizer = torch.optim.Adam(slow.parameters(), 0.05)
    for _ in range(3):
        shown, total = rng.permutation(60), 0.0
        for rows in (shown[:16], shown[16:32], shown[32:48], shown[48:]):
            optimizer.zero_grad()
            z = method.networks["encoder"](task.batcher.batch(rows, rng)).detach()
            found = nn.functional.cross_entropy(slow(z), task.labels[rows])
            found.backward()
            optimizer.step()
            total += found.item() * len(rows) / 60
    torch.testing.assert_close(copied(method.networks["head"]), copied(slow))
    assert abs(loss - total) < 1e-5
    method.epochs_done = 1
    assert all(len(batch) for batch in method.epoch_batches(RNG(1)))


def test_the_second_phase_trains_all_and_starts_where_the_first_ended():
    method = build(PHASE, of())
    encoder = copied(method.networks["encoder"])
    _, (_, start, *_) = epoch(method, 0)
    assert start < build(PHASE, of()).losses(np.arange(60), RNG(0))["loss"].item()
    assert any((value != encoder[name]).any() for name, value in method.networks["encoder"].state_dict().items())


def test_without_a_first_phase_it_is_erm():
    states = []
    for name in ("head_first", "erm"):
        method = build(
            f"{name}{SMALL}{'+head_epochs=0' if name == 'head_first' else '+optimizer=adam+weight_decay=0'}", of()
        )
        for number in range(2):
            epoch(method, number)
        states.append(copied(method.networks))
    torch.testing.assert_close(*states)


def test_batch_norm_of_the_encoder_stays_as_it_was_pretrained():
    method = build(PHASE, of())
    norm = nn.BatchNorm1d(300)
    norm.dim = 300
    method.networks["encoder"] = nn.Sequential(method.networks["encoder"], norm)
    before = copied(method.networks["encoder"])
    method.step(np.empty(0, int), RNG(0))
    torch.testing.assert_close(copied(method.networks["encoder"]), before)
