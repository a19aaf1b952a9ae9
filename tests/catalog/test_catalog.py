"""The site's pages (docs/catalog): complete, linked, with a way back; and the pieces that they are made of."""

import json
import posixpath
import re
import subprocess
from pathlib import PurePosixPath

import pandas as pd
import pytest
from project import SOURCE, Project

from catalog import api, components, elsewhere, gallery, markdown, reference, tutorial, verdicts
from catalog.downloads import describe_downloads
from catalog.losses import describe_losses
from catalog.pages import FENCE, LINK, Site
from despur.__main__ import COMMANDS
from despur.cli.fetch import list_downloads
from despur.evidence.claims.claim_format import read_claims
from despur.evidence.verdicts import Tier
from despur.orchestration import paper_folders
from despur.reporting.pages import summary
from despur.specs.declarations import PACKAGE, list_components, read_declarations
from despur.specs.resolution import resolve
from despur.specs.settings import spell
from despur.storage.addresses import note_address


@pytest.fixture(scope="module")
def site():
    return Site()


def test_a_public_name_shows_the_source_that_its_file_names():
    shown = api.build_page("despur.losses", api.TITLES["despur.losses"])
    _, _, own = shown.partition("## whiten")
    assert "whitening.py): Whitening (Ermolov et al. 2021, Sec. 3)." in own


def test_a_public_name_shows_its_arguments_and_what_it_returns():
    shown = api.build_page("despur.losses", api.TITLES["despur.losses"])
    assert "\nirm(\n    logits: Tensor,\n    labels: Tensor,\n" in shown and "\n) -> dict[str, Tensor]\n" in shown
    samplers = api.build_page("despur.samplers", api.TITLES["despur.samplers"])
    assert "\nAnchorBatch(\n    anchors: Array,\n" in samplers and "self" not in samplers
    assert "\nHardSampler(\n    y: Array,\n    predicted: Array,\n" in samplers


def test_a_public_class_shows_its_methods_and_its_shapes():
    shown = api.build_page("despur.samplers", api.TITLES["despur.samplers"])
    assert "`.rows`: All rows of each batch, (B,2M+2N)." in shown and "`.draw(" in shown and "`._" not in shown


def links(text):
    """What a page links to, outside of code."""
    return [target for _, _, target in LINK.findall(FENCE.sub("", text))]


def test_methods_are_named_as_they_are_spelled_and_collections_as_they_are_listed(site):
    known = elsewhere.read_names()
    assert [resolve("methods", name).name for name in known["methods"]] == list(known["methods"])
    named = {other for own in (*known["methods"].values(), known["lacking"]) for other in own}
    assert named == set(known["collections"])
    shown = site.texts["methods_elsewhere.md"]
    assert "| [`coral`](methods/coral.md) | `CORAL` | `CORAL` | `deepCORAL` |  |  |" in shown
    for other in known["collections"]:
        names = [own[other] for own in known["methods"].values() if other in own] + known["lacking"].get(other, [])
        assert len(set(names)) == len(names), other


def test_every_component_has_a_page_with_all_its_settings(site):
    for kind in ("methods", "datasets", "encoders", "inference"):
        for name in list_components(kind):
            page = site.texts[f"{kind}/{name}.md"]
            assert f"({name}.md)" in site.texts[f"{kind}/index.md"]
            for key, setting in read_declarations(kind, name)["SETTINGS"].items():
                assert f"| `{key}` | {markdown.code(spell(setting.default))} |" in page, (name, key)


def test_every_link_leads_to_a_page_or_a_figure(site):
    for name, text in site.texts.items():
        for target in links(text):
            if not target.startswith(("http", "#")):
                found = posixpath.normpath(posixpath.join(posixpath.dirname(name), target.partition("#")[0]))
                assert found in {*site.texts, *site.copied}, f"{name}: {target}"


def test_every_page_is_in_a_menu_and_leads_back(site):
    in_menus = {
        str(PurePosixPath(name).parent / entry).removesuffix(".md") + ".md"
        for name, text in site.texts.items()
        for menu in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
        for entry in menu.splitlines()
        if entry and not entry.startswith(":")
    }
    for name, text in site.texts.items():
        if name != "index.md":
            assert name in in_menus or text.startswith("---\norphan: true"), name
            assert any(target.endswith("index.md") for target in links(text)), name


def test_the_front_page_has_the_results_of_the_readme_once(site):
    readme = (SOURCE / "README.md").read_text()
    results = readme.partition(summary.START)[2].partition(summary.END)[0]
    rows = re.sub(r"workflow/despur/(papers/\w+)/README.md", r"\1.md", results)  # where the site has the papers' pages
    assert rows.count("](papers/") == len(paper_folders.list_papers())
    assert site.texts["index.md"].count(rows) == 1


