"""A bidirectional gated recurrent unit (GRU) on indices of words (Shen et al. 2021, Experiment 2, after Huang et al.
2020)."""

import torch
from torch import Tensor, nn

from despur.encoders.base import misfit
from despur.specs.settings import Settings, float_, int_

SEED_CHUNK = 1

SETTINGS = {
    "hidden": int_(200, "Experiment 2: hidden units in each direction", at_least=1),
    "words": int_(15_002, "Huang et al., released code: 15,000 most frequent words; padding and unknown", at_least=3),
    "embedding": int_(
        200, "not stated: size of a word's vector (Huang et al. start from pre-trained ones)", at_least=1
    ),
    "dropout": float_(0.2, "not stated: of words and of the representation", at_least=0, below=1),
}


class BiGRU(nn.Module):
    """Words (B,T), padded with 0 -> the last states of both directions (B,2*hidden)."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.dim = 2 * settings["hidden"]
        self.embedding = nn.Embedding(settings["words"], settings["embedding"], padding_idx=0)
        self.gru = nn.GRU(settings["embedding"], settings["hidden"], batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(settings["dropout"])

    def forward(self, words: Tensor) -> Tensor:
        lengths = (words > 0).sum(dim=1).clamp(min=1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(self.embedding(words)), lengths, batch_first=True, enforce_sorted=False
        )
        _, last = self.gru(packed)
        return self.dropout(torch.cat([last[0], last[1]], dim=1))


def build(settings: Settings, input_shape: tuple[int, ...]) -> BiGRU:
    """With PyTorch's default initialization. Raises SettingError for inputs that are not indices of words (T,)."""
    if len(input_shape) != 1:
        raise misfit("bigru", "texts as indices of words", input_shape)
    return BiGRU(settings)
