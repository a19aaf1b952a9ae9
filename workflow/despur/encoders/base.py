"""What encoders share: the error for samples that one does not take."""

from despur.specs.settings import SettingError


def misfit(
    encoder: str,
    takes: str,
    shape: tuple[int, ...],
    vectors: str = "mlp takes vectors, bert tokens",
    images: str = "convnet takes images of any form, or bring resized ones: here nothing is enlarged",
) -> SettingError:
    """Samples of another shape: what they are, and what to do about vectors or tokens (N,), or images (C,H,W)."""
    found, remedy = ("vectors or tokens", vectors) if len(shape) == 1 else ("images", images)
    where = "+encoder=NAME or, of a stage 1, +stage1.encoder=NAME (or PUBLISHED of the data set's file) chooses another"
    return SettingError(f"{encoder} takes {takes}, not {found} of {'x'.join(map(str, shape))}: {where}; {remedy}")
