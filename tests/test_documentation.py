"""Every path of a result that the documentation names is one that can be asked for."""

import re
from pathlib import Path

import pytest
from project import SOURCE

from despur.orchestration import experiments
from despur.specs.paths import locate
from despur.specs.resolution import resolve_canonical
from despur.specs.settings import SettingError

WRITTEN = [
    SOURCE / "Snakefile",
    *SOURCE.glob("*.md"),
    *SOURCE.glob("workflow/papers/*/README.md"),
    *SOURCE.glob("workflow/despur/**/*.py"),
]
# Whole paths, not results/data/ or results/runs/{dataset}/...; also short forms: .../runs/cmnist/cnc/s0,
# .../erm+encoder=lenet/...
RESULT = re.compile(
    r"(?:results|\.\.\.)/((?:data|stage1|groups|runs)/[\w+=.~/-]*\w|(?:[a-z0-9_]+/)?papers/[\w/]+[.]\w+)(?![\w<{/])"
)
METHOD = re.compile(r"\.\.\./([\w+=.~-]+)/\.\.\.")


def resolves(path):
    """Raises SettingError for a path that nothing makes."""
    if "papers/" in path:
        paper, artifact = Path(path).parts[-2:]
        assert Path(artifact).stem in experiments.load_experiments(paper)["artifacts"], path
    else:
        result = locate(f"results/{path}")
        assert result.datasets.points and (result.stage == "data" or result.runs())


def named():
    found = {(file.relative_to(SOURCE), match[1]) for file in WRITTEN for match in RESULT.finditer(file.read_text())}
    return sorted(
        (str(file), path)
        for file, path in found
        if not {"DATASET", "METHOD"} & set(path.split("/")) and path.count("/")
    )


@pytest.mark.parametrize(("file", "path"), named())
def test_a_path_that_is_written_down_can_be_asked_for(file, path):
    resolves(path)


def test_short_forms_of_the_readme_can_be_asked_for():
    found = METHOD.findall((SOURCE / "README.md").read_text())
    assert len(found) >= 3
    for name in found:
        dataset = "bring_your_own" if "encoder" in name else "colored_digits"
        resolve_canonical("methods", name, dataset)


def test_the_paths_of_the_readme_are_seen():
    seen = {path for file, path in named() if file == "README.md"}
    assert len(seen) >= 9 and {"runs/cmnist+p_corr=0.9/cnc/s0/metrics.csv", "mnist/papers/cnc/table_1.md"} <= seen


def test_a_default_and_a_misspelling_are_refused():
    for path in ("runs/colored_digits/cnc+temperature=0.1/s0/metrics.csv", "runs/colored_digits/cnk/s0"):
        with pytest.raises(SettingError):
            resolves(path)
