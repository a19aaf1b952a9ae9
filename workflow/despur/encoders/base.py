"""The error for samples whose shape an encoder does not accept."""

from despur.specs.settings import SettingError


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
