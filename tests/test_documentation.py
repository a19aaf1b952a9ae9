"""What the documentation says can be done: result paths resolve, commands and links exist, pages are short."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from documents import DOCUMENTS, commands, examples, paragraphs
from PIL import Image
from project import SOURCE

from despur.orchestration import configuration, experiments, paper_folders
from despur.specs.declarations import read_declarations
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve, resolve_canonical
from despur.specs.settings import SettingError, float_
from despur.storage.dataset_checks import build_dataset

WRITTEN = [
    SOURCE / "Snakefile",
    *(page for page in DOCUMENTS if not page.stem.startswith("adding_")),  # those: test_examples.py
    *SOURCE.glob("workflow/despur/papers/*/README.md"),
    *SOURCE.glob("workflow/despur/**/*.py"),
]
# Whole paths, not results/data/ or results/runs/{dataset}/...; also short forms: .../runs/cmnist/cnc/s0,
# .../erm+encoder=lenet/...
RESULT = re.compile(
    r"(?:results|\.\.\.)/((?:data|stage1|groups|runs)/[\w+=.~/-]*\w|(?:[a-z0-9_]+/)?papers/[\w/]+[.]\w+)(?![\w<{/])"
)
METHOD = re.compile(r"\.\.\./([\w+=.~-]+)/\.\.\.")
LINK = re.compile(r"\]\(([^)\s]+)\)")
LONGEST = {"README.md": 85 + len(paper_folders.list_papers())}  # lines: its table has one for each paper


def resolves(path):
    """Raises SettingError for a path that nothing makes."""
    if "papers/" in path:
        paper, artifact = Path(path).parts[-2:]
        assert Path(artifact).stem in experiments.load_experiments(paper)["artifacts"], path
    else:
        result = locate_result(f"results/{path}")
        assert result.datasets.points and (result.stage == "data" or result.runs())


def named():
    found = {(file.relative_to(SOURCE), match[1]) for file in WRITTEN for match in RESULT.finditer(file.read_text())}
    return sorted(
        (str(file), path)
        for file, path in found
        if not {"DATASET", "METHOD", "PAPER"} & set(path.split("/")) and path.count("/")
    )


def of_documents(find):
    """(page, found) of all pages."""
    return [(str(page.relative_to(SOURCE)), each) for page in DOCUMENTS for each in find(page.read_text())]


@pytest.mark.parametrize(("file", "path"), named())
def test_a_path_that_is_written_down_can_be_made(file, path):
    resolves(path)


def test_the_paths_of_the_pages_are_seen():
    seen = {path for file, path in named() if file.endswith(".md")}
    assert len(seen) >= 15 and {"runs/cmnist+p_corr=0.9/cnc/s0/metrics.csv", "mnist/papers/cnc/table_1.md"} <= seen


@pytest.mark.parametrize(("page", "name"), of_documents(METHOD.findall))
def test_a_short_form_can_be_made(page, name):
    resolve_canonical("methods", name, "bring_your_own" if "encoder" in name else "colored_digits")


def test_a_default_and_a_misspelling_are_refused():
    for path in ("runs/colored_digits/cnc+temperature=0.1/s0/metrics.csv", "runs/colored_digits/cnk/s0"):
        with pytest.raises(SettingError):
            resolves(path)


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        file, _, anchor = target.partition("#")
        if not file.startswith("http"):
            found = (page.parent / file) if file else page
            assert found.exists(), f"{page.name} links to {target}"
            headings = re.findall(r"^#+ (.*)$", found.read_text(), re.MULTILINE) if anchor else []
            assert not anchor or anchor in [heading.lower().replace(" ", "-") for heading in headings], target


def test_every_page_is_found_and_leads_back():
    index = SOURCE / "docs" / "index.md"
    linked = {(index.parent / target).resolve() for target in LINK.findall(index.read_text())}
    pages = {page for page in DOCUMENTS if page.parent.name == "docs" and page != index}
    assert pages <= linked and all("(index.md)" in page.read_text() for page in pages)
    assert "docs/index.md" in (SOURCE / "README.md").read_text()


def test_both_first_pages_say_how_to_install():
    for page in ("README.md", "docs/index.md"):
        assert "git clone URL despur && cd despur && make smoke\n" in (SOURCE / page).read_text(), page


def test_settings_of_another_file_are_taken_as_the_page_says():
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/adding_a_method.md").read_text(), re.DOTALL)
    (code,) = [block for block in blocks if "read_declarations(" in block]
    exec(code, names := {"float_": float_})
    assert names["SETTINGS"].keys() == {*read_declarations("methods", "erm")["SETTINGS"], "q"}


def test_images_in_files_are_a_data_set_as_the_page_says(tmp_path):
    (tmp_path / "pets/images").mkdir(parents=True)
    rows = ["path,y,a,split"]
    for number, split in enumerate(("train", "val", "test")):
        Image.new("RGB", (90, 60), (0, 0, 80 * number)).save(tmp_path / f"pets/images/{number}.png")
        rows.append(f"images/{number}.png,{('cat', 'dog')[number % 2]},outdoor,{split}")
    (tmp_path / "pets/metadata.csv").write_text("\n".join(rows))
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/adding_a_data_set.md").read_text(), re.DOTALL)
    (code,) = [block for block in blocks if "image_files.images(" in block]
    exec(code, names := {})
    dataset = names["build"]({"size": 32}, tmp_path)
    assert dataset.inputs[:].shape == (3, 32, 32, 3) and dataset.inputs[2:3].max() == 160
    assert dataset.table[["y", "a", "split"]].to_numpy().tolist() == [[0, 1, "train"], [1, 1, "val"], [0, 1, "test"]]


def test_make_targets_exist():
    targets = set(re.findall(r"^([\w-]+):", (SOURCE / "Makefile").read_text(), re.MULTILINE))
    said = {word for _, line in of_documents(commands) for word in re.findall(r"^make ([a-z-]+)", line)}
    assert {"smoke", "test", "environment"} <= said <= targets


def actions():
    """The subcommands of ``despur`` that pages name."""
    return sorted({found for _, line in of_documents(commands) for found in re.findall(r"^despur ([a-z]+)", line)})


def test_subcommands_of_despur_exist():
    shown = subprocess.run([sys.executable, "-m", "despur", "--help"], capture_output=True, text=True, check=True)
    known = re.search(r"\{([\w,]+)\}", shown.stdout)[1].split(",")
    assert {"list", "explain", "show"} <= {*actions()} <= {*known}


def test_the_configuration_of_the_pages_is_one(tmp_path):
    ((_, text),) = examples("configurations").items()
    (tmp_path / "my_run.yaml").write_text(text)
    config = configuration.load_configuration(tmp_path / "my_run.yaml")
    runs = experiments.list_artifact_runs(config, "cnc", "table_1")
    assert {run.dataset for run in runs} == {"waterbirds"} and {run.paper_method for run in runs} == {"erm", "cnc"}


def test_own_data_of_the_pages_is_a_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/your_own_data.md").read_text(), re.DOTALL)
    exec(code, {})
    dataset = build_dataset(resolve("datasets", "bring_your_own+name=mine").points[0], tmp_path / "data")
    assert [len(dataset.rows(split)) for split in ("train", "val", "test")] == [1000] * 3


def test_configurations_exist():
    found = re.compile(r"--configfile (\S+\.yaml)|CONFIG=(\S+\.yaml)|workflow-profile (\S+)")
    own = {path for page in DOCUMENTS if page.parent.name == "docs" for path in examples(page.stem)}
    for page, line in of_documents(commands):
        for groups in found.findall(line):
            file = next(filter(None, groups))
            assert (SOURCE / file).exists() or file in own, f"{page}: {line}"


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_pages_are_short_and_say_what_they_are_for(page):
    text = page.read_text()
    assert len(text.splitlines()) <= LONGEST.get(page.name, 250)
    assert all(len(lines) <= 8 or lines[0].startswith(("-", "1.")) for lines in paragraphs(text))
    assert page.name == "README.md" or paragraphs(text)[0][0].startswith("After this page you")
