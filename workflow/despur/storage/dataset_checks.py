"""The checks that every data set must pass before a stage reads it. Errors name its file and the remedy."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from despur.specs.declarations import find_component, read_declarations
from despur.specs.spec import Spec
from despur.storage import raw_files
from despur.storage.published_sizes import refuse_other_sizes
from despur.storage.store import HELD_OUT, MISSING, Array, Dataset, InputError, Lazy

ORIGIN = {"source": "SOURCE", "licence": "LICENSE"}  # of about: declared in the data set's file
TABLE_COLUMNS = ("split", "y", "a", "original")
ABOUT = ("classes", "attribute", "attributes")
MAY_LACK = {"y": ("unlabelled",), "a": ("train", "unlabelled")}  # splits in which a label may be missing (-1)
FORMS = {("uint8", 4): "image", ("float32", 2): "embedding", ("int32", 2): "tokens", ("int64", 2): "tokens"}
ROWS = 10_000  # inputs looked at at once: they may lie on disk


def build_dataset(spec: Spec, data_root: Path) -> Dataset:
    """What a data set's file builds and declares, checked. An error names that file and the raw files."""
    dataset = import_module(f"despur.datasets.{spec.base_name}").build(spec.settings, data_root)
    declared = read_declarations("datasets", spec.base_name)
    origin = {key: declared[name] for key, name in ORIGIN.items() if name in declared}
    raw = raw_files.list_files(raw_files.list_patterns(spec), data_root)
    files = ", ".join(map(str, (find_component("datasets", spec.base_name), *raw)))
    return refuse_other_sizes(spec, validate(files, replace(dataset, about=origin | dataset.about)))


def validate(source: Path | str, dataset: Dataset) -> Dataset:
    """The data set itself. Raises InputError, naming the files that it is from, for the first thing that no stage could
    use: each check relies on the ones before it."""
    for check in (
        _check_arrays_and_table,
        _check_rows,
        _check_missing_attributes,
        _check_labels,
        _check_inputs,
        _check_optional_arrays,
        _check_splits,
        _check_classes,
    ):
        for fault in check(dataset):
            raise InputError(f"{source}: {fault}")
    return dataset


def _check_arrays_and_table(dataset: Dataset) -> Iterator[str]:
    for name in ("inputs", "groups", "masks", "class_embeddings"):
        value = getattr(dataset, name)
        if not isinstance(value, np.ndarray | Lazy) and (value is not None or name == "inputs"):
            yield (
                f"{name} are {type(value).__name__}; they must be a numpy array (or, of many images, a store.Lazy): "
                "np.asarray makes one"
            )
    if missing := [name for name in TABLE_COLUMNS if name not in dataset.table]:
        yield (
            f"the table has no column {', '.join(missing)}: it needs split, y, a, and original (np.arange(N): each "
            "sample its own)"
        )
    if missing := [key for key in ABOUT if key not in dataset.about]:
        yield (f"about has no {', '.join(missing)}: it names classes, attributes and what these are (attribute: color)")


def _check_rows(dataset: Dataset) -> Iterator[str]:
    if len(dataset.inputs) != len(dataset.table):
        yield f"{len(dataset.inputs)} inputs, but {len(dataset.table)} labels: the table has one row for each input"
    for column in TABLE_COLUMNS:
        if (unknown := dataset.table[column].isna()).any():
            yield f"{column} of sample {int(unknown.argmax())} is missing: say what it is, or leave the sample out"
    for column in ("split", "original"):
        try:
            dataset.table[column].nunique()
        except TypeError as error:
            yield f"{column} holds values that cannot be told apart ({error}): it must be numbers or texts"


def _check_missing_attributes(dataset: Dataset) -> Iterator[str]:
    """What selects or tests has an attribute."""
    split = dataset.table["split"]
    lacking = split[(dataset.table["a"] == MISSING) & ~split.isin(MAY_LACK["a"])]
    if len(lacking):
        where = ", ".join(f"{count:,} of {name}" for name, count in lacking.value_counts(sort=False).items())
        remedy = "Only training samples may lack it: fill it in, or leave them out; rename a value that is called so"
        yield f"the attribute a is missing (empty, NaN, None or -1) where it selects or tests: {where}. {remedy}"


def _check_labels(dataset: Dataset) -> Iterator[str]:
    """Classes and attributes are positions in their names, or missing where they may be."""
    for column, names in (("y", "classes"), ("a", "attributes")):
        values, count = dataset.table[column].to_numpy(), len(dataset.about[names])
        if values.dtype != np.int64:
            yield (
                f"{column} is {values.dtype}; it must be int64, positions in about[{names!r}] (np.unique gives "
                "them: return_inverse)"
            )
        lacking = (values == MISSING) & dataset.table["split"].isin(MAY_LACK[column]).to_numpy()
        if (wrong := ((values < 0) | (values >= count)) & ~lacking).any():
            row = int(wrong.argmax())
            yield (
                f"{column} of sample {row} is {values[row]}, but about names {count} {names}, numbered from 0 to "
                f"{count - 1}"
            )


