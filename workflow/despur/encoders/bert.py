"""BERT of transformers, bert-base-uncased (Zhang et al. 2022, App. E.2.2, E.2.4: CivilComments-WILDS)."""

from torch import Tensor, nn

from despur.encoders.base import load_transformer, misfit
from despur.specs.settings import SettingError, Settings, choice, int_
from despur.storage.pretrained import BERT, fetch

SEED_CHUNK = 1
SETTINGS = {
    "weights": choice("pretrained", "App. E.2.2: bert-base-uncased", "pretrained", "random"),
    "layers": int_(12, "bert-base-uncased", at_least=1),
    "hidden": int_(768, "bert-base-uncased; 64 for each attention head", at_least=64),
}

DOWNLOADS = tuple(
    {
        "url": f"https://huggingface.co/google-bert/bert-base-uncased/resolve/main/{name}",
        "file": f"bert-base-uncased/{name}",
        "license": "Apache 2.0",
        "read_in": "transformers, bert-base-uncased",
    }
    for name in ("vocab.txt", "model.safetensors")
)
WEIGHTS_WITH = {"weights=pretrained": ("bert-base-uncased/pytorch_model.bin | bert-base-uncased/model.safetensors",)}
DOWNLOADED = True
PADDING = 0


class Bert(nn.Module):
    """Tokens (B,T), padded with 0 -> representations (B,hidden): the output of the pooler (released code).

    Training has dropout before the head, as transformers' BertForSequenceClassification.
    """

    vocabulary = "bert"

    def __init__(self, network: nn.Module, hidden: int) -> None:
        super().__init__()
        self.network, self.dropout, self.dim = network, nn.Dropout(0.1), hidden

    def forward(self, tokens: Tensor) -> Tensor:
        mask = tokens != PADDING
        longest = max(1, int(mask.sum(dim=1).max()))  # columns with padding only change nothing
        return self.dropout(self.network(tokens[:, :longest], attention_mask=mask[:, :longest]).pooler_output)


def build(settings: Settings, input_shape: tuple[int, ...]) -> Bert:
    """BERT for tokens (T,). Raises SettingError for other inputs and for a width that is no multiple of 64, InputError
    for weights that do not fit."""
    hidden = settings["hidden"]
    if len(input_shape) != 1:
        raise misfit("bert", "tokens", input_shape)
    if hidden % 64:
        raise SettingError(f"encoder.hidden={hidden}: must be a multiple of 64")
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=hidden,
        num_hidden_layers=settings["layers"],
        num_attention_heads=hidden // 64,
        intermediate_size=4 * hidden,
    )
    if settings["weights"] == "random":
        return Bert(BertModel(config), hidden)
    path = fetch(WEIGHTS_WITH["weights=pretrained"][0], BERT)
    return Bert(load_transformer(BertModel, path, BERT, config=config), hidden)
