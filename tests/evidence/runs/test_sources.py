"""Which runs count: those of this machine, else one record; no seed after a gap, no older revision."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from making import write_run
from records import add, labels, rewrite, spoil

from despur.evidence.ledger import files as ledger
from despur.evidence.ledger.coding import encode
from despur.evidence.ledger.standing import adds_metrics
from despur.evidence.runs import run_files
from despur.evidence.runs.artifact_metrics import load_metrics, load_resamples
from despur.evidence.runs.run_files import count_test_originals, load_abouts, load_labels, load_upstream
from despur.evidence.runs.sources import attach_sources, explain_records, find_sources
from despur.metrics.predictions import ACCURACY
from despur.orchestration.experiments import ArtifactRun
from despur.specs.declarations import list_revised_metrics
from despur.specs.paths import locate_result
from despur.storage.abouts import read_abouts, read_upstream
from despur.storage.store import InputError

FOLDER = "results/runs/colored_digits/erm/s0-4"
ERM = ArtifactRun("cmnist", "colored_digits", "erm", (FOLDER,))
OF = "colored_digits/erm/s{}".format


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def used(sources):
    """Where each run of ERM was measured that a table shows."""
    return dict(run for artifact_run in attach_sources([ERM], sources) for run in artifact_run.sources)


def make_here(seeds, **changes):
    """A finished folder of ERM on this machine."""
    result = locate_result(f"results/runs/colored_digits/erm/{seeds}")
    asked = {"dataset": result.datasets.points, "points": result.sweep.points}
    specification = {key: [point.resolved() for point in points] for key, points in asked.items()}
    row = {"dataset": "colored_digits", "method": "erm", "split": "test", "metric": "average_accuracy", "value": 0.5}
    rows = [row | {"seed": run.seed} for run in result.runs()]
    return write_run(result.folder, rows, about={"specification": specification, "revisions": {}} | changes)


def test_seeds_after_a_gap_are_told_and_do_not_count():
    files = {seed: str(add(ledger.LEDGER, seed)) for seed in (0, 1, 3)}
    sources = find_sources()
    assert used(sources) == {OF(0): files[0], OF(1): files[1]}
    told = {str(file): reason for file, _, reason in explain_records(sources, used(sources))}
    assert told == {files[0]: "", files[1]: "", files[3]: "seed 2 of colored_digits/erm is missing"}


def test_of_two_records_of_a_run_the_earliest_counts():
    late = add(ledger.LEDGER, finished="2026-05-01T00:00:00+00:00")
    early = add(ledger.LEDGER, finished="2025-05-01T00:00:00+00:00")
    sources = find_sources()
    assert used(sources) == {OF(0): str(early)}
    told = {file: reason for file, _, reason in explain_records(sources, used(sources))}
    assert told == {early: "", late: f"{early} is of the same run, and earlier"}


@pytest.mark.parametrize(
    ("alignment", "why"), [(1.5 + 1e-7, "with the same values and further metrics"), (1.6, "and earlier")]
)
def test_a_run_that_was_made_again_counts_where_it_gives_the_same_and_more(alignment, why):
    """Else whoever runs it again could choose between two results."""
    today = {name: revision for name, (_, revision) in list_revised_metrics().items()}
    old = add(ledger.LEDGER, finished="2025-05-01T00:00:00+00:00")
    new = add(ledger.LEDGER, finished="2026-05-01T00:00:00+00:00", revisions=today)
    for metric, value in {"mutual_information_class": 1.0, "alignment_loss": alignment}.items():
        new = rewrite(new, spoil("metrics", "best", "test", metric, value={"": value}))
    drawn = json.loads(new.read_text())["draws"]["test"]["alignment_loss"]
    new = rewrite(new, spoil("draws", "test", "mutual_information_class", value=drawn))
    counted, refused = (old, new) if why == "and earlier" else (new, old)
    sources = find_sources()
    assert used(sources) == {OF(0): str(counted)}
    told = {file: reason for file, _, reason in explain_records(sources, used(sources))}
    assert told == {counted: "", refused: f"{counted} is of the same run, {why}"}


def test_a_record_with_other_predictions_or_without_further_metrics_replaces_none():
    def record(predictions, **metrics):
        return SimpleNamespace(content={"predictions": predictions}, metrics=lambda: {"best": metrics})

    assert adds_metrics(record("ab", gap=math.nan, mean=1.0), record("ab", gap=math.nan))
    assert not adds_metrics(record("ab", gap=math.nan), record("ab", gap=math.nan))
    assert not adds_metrics(record("ac", gap=0.5, mean=1.0), record("ab", gap=0.5))
    assert not adds_metrics(record("ab", mean=1.0, worst=1.0), record("ab", gap=0.5))


def test_a_run_of_this_machine_counts_before_a_record_and_fills_gaps():
    files = {seed: str(add(ledger.LEDGER, seed)) for seed in (0, 1, 3)}
    here = make_here("s1-2")
    sources = find_sources()
    assert used(sources) == {OF(0): files[0], OF(1): here, OF(2): here, OF(3): files[3]}
    assert used(find_sources(use_ledger=False)) == {}, "seed 0 is missing"
    table = load_metrics(list(attach_sources([ERM], sources)))
    assert set(table["measured"]) == {"here", "commit cccccccc, a machine that is not named"}
    assert table[table["metric"] == "average_accuracy"].groupby("seed")["measured"].unique()[1] == ["here"]


def test_records_and_runs_of_an_older_revision_do_not_count(package):
    package.write("methods/erm.py", package.read("methods/erm.py") + "\nREVISION = 2\n")
    old, new = (add(ledger.LEDGER, seed, revisions=then) for seed, then in ((0, {}), (1, {"methods/erm": 2})))
    make_here("s0")
    sources = find_sources()
    assert sources.where == {OF(1): str(new)}
    told = {file: reason for file, _, reason in explain_records(sources, {})}
    assert told[old] == "made by revision 1 of methods/erm, which is at 2 today"


def test_of_records_with_an_older_revision_of_a_metric_only_that_metric_does_not_count(package):
    def change(content):
        for values in (content["metrics"]["best"], content["draws"]):
            values["test"]["mutual_information_class_half"] = values["test"]["alignment_loss"]

    text = package.read("metrics/information.py")
    package.write("metrics/information.py", re.sub(r"REVISION = \d+", "REVISION = 7", text))
    old = rewrite(add(ledger.LEDGER, 0, revisions={"metrics/information": 6}), change)
    new = rewrite(add(ledger.LEDGER, 1, revisions={"metrics/information": 7}), change)
    make_here("s2")
    assert find_sources().where == {OF(0): str(old), OF(1): str(new), OF(2): "results/runs/colored_digits/erm/s2"}
    for file, expected in ((old, {"alignment_loss"}), (new, {"alignment_loss", "mutual_information_class_half"})):
        record = ledger.load_record(str(file))
        assert {metric for _, metric, _ in record.bootstrap_values()} == expected
        assert {metric for _, metric, _ in record.metrics()["best"]} >= expected
        assert ("mutual_information_class_half" in str(record.metrics())) == (file == new)


def test_a_run_that_meant_something_else_does_not_count():
    make_here("s0", specification={"dataset": [], "points": []})
    assert find_sources().where == {}


def test_what_cannot_be_read_is_told_and_the_rest_counts():
    good, bad, unknown = (add(ledger.LEDGER, seed) for seed in range(3))
    bad.write_text("{")
    content = json.loads(unknown.read_text())
    unknown.unlink()
    content["specification"]["method"]["name"] = "erm"
    content["specification"]["method"]["epochz"] = 3
    odd = ledger.write(unknown.parent, "s2", content)
    sources = find_sources()
    assert used(sources) == {OF(0): str(good)}
    assert [fault.split(":")[0] for fault in sources.faults] == [str(bad)]
    told = {file: reason for file, _, reason in explain_records(sources, used(sources))}
    assert told[good] == "" and told[odd].startswith("its specification is unknown to the present code: ")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (spoil("resampling", value={"test": "of another plan"}), "other bootstrap samples"),
        (spoil("metrics", "best", "test", "average_accuracy", "", value=0.5), "by predictions"),
        (spoil("metrics", "best", "test", value=3), "not values by split"),
        (spoil("predictions", "test", ACCURACY, "", value="u1 40 abc"), "not an array"),
        (spoil("predictions", "test", ACCURACY, "", value=encode(np.zeros(3, np.uint8))), "for 40 samples"),
        (spoil("card", value="card-000000000000"), "card-000000000000"),
        (spoil("seed", value=7), "lies elsewhere"),
    ],
)
def test_a_record_that_the_check_refuses_is_told_and_the_rest_is_used(change, told):
    good, bad = add(ledger.LEDGER), rewrite(add(ledger.LEDGER, 1), change)
    sources = find_sources()
    assert sources.faults and all(fault.startswith(f"{bad}: ") for fault in sources.faults)
    assert told in sources.faults[0] and used(sources) == {OF(0): str(good)}
    assert len(load_resamples(list(attach_sources([ERM], sources)))) > 0


def test_results_of_other_stages_are_read_where_they_are_here(tmp_path):
    inferred = ArtifactRun("cmnist", "colored_digits", "clusters", ("results/groups/colored_digits/clusters/s0",))
    assert list(attach_sources([inferred], find_sources())) == []
    Path(inferred.folders[0]).mkdir(parents=True)
    (Path(inferred.folders[0]) / "about.json").touch()
    assert list(attach_sources([inferred], find_sources())) == [inferred]


JTT = locate_result("results/runs/colored_digits/jtt/s0-1")


def make_jtt():
    """What about.json of JTT, its inference and its stage-1 model say; the inference tells of its machine alone."""
    machine = {"machine": "Linux", "processor": "one", "device": "cpu", "peak_memory_mb": 5.0, "finished": "today"}
    (inferred,) = JTT.upstream("groups")
    (base,) = inferred.upstream("stage1")
    for result, seconds in ((JTT, 1.5), (inferred, None), (base, 2.5)):
        runs = {} if seconds is None else {"runs": {run.key: {"seconds": seconds + run.seed} for run in result.runs()}}
        result.folder.mkdir(parents=True)
        (result.folder / "about.json").write_text(json.dumps(machine | runs))


def test_what_made_a_run_is_told_with_the_runs_that_it_reads():
    make_jtt()
    artifact_run = ArtifactRun("cmnist", "colored_digits", "jtt", (str(JTT.folder),))
    own = load_abouts(artifact_run)
    assert {key: about["seconds"] for key, about in own.items()} == {
        "colored_digits/jtt/s0": 1.5,
        "colored_digits/jtt/s1": 2.5,
    }
    assert all("finished" not in about and about["processor"] == "one" for about in own.values())
    upstream = load_upstream(artifact_run)["colored_digits/jtt/s1"]
    assert {key.split("/")[0]: about.get("seconds") for key, about in upstream.items()} == {
        "groups": None,
        "stage1": 3.5,
    }


def test_what_made_a_run_is_the_same_from_its_folder_and_from_its_record():
    make_jtt()
    run = JTT.runs()[1]
    own = read_abouts(JTT.folder)[run.key]
    file = add(ledger.LEDGER, 1, "jtt", machine={}, run=own, upstream=read_upstream(JTT, run))
    folder = ArtifactRun("cmnist", "colored_digits", "jtt", (), sources=((run.key, str(JTT.folder)),))
    record = ArtifactRun("cmnist", "colored_digits", "jtt", (), sources=((run.key, str(file)),))
    assert load_abouts(folder) == load_abouts(record) == {run.key: own}
    assert load_upstream(folder) == load_upstream(record) != {run.key: {}}
    older = ArtifactRun("cmnist", "colored_digits", "jtt", (), sources=((run.key, str(add(ledger.LEDGER, 1, "jtt"))),))
    assert load_upstream(older) == {run.key: {}}


def test_labels_of_data_that_is_not_here_are_those_of_a_card():
    add(ledger.LEDGER)
    (measured,) = attach_sources([ERM], find_sources())
    found, known = load_labels(measured), labels()
    for split in ("train", "test"):
        assert (found.class_attribute_groups[found.rows(split)].sum(0) == known.groups[known.rows(split)].sum(0)).all()
    with pytest.raises(InputError, match="no record has its labels"):
        load_labels(ERM)
    used, known = {"cmnist": "colored_digits"}, set(known.table["original"].iloc[known.rows("test")])
    assert count_test_originals([measured], used) == len(known) and count_test_originals([ERM], used) is None


def test_samples_are_not_counted_where_no_split_is_called_test(monkeypatch):
    known = labels()
    others = replace(known, table=known.table.replace({"split": {"test": "test_id"}}))
    monkeypatch.setattr(run_files, "load_labels", lambda artifact_run: others)
    assert count_test_originals([ERM], {"cmnist": "colored_digits"}) is None


def test_training_groups_that_a_card_does_not_tell_are_no_zeros():
    add(ledger.LEDGER, dataset=labels(own_groups=True))
    (measured,) = attach_sources([ERM], find_sources())
    with pytest.raises(InputError, match="training groups"):
        load_labels(measured)