def name_form(inputs: Array | Lazy) -> str:
    """What inputs are: image, embedding or tokens; empty where they are none of these."""
    return FORMS.get((str(np.dtype(inputs.dtype)), len(inputs.shape)), "")


def _check_inputs(dataset: Dataset) -> Iterator[str]:
    inputs, about, form = dataset.inputs, dataset.about, name_form(dataset.inputs)
    if not form:
        told = "images are uint8 (N,H,W,C), embeddings float32 (N,D), tokens int32 (N,T)"
        yield f"inputs are {np.dtype(inputs.dtype)} {inputs.shape}; {told}: convert them"
    size = about.get("size", 0)
    if form == "image" and not isinstance(size, int | np.integer):
        yield f"about['size'] is {size!r}; it must be a whole number: pixels a side of the square that is cropped"
    if form == "image" and not 1 <= size <= min(inputs.shape[1:3]):
        pixels = "x".join(map(str, inputs.shape[1:3]))
        yield f"images are {pixels} pixels, from which no square of {size} (about['size']; the setting size) can be cut"
    for start in range(0, len(inputs), ROWS) if form == "embedding" else ():
        bad = ~np.isfinite(inputs[start : start + ROWS]).all(axis=1)
        if bad.any():
            yield (
                f"sample {start + int(bad.argmax())} holds a value that is not a finite number of single precision: "
                "leave it out, or fill it in"
            )


def _check_optional_arrays(dataset: Dataset) -> Iterator[str]:
    """What lies beside inputs and labels: groups, masks, class embeddings."""
    groups, masks, embeddings, inputs = dataset.groups, dataset.masks, dataset.class_embeddings, dataset.inputs
    names = dataset.about.get("groups", ())
    if groups is not None and (groups.dtype != bool or groups.shape != (len(inputs), len(names))):
        yield (
            f"groups are {groups.dtype} {groups.shape}; about['groups'] names {len(names)}, so they are bool "
            f"{len(inputs), len(names)}"
        )
    if masks is not None and (np.dtype(masks.dtype) != bool or masks.shape != inputs.shape[:3]):
        yield f"masks are {np.dtype(masks.dtype)} {masks.shape}; they are bool (N,H,W), of images {inputs.shape}"
    if embeddings is None:
        return
    count = len(dataset.about["classes"])
    if embeddings.ndim != 2 or len(embeddings) != count or not np.isfinite(embeddings).all():
        shown = f"class_embeddings are {embeddings.shape}, but there are {count} classes"
        yield f"{shown}: bring a row of finite numbers for each"
    elif (len(inputs.shape), np.dtype(inputs.dtype).kind) == (2, "f") and embeddings.shape[1] != inputs.shape[1]:
        widths = f"{embeddings.shape[1]:,} numbers each, samples' embeddings {inputs.shape[1]:,}"
        yield f"class_embeddings have {widths}: bring both from one model"


def _check_splits(dataset: Dataset) -> Iterator[str]:
    """What is trained or selected on shares no original with anything else; test splits may show the same one."""
    split, select, headline = dataset.table["split"], dataset.about["select"], dataset.about["headline"]
    if (split == HELD_OUT).any():
        yield f"a split is called {HELD_OUT}, as the part of {select} on which methods may train: call it otherwise"
    for name in ("train", headline):
        if not (split == name).any():
            there = ", ".join(map(str, split.unique()))
            yield f"no sample of the split {name}; there are {there}; needed are train and {headline} (headline)"
    if select in ("train", headline):
        yield (
            f"about['select'] is {select!r}: what selects is neither trained nor tested on; name a split such as "
            "val (it may be empty)"
        )
    use = split.replace("unlabelled", "train")
    uses = dataset.table[["original"]].assign(use=use.where(use.isin(["train", select]), "test")).drop_duplicates()
    if (again := uses["original"].duplicated()).any():
        yield (
            f"original {uses['original'][again].iloc[0]} is in several splits: let all samples of an original be in one"
        )


def _check_classes(dataset: Dataset) -> Iterator[str]:
    """No method can learn a class that training lacks."""
    labels = dataset.table[dataset.table["split"] != "unlabelled"]
    unseen = np.setdiff1d(labels["y"], labels.loc[labels["split"] == "train", "y"])
    if len(unseen):
        row = labels.index[labels["y"] == unseen[0]][0]
        yield (
            f"no training sample of class {dataset.about['classes'][unseen[0]]}, but one in the split "
            f"{labels.loc[row, 'split']}: leave the class out, or train on it"
        )
