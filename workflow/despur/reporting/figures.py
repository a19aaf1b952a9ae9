"""One style for all figures, what methods and data sets are called in them, and how they are written."""

import re
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.figure import Figure

from despur.orchestration.experiments import ArtifactRun
from despur.storage.store import atomic

COLUMN = 3.4  # inches: width of a column in print
# Every printed method, paper by paper. Any ten neighbors have colors of their own; a method has the same color in
# every figure.
NAMES = {
    "erm": "ERM",
    "jtt": "JTT",
    "cnc": "CNC",
    "gdro": "Group DRO",
    "eiil": "EIIL",
    "supcon": "SupCon*",
    "pgi": "PGI",
    "lff": "LfF",
    "cim": "CIM",
    "george": "GEORGE",
    "cvar_dro": "CVaR DRO",
    "cnc_align_loss": "CNC, alignment loss",
    "dann_spurious_attribute": "DANN, attribute",
    "dann_majority_minority": "DANN, majority",
    "cnc_negatives_by_class": "CNC, negatives by class",
    "cnc_negatives_by_prediction": "CNC, negatives by prediction",
    "cnc_projection_head": "CNC, projection head",
    "cnc_one_sided": "CNC, one-sided",
    "cnc_train_finetune": "CNC, train then finetune",
    "cnc_train_finetune_all": "CNC, train then finetune all layers",
    "cnc_sizes": "CNC, M and N",
    "cnc_pseudo_labels": "CNC, pseudo-labels",
    "cnc_clustering": "CNC, clustering",
    "zero_shot": "Zero-shot",
    "group_prompt": "Group prompt",
    "linear_probe": "Linear probe",
    "adapter": "Adapter",
    "wise_ft": "WiSE-FT",
    "dfr": "DFR",
    "dfr_subsample": "DFR, subsampled",
    "dfr_upsample": "DFR, upsampled",
    "dfr_logistic": "DFR, logistic regression",
    "dfr_logistic_subsample": "DFR, logistic regression, subsampled",
    "dfr_logistic_upsample": "DFR, logistic regression, upsampled",
    "contrastive_adapter": "Contrastive adapter",
    "ssa": "SSA",
    "rwy": "RWY",
    "adapter_hard_sampling_only": "Adapter, hard sampling",
    "adapter_contrastive_only": "Adapter, contrastive",
    "standard_cl": "Standard CL",
    "same_domain_negatives": "Same-domain negatives",
    "mmd": "MMD",
    "dann": "DANN",
    "domain_weighted_negatives": "Domain-weighted negatives",
    "domain_weighted_pairs": "Domain-weighted pairs",
    "color_jitter_oracle": "Colour jitter (oracle)",
    "ce": "CE",
    "inlp": "INLP",
    "adv": "Adv",
    "con_ft": "Con, finetuned",
    "con": "Con",
    "con_ce_scl": "CE + SCL",
    "con_ce_fcl": "CE − FCL",
    "leace": "LEACE",
    "adv_single": "Adv, single",
    "simclr": "SimCLR",
    "simclr_msr": "SimCLR + MSR",
    "byol": "BYOL",
    "byol_msr": "BYOL + MSR",
    "wmse": "W-MSE",
    "ressl": "ReSSL",
    "ressl_msr": "ReSSL + MSR",
    "lmcl": "LMCL",
    "lmcl_msr": "LMCL + MSR",
    "ssl_hsic": "SSL-HSIC",
    "relic": "ReLIC",
    "moco": "MoCo",
    "cmc": "CMC",
    "cmc_msr": "CMC + MSR",
    "swav": "SwAV",
    "swav_msr": "SwAV + MSR",
    "dcl": "DCL",
    "dcl_msr": "DCL + MSR",
    "cpc": "CPC",
    "infomin": "InfoMin",
    "barlow_twins": "Barlow Twins",
}
COLORS = dict(zip(NAMES, cycle(sns.color_palette("colorblind", 10))))
DATA = {
    "cmnist": "CMNIST*",
    "waterbirds": "Waterbirds",
    "celeba": "CelebA",
    "civilcomments": "CivilComments",
    "cmnist_3v5": "CMNIST, 3 against 5",
    "moji": "Moji",
    "hate_speech": "Hate speech",
    "bios": "Bios",
    "imsitu": "imSitu",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stl10": "STL-10",
    "tiny_imagenet": "Tiny ImageNet",
    "imagenet100": "ImageNet-100",
    "imagenet": "ImageNet",
    "coco30": "COCO, 30 classes",
    "breeds_living17": "Living-17",
    "breeds_nonliving26": "Nonliving-26",
    "breeds_entity13": "Entity-13",
    "breeds_entity30": "Entity-30",
    "cifar10_001": "CIFAR-10.001",
    "cifar10_02": "CIFAR-10.02",
    "fmow": "FMoW",
    "amazon": "Amazon",
}


