"""What ``despur check`` looks at beyond what no stage could use: inputs that cannot be read, and classes and attribute
values that a split lacks."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from despur.specs.declarations import list_components
from despur.specs.resolution import resolve
from despur.specs.spec import Spec
from despur.storage.dataset_checks import name_form
from despur.storage.store import MISSING, ROWS, Array, Dataset


def order_splits(dataset: Dataset) -> list[str]:
    """The splits, in whatever order the rows have them: the training split first, those that test last."""
    return sorted(dataset.splits, key=lambda split: (split in dataset.test_splits, split != "train"))


def count_groups(dataset: Dataset) -> dict[str, dict[str, int]]:
    """How many samples of each split a group has: by group, then by split."""
    assert dataset.groups is not None
    sizes = {split: dataset.groups[dataset.rows(split)].sum(axis=0) for split in order_splits(dataset)}
    return {
        name: {split: int(group_sizes[i]) for split, group_sizes in sizes.items()}
        for i, name in enumerate(dataset.about["groups"])
    }


def list_group_sizes(groups: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """A table: a line for each group, a column for each split. ``groups``: of :func:`count_groups`."""
    splits = list(next(iter(groups.values())))
    width = max(map(len, [*groups, "group"])) + 4
    yield f"  {'group':<{width}}" + "".join(f"{split:>12}" for split in splits)
    for name, sizes in groups.items():
        yield f"  {name:<{width}}" + "".join(f"{sizes[split]:>12,}" for split in splits)


def read_inputs(dataset: Dataset) -> Array:
    """Read all inputs: images are decoded only then. A key for each, int64 (N,): the same for the same inputs. Raises
    InputError for those that cannot be read. Progress goes to a terminal."""
    total = len(dataset.inputs)
    keys: list[int] = []
    for start in range(0, total, ROWS):
        keys += [hash(row.tobytes()) for row in dataset.inputs[start : start + ROWS]]
        if sys.stderr.isatty() and total > ROWS:
            end = "\n" if start + ROWS >= total else "\r"
            print(f"read {min(start + ROWS, total):,} of {total:,} inputs", end=end, file=sys.stderr, flush=True)
    return np.array(keys, np.int64)


def list_gaps(dataset: Dataset) -> Iterator[str]:
    """The classes and attribute values that a split lacks although another one has them."""
    labels = dataset.table[dataset.table["split"] != "unlabelled"]
    for column, key, what in (("y", "classes", "class"), ("a", "attributes", dataset.about["attribute"])):
        everywhere = np.setdiff1d(labels[column], [MISSING])
        for split, present in labels.groupby("split", sort=False)[column]:
            if lacking := [str(dataset.about[key][value]) for value in np.setdiff1d(everywhere, present)]:
                yield f"the split {split} has no sample of {what} {name_some(lacking, ', ')}"


def list_missing_attributes(dataset: Dataset, methods: Iterable[Spec]) -> Iterator[str]:
    """How many training samples have no attribute, and which of the ``methods`` run all the same."""
    rows = dataset.rows("train")
    if missing := len(rows) - len(dataset.rows_with_attribute("train")):
        readers = [point for point in methods if point.reads_true_attribute]
        needing = ", ".join(point.base_name for point in readers if "held_out_share" not in point.settings)
        yield (
            f"the attribute of {missing:,} of {len(rows):,} training samples is missing: all methods run except "
            f"{needing}, which need it unless their groups are inferred (+groups=clusters, predictions or ssa)"
        )


def list_methods(name: str) -> list[Spec]:
    """Every method with what it takes by default on a data set, named without settings."""
    return [resolve("methods", method, name).points[0] for method in list_components("methods")]


def list_missing_class_embeddings(dataset: Dataset, methods: Iterable[Spec]) -> Iterator[str]:
    """Which methods lack an embedding of each class, which they, or their stage 1, take from the data set."""
    needing = [p.base_name for p in methods if any(part.settings.get("classes") == "given" for part in p.walk())]
    if needing and dataset.class_embeddings is None and len(dataset.inputs.shape) == 2:
        yield (
            f"no class_embeddings, which {', '.join(needing)} need: bring them, or take the means of each class's "
            "samples (+stage1.classes=means, zero_shot+classes=means)"
        )


def list_encoders_to_name(dataset: Dataset, methods: Iterable[Spec]) -> Iterator[str]:
    """Which encoder fits images or texts, where methods take one for vectors by default, as ERM does."""
    default = next(point.components["encoder"].base_name for point in methods if point.base_name == "erm")
    encoders = {"": "bigru", "bert": "bert", "gpt2": "language_model", "roberta": "language_model"}
    of_texts = encoders.get(dataset.about.get("vocabulary", ""), "hf")
    fitting = {"image": "convnet", "tokens": of_texts}.get(name_form(dataset.inputs))
    if default == "mlp" and fitting:
        yield (
            f"the encoder {default}, the default, reads vectors: name another one, such as +encoder={fitting}, and "
            f"+stage1.encoder={fitting} where a method reads a stage 1 (jtt, cnc)"
        )


def name_some(names: Sequence[str], separator: str) -> str:
    """At most five names, and how many there are besides."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return separator.join(names[:5]) + more
