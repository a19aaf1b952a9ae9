"""The paper's names for the runs of this paper folder: printed methods that share one job, and foundation models."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.runs.artifact_metrics import rows_where
from despur.specs.names import parse
from despur.specs.resolution import resolve
from despur.specs.spec import Spec

# printed methods that share the job of another one: that job, and the settings that tell them apart
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "group_prompt": ("zero_shot", {"prompts": "group"}),
    "dfr_subsample": ("dfr", {"resample": "subsample"}),
    "dfr_upsample": ("dfr", {"resample": "upsample"}),
    "dfr_logistic_subsample": ("dfr_logistic", {"resample": "subsample"}),
    "dfr_logistic_upsample": ("dfr_logistic", {"resample": "upsample"}),
    "adapter": ("contrastive_adapter", {"contrastive": False, "sampling": "random"}),
    "adapter_hard_sampling_only": ("contrastive_adapter", {"contrastive": False, "sampling": "hard"}),
    "adapter_contrastive_only": ("contrastive_adapter", {"contrastive": True, "sampling": "random"}),
}
BACKBONES = {
    "RN50": "clip_rn50",
    "RN101": "clip_rn101",
    "ViT-B-32": "clip_vit_b32",
    "ViT-B-16": "clip_vit_b16",
    "ViT-L-14": "clip_vit_l14",
}
# their substitutes are bundled models; the one for SMALLER has seen fewer scenes. Encoders that the paper did not use
# stand for LARGER
LARGER, SMALLER = ("clip_rn50", "clip_rn101")
OTHERS = ("hf", "timm")  # besides clip with other weights than these
CHECKPOINTS = ("openai", "cloob", "random")
SCENES = 150  # a bundled model that has seen fewer is the smaller one
FULL = "imagenet_rn50"  # trained as a whole
IMAGES = ("clip", "cloob", FULL)  # beginnings of the backbones for images
# Sec. 4.1: zero-shot classification and adapters that ERM trains, on CLIP models
OF_FIGURE_3 = ["zero_shot", "adapter"]
TRACKED = [*OF_FIGURE_3, "contrastive_adapter"]  # what is shown there


@cache
def identify(printed: str, method: str, data: str) -> tuple[str, str, float]:
    """The paper's names of a run's method and backbone, and its alpha (NaN without one)."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    printed = printed.removesuffix("_cloob")
    for name, (job, settings) in VARIANTS.items():
        if printed == job and all(point.settings.get(key) == value for key, value in settings.items()):
            printed = name
    if "stage1" not in point.components:
        return printed, FULL, np.nan
    base = point.components["stage1"]
    if base.base_name == "two_tower":
        return printed, LARGER if base.settings["scenes"] >= SCENES else SMALLER, point.settings.get("alpha", np.nan)
    return printed, identify_backbone(base.components["encoder"]), point.settings.get("alpha", np.nan)


def identify_backbone(encoder: Spec) -> str:
    """The paper's name of a foundation model."""
    model, checkpoint = str(encoder.settings.get("model", encoder.base_name)), encoder.settings.get("checkpoint")
    if encoder.base_name in OTHERS or (encoder.base_name == "clip" and checkpoint not in CHECKPOINTS):
        return LARGER
    return f"cloob_{model.lower()}" if checkpoint == "cloob" else BACKBONES.get(model, model)


def add_names(table: pd.DataFrame) -> pd.DataFrame:
    """Rows under the paper's names, with columns ``backbone`` and ``alpha``; alpha 0 of WiSE-FT is the linear probe
    too."""
    identified = [*map(identify, table["paper_method"], table["method"], table["data"])]
    names = pd.DataFrame(identified, columns=["paper_method", "backbone", "alpha"], index=table.index)
    table = table.assign(**names)
    probes = rows_where(table, paper_method="wise_ft", alpha=0).assign(paper_method="linear_probe")
    return pd.concat([table, probes], ignore_index=True)
