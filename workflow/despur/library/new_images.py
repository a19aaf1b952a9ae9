"""``despur.read_images``: image files for a model that was trained on a folder of one's own."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from despur.specs.extras import name_extra
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.store import Array


@name_extra()
def read_images(paths: Sequence[str | Path], data: str) -> Array:
    """Image files, prepared as a folder of your own is: uint8 (N,resize,resize,3), what :func:`load`'s model takes.

    ``paths``: of the files, at least one. ``data``: the data set in the path of the model's run, with its settings
    ``resize`` and ``fit`` (``bring_your_own+name=photos+resize=64``). Raises InputError for files that cannot be used,
    SettingError for another data set, several points or no file. A model that was trained on an ``.npz`` takes images
    as that file has them.

    >>> import tempfile
    >>> import despur
    >>> from PIL import Image
    >>> with tempfile.NamedTemporaryFile(suffix=".png") as file:
    ...     Image.new("RGB", (640, 480)).save(file.name)
    ...     despur.read_images([file.name], "bring_your_own+name=photos+resize=64").shape
    (1, 64, 64, 3)
    """
    from despur.datasets.sources import image_files, own_folder  # bring Pillow, which the core of the package lacks

    points = resolve("datasets", data).points
    if points[0].base_name != "bring_your_own":
        raise SettingError(f"{data}: images are read as bring_your_own reads them: name it, with the run's settings")
    if len(points) > 1:
        raise SettingError(f"{data}: has {len(points)} points: name the one that the model was trained on")
    if isinstance(paths, str | Path) or not paths:
        raise SettingError(f"paths={paths!r}: must be a list of at least one image file")
    settings, files = points[0].settings, [Path(path) for path in paths]
    fit = partial(own_folder.resize, fit=settings["fit"])
    return image_files.images(files, settings["resize"], fit, "Leave them out of paths")[:]