def create_panels(count: int, width: float = COLUMN, height: float = 2.2, **keywords: Any) -> tuple[Figure, Any]:
    """A row of panels in the style of despur. ``width`` and ``height`` are those of the figure, in inches."""
    figure, rows = label_rows([""], count, width, height, **keywords)
    return figure, rows[0]


def create_grid(
    rows: int, columns: int, width: float = COLUMN, height: float = 2.2, **keywords: Any
) -> tuple[Figure, Any]:
    """Aligned panels (rows, columns) in the style of despur. ``width`` of the figure and ``height`` of a row, in
    inches."""
    set_style()
    return plt.subplots(rows, columns, figsize=(width, height * rows), layout="constrained", squeeze=False, **keywords)


def label_rows(
    names: Sequence[str], columns: int, width: float = COLUMN, height: float = 2.2, **keywords: Any
) -> tuple[Figure, list[Any]]:
    """Rows of panels in the style of despur, each with its name above. ``width`` of the figure and ``height`` of a row,
    in inches."""
    set_style()
    figure = plt.figure(figsize=(width, height * len(names)), layout="constrained")
    rows = figure.subfigures(len(names), 1, squeeze=False)[:, 0]
    for row, name in zip(rows, names, strict=True):
        if name:
            row.suptitle(name, weight="bold")
    return figure, [row.subplots(1, columns, squeeze=False, **keywords)[0] for row in rows]


def set_style() -> None:
    """The style of despur, for figures drawn from now on."""
    sns.set_theme(
        context="paper",
        style="ticks",
        font_scale=0.9,
        rc={
            "axes.spines.top": False,
            "axes.spines.right": False,
            "savefig.dpi": 200,
            "pdf.fonttype": 42,
            "font.family": "DejaVu Sans",
            "axes.titlesize": 8,
            "axes.labelsize": 8,
            "xtick.labelsize": 7,
            "ytick.labelsize": 7,
            "legend.frameon": False,
            "legend.fontsize": 7,
            "legend.title_fontsize": 7,
            "figure.titlesize": 9,
            "lines.linewidth": 1.2,
            "lines.markersize": 4,
        },
    )


def name_data(paper_dataset: str, used_dataset: str) -> str:
    """A paper's data set, with its substitute if there is one (without the settings that it sweeps: the figure shows
    them)."""
    name = DATA.get(paper_dataset, paper_dataset)
    short_name = re.sub(r"\+[^+]*~[^+]*", "", used_dataset)
    return f"{name}, substitute: {short_name}" if ArtifactRun(paper_dataset, used_dataset, "", ()).substitute else name


def order_methods(methods: Any) -> list[str]:
    """Methods in the order of NAMES."""
    present = set(methods)
    return [method for method in NAMES if method in present]


def write_figure(prefix: Path, figure: Figure) -> None:
    """``prefix``.pdf and .png, each atomically; no dates in them, so that equal figures are equal files."""
    for suffix, metadata in ((".pdf", {"CreationDate": None}), (".png", {"Software": None})):
        with atomic(prefix.with_suffix(suffix)) as temporary:
            figure.savefig(temporary, metadata=metadata)
    plt.close(figure)