def test_all_addresses_of_a_download_are_shown_with_their_last_try(tmp_path, monkeypatch):
    monkeypatch.setenv("DESPUR_DATA_ROOT", str(tmp_path))
    (file,) = list_downloads("datasets", "cifar10")
    note_address(tmp_path, file.url, "there, 1.0 MB")
    shown = describe_downloads("datasets", "cifar10")
    assert re.search(rf"\]\({re.escape(file.url)}\): tried \d{{4}}-\d\d-\d\d: there, 1\.0 MB<br>", shown)
    assert len(file.mirrors) == 1 and f"]({file.mirrors[0]}): never tried |" in shown
    assert "only with" not in shown and "| license |" not in shown
    assert "never tried; users report the server down" in describe_downloads("datasets", "fmow")


def test_an_encoder_shows_its_downloads_and_the_settings_that_need_them(site):
    shown = site.texts["encoders/language_model.md"]
    assert "## Download" in shown and "| roberta-large/vocab.json | `model=*-large*` | [huggingface.co](" in shown
    assert "## Download" not in site.texts["encoders/lenet.md"]


def test_the_page_of_a_method_says_what_it_reads():
    assert "clusters" in components.describe_inputs("cnc") and "no true attribute" in components.describe_inputs("cnc")
    assert "true attribute of training samples" in components.describe_inputs("gdro")
    assert "`erm`" in components.describe_inputs("dfr")
    assert ("cnc", "jtt") in components.list_uses("jtt")


def test_losses_are_found_through_imported_methods():
    assert "contrastive.contrast" in describe_losses("cnc")
    assert "infonce.tell_apart" in describe_losses("simclr_msr")
    assert "Cross-entropy" in describe_losses("erm")


def test_every_claim_stands_on_its_page_with_contrasts_margin_and_outcome_on_printed_numbers(site):
    for paper in paper_folders.list_papers():
        every, _ = read_claims(paper_folders.PAPERS / paper / "claims.yaml")
        page = site.texts[f"claims/{paper}.md"]
        for claim in every:
            assert f"(`{claim.name}`)" in page
    claims, comparisons = site.texts["claims/fair_cl.md"].split("## Comparisons that no sentence of the paper states")
    assert "(`con_beats_tuned_baselines`)" in comparisons and "(`con_lowers_gap`)" in claims
    slips, shown = site.texts["claims/cnc.md"].split("## Slips")[1].split("## Claims")
    row = next(line for line in shown.splitlines() if "(`beats_dann_on_average`)" in line)
    assert "`{higher: cnc, than: [dann_spurious_attribute, dann_majority_minority]" in row and "margin 0: " in row
    assert "(`beats_dann_on_average`) – Table A.2: DANN (spurious attribute) 94.6, CNC 89.9 (celeba)" in slips
    assert "holds (waterbirds)" in row and "Table A.2: DANN (spurious attribute) 94.6, CNC 89.9 (celeba)" in row


def test_a_method_has_the_verdicts_on_the_claims_that_name_it(monkeypatch):
    rows = [
        ("cnc_best", "cmnist", "colored_digits", Tier.SUBSTITUTE, "seen here"),
        ("cnc_best", "cmnist", "scene_digits", Tier.SUBSTITUTE, "not seen"),
        ("cnc_best", "celeba", "celeba", Tier.PAPER, "holds"),
    ]
    table = pd.DataFrame(rows, columns=["claim", "paper_dataset", "data", "tier", "verdict"])
    monkeypatch.setattr(verdicts, "load_claims", lambda: table.assign(paper="cnc"))
    assert verdicts.describe_verdicts("cnc", "cnc_best") == [
        "celeba: holds",
        "cmnist by colored_digits: seen here, cmnist by scene_digits: not seen",
    ]
    assert verdicts.describe_verdicts("cnc", "another") == ["–", "–"]
    assert verdicts.list_names({"higher": "cnc", "than": [{"method": ["erm"]}]}) == {
        "higher",
        "cnc",
        "than",
        "method",
        "erm",
    }
    page = components.describe_claims("jtt")
    assert "`cnc_smallest_gap`" not in page and "JTT's worst-group accuracy is above ERM's" in page


def test_every_command_is_on_its_page_and_in_the_guide():
    guide, options = (SOURCE / "docs/commands.md").read_text(), reference.build_commands_page()
    for name in COMMANDS:
        assert f"`despur {name}" in guide and f"usage: despur {name} " in options, name


def test_helps_are_the_same_on_every_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    narrow = reference.build_commands_page()
    monkeypatch.setenv("COLUMNS", "200")
    assert narrow == reference.build_commands_page()


