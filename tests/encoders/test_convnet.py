"""The convolutional encoder of Lewis et al. 2023."""

import pytest
import torch
from torch import nn

from despur.encoders.convnet import build
from despur.specs.resolution import resolve


def convnet(shape=(3, 28, 28), **settings):
    name = "+".join(["convnet", *(f"{key}={value}" for key, value in sorted(settings.items()))])
    (point,) = resolve("encoders", name).points
    torch.manual_seed(0)
    return build(point.settings, shape)


@pytest.mark.parametrize("shape", [(3, 28, 28), (3, 16, 16), (1, 27, 33)])
def test_any_image_becomes_a_representation(shape):
    encoder = convnet(shape, dim=7)
    assert encoder.dim == 7 and encoder(torch.rand(5, *shape)).shape == (5, 7)


@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_three_blocks_and_one_linear_layer(kernel):
    layers = convnet(kernel=kernel, width=8).layers
    kinds = [nn.Conv2d, nn.BatchNorm2d, nn.Dropout2d, nn.ReLU]
    assert [type(layer) for layer in layers] == [*3 * kinds, nn.Flatten, nn.Linear]
    assert [layer.out_channels for layer in layers if isinstance(layer, nn.Conv2d)] == [8, 16, 32]
    assert layers[-1].out_features == 16
    assert convnet(kernel=kernel)(torch.rand(2, 3, 28, 28)).shape == (2, 16)


@pytest.mark.parametrize(("dropped", "whole"), [("channels", True), ("units", False)])
def test_dropout_takes_whole_channels_or_single_units(dropped, whole):
    (dropout, *_) = [
        layer for layer in convnet(dropped=dropped, dropout=0.5).layers if isinstance(layer, nn.Dropout2d | nn.Dropout)
    ]
    kept = dropout(torch.ones(8, 16, 5, 5)) > 0
    assert bool((kept == kept[:, :, :1, :1]).all()) is whole and 0.3 < kept.float().mean() < 0.7


def test_the_mean_over_positions_forgets_where_a_block_answers():
    """Pooled, the linear layer has one weight a channel: it cannot tell a map from the same map turned over."""
    flat, pooled = (convnet(width=4, pooling=pooling).layers[12:] for pooling in ("none", "mean"))
    maps = torch.rand(2, 16, 4, 4)
    torch.testing.assert_close(pooled(maps), pooled(maps.flip(2)))
    torch.testing.assert_close(pooled(maps), pooled[-1](maps.mean(dim=(2, 3))))
    assert not torch.allclose(flat(maps), flat(maps.flip(2)))


def test_dropout_and_batch_statistics_are_for_training_only():
    encoder, images = convnet(dropout=0.5), torch.rand(4, 3, 28, 28)
    assert not torch.equal(encoder(images), encoder(images))
    encoder.eval()
    torch.testing.assert_close(encoder(images)[:1], encoder(images[:1]))


def test_what_cannot_be_encoded_is_refused():
    with pytest.raises(ValueError, match="kernel=4: must be odd"):
        convnet(kernel=4)
    with pytest.raises(ValueError, match="takes images"):
        convnet((64,))
