"""Encoders by name, and the error for samples that an encoder does not take."""

from importlib import import_module

from torch import nn

from despur.specs.settings import SettingError
from despur.specs.spec import Spec


def build_encoder(spec: Spec, shape: tuple[int, ...]) -> nn.Module:
    """The encoder that a specification names, for samples of this shape; ``dim`` is the size of its
    representations."""
    encoder = spec.components["encoder"]
    return import_module(f"despur.encoders.{encoder.base_name}").build(encoder.settings, shape)


def misfit(
    encoder: str,
    takes: str,
    shape: tuple[int, ...],
    vectors: str = "mlp takes vectors, bert tokens",
    images: str = "convnet takes images of any form, or bring resized ones: here nothing is enlarged",
) -> SettingError:
    """The error for samples of this ``shape``: vectors or tokens (N,), or images (C,H,W). ``takes``: what the encoder
    accepts; ``vectors``, ``images``: the remedy for each kind."""
    kind, remedy = ("vectors or tokens", vectors) if len(shape) == 1 else ("images", images)
    where = (
        "+encoder=NAME, or +stage1.encoder=NAME for stage 1, chooses another "
        "(or PAPER_HYPERPARAMETERS in the data set's file)"
    )
    return SettingError(f"{encoder} takes {takes}, not {kind} of {'x'.join(map(str, shape))}: {where}; {remedy}")
