"""The image-text loss and zero-shot classification are open_clip's, on a tiny random model."""

import numpy as np
import open_clip
import pytest
import torch
from torch.nn.functional import normalize

from despur.datasets.sources.prompts import fill
from despur.encoders.clip import CLIP, PIXELS
from despur.losses.image_text import image_text_contrast
from despur.methods.families.prompted import cosine_head, prompt_embeddings, set_head

TEMPLATES, CLASSES = ("a photo of a {class}.", "a painting of the {class}"), ["dog", "bird", "sailing boat"]


@pytest.fixture(scope="module")
def network():
    """A model without a file, and its tokenizer."""
    torch.manual_seed(0)
    vision = {"image_size": 24, "layers": 1, "width": 64, "patch_size": 8}
    text = {"context_length": 16, "vocab_size": 49408, "width": 64, "heads": 1, "layers": 1}
    tokenizer = open_clip.SimpleTokenizer(context_length=16)
    return CLIP(open_clip.CLIP(16, vision, text).eval(), tokenizer, PIXELS)


@torch.no_grad()
def test_zero_shot_logits(network):
    prompts = [[fill(template, **{"class": name}) for template in TEMPLATES] for name in CLASSES]
    head = cosine_head(16, 3)
    set_head(head, prompt_embeddings(network.texts, prompts))
    pixels = torch.rand(5, 3, 24, 24, generator=torch.Generator().manual_seed(1))
    found = head(normalize(network(2 * pixels - 1)))
    words = [template.replace("{class}", "{}") for template in TEMPLATES]
    weights = open_clip.build_zero_shot_classifier(network.network, network.tokenizer, CLASSES, words)
    mean, deviation = (torch.tensor(PIXELS[key]).view(1, 3, 1, 1) for key in ("mean", "std"))
    expected = network.network.encode_image((pixels - mean) / deviation, normalize=True) @ weights
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert np.ptp(expected.numpy(), axis=1).min() > 1e-3


def test_image_text_contrast():
    generator = torch.Generator().manual_seed(0)
    images, texts = (normalize(torch.randn(7, 5, generator=generator)) for _ in range(2))
    torch.testing.assert_close(image_text_contrast(images, texts, 0.1), open_clip.ClipLoss()(images, texts, 10.0))
