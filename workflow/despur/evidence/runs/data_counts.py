"""What is counted in the data behind runs, as measured values: sizes of splits, groups and classes."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from despur.evidence.runs.run_files import NotRun, load_labels
from despur.orchestration.experiments import ArtifactRun
from despur.storage.store import Dataset


def measure_data(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Rows of metrics of no method: of each split ``n_examples``; of its groups, by the index and the name of ``class``
    and ``attribute``, ``group_size``, ``group_share`` and ``share_of_class``; of its attributes ``attribute_share``; of
    all of it (split "all") ``n_examples`` and ``n_classes``. None of data whose labels are not known here."""
    rows: list[dict[str, Any]] = []
    for artifact_run in {(run.paper_dataset, run.dataset): run for run in reversed(artifact_runs)}.values():
        head = describe_data(artifact_run)
        try:
            dataset = load_labels(artifact_run)
        except NotRun:
            continue
        rows += [head | row for split in dataset.table["split"].unique() for row in count_split(dataset, split)]
        rows.append(head | {"split": "all", "metric": "n_classes", "value": float(len(dataset.about["classes"]))})
        if (artifact_run.result.data.folder / "about.json").exists():  # a card has not all of it
            rows.append(head | {"split": "all", "metric": "n_examples", "value": float(len(dataset.table))})
    return pd.DataFrame(rows)


def describe_data(artifact_run: ArtifactRun) -> dict[str, Any]:
    """What all rows of metrics say that are counted in the data of a run."""
    return {
        "paper_dataset": artifact_run.paper_dataset,
        "used_dataset": artifact_run.dataset,
        "data": artifact_run.dataset,
        "substitute": artifact_run.substitute,
        **{"paper_method": "", "selection": "best", "group": "", "seed": 0},
    }


def count_split(dataset: Dataset, split: str) -> Iterator[dict[str, Any]]:
    """The rows of a split."""
    table = dataset.table[dataset.table["split"] == split]
    yield {"split": split, "metric": "n_examples", "value": float(len(table))}
    if "a" not in table or "attributes" not in dataset.about:
        return
    for a, size in table["a"].value_counts().items():
        yield {"split": split, "metric": "attribute_share", "attribute": a, "value": size / len(table)}
    classes, attributes = (list(enumerate(dataset.about[key])) for key in ("classes", "attributes"))
    for y, label in classes:
        class_rows = table[table["y"] == y]
        for a, attribute in attributes:
            at = {"class": y, "attribute": a, "class_name": label, "attribute_name": attribute, "split": split}
            size = float((class_rows["a"] == a).sum())
            yield at | {"metric": "group_size", "value": size}
            yield at | {"metric": "group_share", "value": size / len(table)}
            if len(class_rows):
                yield at | {"metric": "share_of_class", "value": size / len(class_rows)}
