"""Tiny architectures that open_clip knows by name, with random weights."""

import json

import open_clip
import torch

from despur.encoders import clip

TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 24, "layers": 1, "width": 64, "patch_size": 8},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 64, "heads": 1, "layers": 1},
}
RESNET = {**TINY, "vision_cfg": {"image_size": 32, "layers": [1, 1, 1, 1], "width": 16, "patch_size": None}}


def add_models(folder):
    """Tell open_clip of tiny-vit and tiny-rn. ``folder``: where their files are written."""
    for name, config in (("tiny-vit", TINY), ("tiny-rn", RESNET)):
        (folder / f"{name}.json").write_text(json.dumps(config))
        open_clip.add_model_config(folder / f"{name}.json")


def tiny(name="tiny-vit", checkpoint="random", shape=(3, 24, 24), seed=0):
    torch.manual_seed(seed)
    return clip.build({"model": name, "checkpoint": checkpoint}, shape).eval()
