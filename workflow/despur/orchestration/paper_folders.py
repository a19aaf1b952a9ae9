"""The folders of papers, in despur/papers and in extensions."""

from pathlib import Path

from despur.specs.extensions import list_extensions
from despur.specs.names import unknown
from despur.specs.settings import SettingError

PAPERS = Path(__file__).parents[1] / "papers"


def find_papers() -> dict[str, Path]:
    """The folder of each paper, by name: in despur/papers and in the folders ``papers`` of extensions. Raises
    SettingError for a name that two folders have, or that no Python package can have."""
    folders: dict[str, Path] = {}
    for root in (PAPERS, *(folder / "papers" for folder in list_extensions())):
        for folder in sorted(file.parent for file in root.glob("*/experiments.yaml")):
            if folder.name in folders:
                raise SettingError(f"{folder}: {folders[folder.name]} has the same name: rename one of them")
            if not folder.name.isidentifier():
                raise SettingError(f"{folder}: rename it: Python imports only names of letters, digits and _")
            folders[folder.name] = folder
    return folders


def list_papers() -> list[str]:
    return sorted(find_papers())


def find_paper(paper: str) -> Path:
    """The folder of a paper. Raises SettingError for a paper that has none."""
    folders = find_papers()
    if paper not in folders:
        raise unknown("paper", paper, folders)
    return folders[paper]