def test_components_of_an_extension_are_in_the_catalog(tmp_path, monkeypatch):
    (tmp_path / "methods").mkdir()
    text = (PACKAGE / "methods/jtt.py").read_text()
    (tmp_path / "methods/own_jtt.py").write_text(f'"""Mine, Eq. 3."""\n{text.partition(chr(10))[2]}')
    monkeypatch.setenv("DESPUR_EXTENSIONS", str(tmp_path))
    page = components.build_page("methods", "own_jtt")
    assert "own_jtt" in list_components("methods") and f"`{tmp_path}/methods/own_jtt.py`" in page and "Eq. 3" in page


def test_the_gallery_shows_every_kept_figure_with_its_command():
    pages = gallery.build_pages()
    figures = [*gallery.REFERENCE.glob("*/*/*.png")]
    assert len(figures) > 20
    for file in figures:
        assert f"(/{file.relative_to(SOURCE)})" in pages[gallery.name_page(file.parent)]
    command = "snakemake results/ten_seeds/papers/cnc/figure_5.png --configfile config/reference.yaml"
    assert command in pages["ten_seeds_cnc"] and "README" not in pages["ten_seeds_cnc"]
    matrix = pages["ten_seeds_matrix"]
    assert "snakemake results/ten_seeds/matrix.png --configfile config/reference.yaml" in matrix
    assert "Every method on the same data" in matrix


def test_every_key_of_a_configuration_is_described():
    text = reference.build_configuration_page()
    for key in ("papers", "datasets.NAME.data", "artifacts.NAME.NAME.seeds", "matrix.data", "outputs"):
        assert f"| `{key}` |" in text


def test_text_is_escaped_and_code_is_not():
    assert markdown.escape("a*b | ``c*d`` <e>") == r"a\*b \| `c*d` \<e>"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Zhang et al. 2022, Sec. 4 and App. C", ["Sec. 4", "App. C"]),
        ("Eq. 16-17 or Eq. 4; Table A.8", ["Eq. 16-17", "Eq. 4", "Table A.8"]),
        ("Section of nothing", []),
    ],
)
def test_places_in_a_paper_are_found(text, places):
    assert markdown.find_places(text) == places


def test_a_command_of_the_tutorial_gets_its_output():
    text = "```bash\necho new\n```\n\n```text\nold\n```\n\n```bash\necho silent\n```\n"
    found = tutorial.STEP.sub(tutorial.run_step, text)
    assert found == "```bash\necho new\n```\n\n```text\nnew\n```\n\n```bash\necho silent\n```\n"
    assert tutorial.STEP.sub(tutorial.run_step, "```python\nprint(1 + 1)\n```\n\n```text\n```\n").endswith(
        "```text\n2\n```\n"
    )
    with pytest.raises(subprocess.CalledProcessError):
        tutorial.STEP.sub(tutorial.run_step, "```bash\nfalse\n```\n")


def test_the_notebook_shows_outputs_and_leads_back():
    cells = json.loads((SOURCE / "docs/finished_runs.ipynb").read_text())["cells"]
    assert all(cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    assert "(index.md)" in "".join(cells[-1]["source"])


def test_long_outputs_are_cut():
    assert tutorial.clean("a  \nb\n") == "a\nb"
    assert tutorial.clean("a\n" * 50 + "\nb").splitlines() == ["a"] * tutorial.LONGEST + ["...", "", "b"]


def test_pages_show_outputs():
    shown = [sum(bool(output) for *_, output in tutorial.list_steps(page.read_text())) for page in tutorial.PAGES]
    assert shown[0] >= 4 and shown[1] >= 1


@pytest.mark.long
@pytest.mark.parametrize("page", tutorial.PAGES, ids=lambda page: page.stem)
def test_pages_show_what_their_commands_print(page, tmp_path):
    project = Project.fresh(tmp_path / "project")
    for language, command, output in tutorial.list_steps(page.read_text()):
        if language == "python":
            project.python("-c", command)
            continue
        for line in command.splitlines():
            program, *words = line.removeprefix("python -m ").split()
            found = tutorial.clean(project.python("-m", program, *(["-c1"] if program == "snakemake" else []), *words))
        if output is not None:
            assert simplify(found) == simplify(output), f"make tutorial writes it anew: {command}"


def simplify(output):
    """An output without the width of its columns, without measured means, deviations and differences, and without the
    ranks that they give to lines, as processors round differently in training."""
    lines = (" ".join(line.removeprefix("*").split()) for line in output.splitlines())
    return sorted(re.sub(r"-?\d[\d.e-]* \(\d[\d.e-]*\)|[+-]\d\S*", "#", line) for line in lines)
