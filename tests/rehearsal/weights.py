"""Tiny random networks and vocabularies, in the files in which their authors publish the large ones."""

import json
from pathlib import Path

import open_clip
import torch
from safetensors.torch import save_file
from transformers import GPTNeoConfig, GPTNeoModel
from transformers.convert_slow_tokenizer import bytes_to_unicode

from rehearsal.raw_files import WORDS, write_text

TEXT = {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1}
RESNET = {"image_size": 32, "layers": [1, 1, 1, 1], "width": 8, "patch_size": None}
TRANSFORMER = {"image_size": 32, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8}
CLIP = {
    **dict.fromkeys(("RN50", "RN101", "RN50x4"), RESNET),
    **dict.fromkeys(("ViT-L-14", "ViT-B-32", "ViT-B-16"), TRANSFORMER),
}


def write_all(root: Path) -> None:
    """Write all weights below ``root``; configurations of CLIP's networks below ``root/open_clip``."""
    torch.manual_seed(0)
    write_clip(root)
    write_text(root / "bert-base-uncased/vocab.txt", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])
    write_gpt_neo(root)


def write_clip(root: Path) -> None:
    for model, vision in CLIP.items():
        write_text(
            root / f"open_clip/{model}.json", [json.dumps({"embed_dim": 16, "vision_cfg": vision, "text_cfg": TEXT})]
        )
    open_clip.add_model_config(root / "open_clip")
    for model, checkpoint in [*((model, "openai") for model in CLIP), ("ViT-B-32", "laion2b_s34b_b79k")]:
        folder = root / f"clip/{model}-{checkpoint}"
        folder.mkdir(parents=True, exist_ok=True)
        state = open_clip.create_model(model).state_dict()
        save_file({name: value.contiguous() for name, value in state.items()}, folder / "open_clip_model.safetensors")
    for model in ("RN50", "RN50x4"):
        state = open_clip.create_model(model).state_dict()
        del state["logit_scale"]  # CLOOB has no temperature, and its text network is called transformer
        named = {name if name.startswith("visual.") else f"transformer.{name}": state[name] for name in state}
        torch.save({"state_dict": named}, root / f"clip/cloob_{model.lower()}_yfcc_epoch_28.pt")


def write_gpt_neo(root: Path) -> None:
    """GPT-Neo, and its vocabulary of single bytes."""
    numbers = {letter: number for number, letter in enumerate([*bytes_to_unicode().values(), "<|endoftext|>"])}
    write_text(root / "gpt-neo-125M/vocab.json", [json.dumps(numbers)])
    write_text(root / "gpt-neo-125M/merges.txt", ["#version: 0.2"])
    config = GPTNeoConfig(
        vocab_size=len(numbers), hidden_size=16, num_layers=1, num_heads=2, attention_types=[[["global"], 1]],
        bos_token_id=256, eos_token_id=256,
    )  # fmt: skip
    GPTNeoModel(config).save_pretrained(root / "gpt-neo-1.3B")
