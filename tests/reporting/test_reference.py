"""What is kept of a full run."""

import json
from pathlib import Path

import pandas as pd
import pytest
from records import git

from despur.evidence.runs.sources import Sources
from despur.evidence.verdicts import Tier
from despur.orchestration.artifact_files import list_paper_outputs
from despur.orchestration.configuration import load_configuration
from despur.orchestration.experiments import ArtifactRun
from despur.reporting import reference
from despur.reporting.pages import origin
from despur.storage import commits
from despur.storage.store import InputError


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A checkout in which a paper's tables and figures were made, from one finished run; another paper's were not."""
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q"), git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
    (tmp_path / "some.yaml").write_text("papers: [cnc, adapters]\ndatasets: {}\noutputs: results/out\n")
    runs = [Path("results/runs/colored_digits/erm") / seeds for seeds in ("s0", "s1")]  # s1 is not finished
    runs[0].mkdir(parents=True)
    (runs[0] / "about.json").write_text('{"seconds": 1.5}')
    pd.DataFrame({"epoch": [1], "value": [0.5]}).to_csv(runs[0] / "history.csv", index=False)
    made = [ArtifactRun("cmnist", "x", "erm", tuple(map(str, runs)))]
    monkeypatch.setattr(reference.experiments, "list_artifact_runs", lambda *_: made)
    (tmp_path / "results/out/papers/cnc").mkdir(parents=True)
    for file in list_paper_outputs(load_configuration(tmp_path / "some.yaml"), "cnc"):
        Path(file).write_text("a column")
    return tmp_path


def test_tables_and_figures_are_kept_with_what_made_them(finished):
    kept = finished / "results/reference/out"
    (kept / "cnc").mkdir(parents=True)
    (kept / "cnc/table_gone.md").write_text("made no longer")
    config = load_configuration(finished / "some.yaml")
    reference.keep_paper(config, "cnc")
    files = {file.name for file in kept.rglob("*") if file.is_file()}
    assert {"claims.md", "claims.csv", "figure_2.png", "provenance.json", "histories.csv.gz"} <= files
    assert {"scorecard.csv", "digits.json.gz"} <= files
    assert not files & {"table_gone.md", "figure_2.csv", "figure_2.pdf"}
    page, drawn = (kept / "cnc/README.md").read_text(), [file.name for file in kept.rglob("*.png")]
    assert all(f"]({name})\n\n**" in page for name in drawn) and "[claims](claims.md)" in page  # captions begin bold
    rows = pd.read_csv(kept / "cnc/scorecard.csv", dtype=str)
    assert set(rows["paper"]) == {"cnc"} and set(rows["kind_of_row"]) >= {"number", "claim"}
    with pytest.raises(InputError, match=r"papers/adapters/.* is not there: make it with snakemake adapters"):
        reference.keep_paper(config, "adapters")
    made_by = json.loads((kept / "cnc/provenance.json").read_text())
    assert made_by["runs"] == {"results/runs/colored_digits/erm/s0": {"seconds": 1.5}}
    assert len(made_by["commit"]) == 40 and made_by["config"]["outputs"] == "results/out" and made_by["versions"]
    assert pd.read_csv(kept / "cnc/histories.csv.gz")["value"].tolist() == [0.5]


def test_of_the_ledger_the_rows_with_a_verdict_are_kept_and_runs_of_this_machine_left_out(tmp_path, monkeypatch):
    def find_sources(results):
        assert results != Path("results") and not list(results.iterdir())
        return Sources()

    def write_verdicts(config, sources, output):
        words = ["within 5", "substitute data", "not known", "not run here", "undecided", "not compared"]
        words += 2 * ["not run here"]
        tiers, data = [*7 * [Tier.PAPER], Tier.SUBSTITUTE], [*6 * [None], "cmnist", "colored_digits"]
        rows = pd.DataFrame({"method": list("abcdefgh"), "verdict": words, "tier": tiers, "data": data})
        output.mkdir()
        rows.to_csv(output / "scorecard.csv", index=False)
        yield "a line"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reference, "write_verdicts", write_verdicts)
    monkeypatch.setattr(reference, "find_sources", find_sources)
    configs = [Path("config.yaml"), Path("other.yaml")]
    for config, paper in zip(configs, ("cnc", "fair_cl"), strict=True):
        config.write_text(f"papers: [{paper}]\ndatasets: {{cmnist: colored_digits}}\n")
    kept = pd.read_csv(reference.keep_ledger_verdicts(configs))
    assert list(kept["method"]) == ["a", "c", "e", "f", "g"]
    assert set(pd.read_csv(reference.CHOICES)["paper"]) == {"cnc"}


def test_what_despur_writes_does_not_make_code_unclean(tmp_path, monkeypatch):
    code, written = tmp_path / "workflow/despur/stage2.py", [tmp_path / "README.md", tmp_path / "results/scorecard.csv"]
    for file in (code, *written):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("first")
    git(tmp_path, "init", "-q"), git(tmp_path, "add", "."), git(tmp_path, "commit", "-qm", "as it is")
    monkeypatch.setattr(commits, "PACKAGE", code.parent)
    for file in written:
        file.write_text("second")
    assert origin.describe_code()["clean"]
    code.write_text("second")
    assert not origin.describe_code()["clean"]


def test_equal_tables_are_equal_files(tmp_path):
    files = [tmp_path / name for name in ("one.csv.gz", "two.csv.gz")]
    for file in files:
        reference.write_compact(file, pd.DataFrame({"value": [1 / 3]}))
    assert files[0].read_bytes() == files[1].read_bytes() and pd.read_csv(files[0])["value"].tolist() == [0.33333]
