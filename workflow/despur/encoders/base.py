"""Encoders by name, the error for samples that an encoder does not take, and networks of transformers."""

from collections.abc import Mapping
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any

import torch
from torch import nn

from despur.specs.settings import SettingError
from despur.specs.spec import Spec
from despur.storage.pretrained import remedy
from despur.storage.store import InputError


def build_encoder(spec: Spec, shape: tuple[int, ...]) -> nn.Module:
    """The encoder that a specification names, for samples of this shape; ``dim`` is the size of its
    representations. Raises SettingError for a method without the setting ``encoder``."""
    if "encoder" not in spec.components:
        raise SettingError(f"{spec.base_name} has no setting encoder: add **sgd(...) to its SETTINGS")
    encoder = spec.components["encoder"]
    module = import_module(f"despur.encoders.{encoder.base_name}")
    if not hasattr(module, "build"):
        raise SettingError(f"{module.__file__} defines no build(settings, shape), which returns the encoder")
    network: nn.Module = module.build(encoder.settings, shape)
    if not isinstance(getattr(network, "dim", None), Integral):
        raise SettingError(
            f"{module.__file__}: what build returns must have dim, the size of its representations, a whole number"
        )
    return network


def check_vocabulary(encoder: nn.Module, about: Mapping[str, Any], tokens: bool) -> None:
    """Raises SettingError for tokens of another vocabulary than a language model reads, and for any where the encoder
    reads ``vectors``. ``about``: of the data set; ``tokens``: whether its inputs are tokens."""
    if tokens and getattr(encoder, "vectors", False):
        raise SettingError(
            f"{about.get('dataset', 'the data set')} holds texts, but the encoder reads vectors: +encoder=bigru, or "
            "+stage1.encoder=bigru for stage 1; bert and language_model where the data set has their vocabulary"
        )
    vocabulary = getattr(encoder, "vocabulary", None)
    given = about.get("vocabulary", vocabulary)
    if vocabulary and given != vocabulary:
        name = about.get("dataset", "DATASET")
        raise SettingError(
            f"{name} holds tokens of the vocabulary {given}, but the encoder reads {vocabulary}: "
            f"{name}+vocabulary={vocabulary} (in a configuration's datasets, or the result path), or another encoder"
        )


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


def load_transformer(network: Any, path: Path, url: str, **options: Any) -> nn.Module:
    """A network of this class of transformers with the weights of a file, in single precision. ``url``: where the file
    comes from. Raises InputError if some weights are missing or have other shapes."""
    try:
        loaded, loading = network.from_pretrained(
            str(path.parent), local_files_only=True, output_loading_info=True, dtype=torch.float32, **options
        )
        if unfit := [*loading["missing_keys"], *loading["mismatched_keys"]]:
            raise ValueError(f"no fitting {min(map(str, unfit))}")
    except Exception as error:  # transformers and safetensors have errors of their own
        raise InputError(
            f"{path} does not hold the weights of this {network.__name__} ({error}). {remedy(path, url)}"
        ) from error
    return loaded
