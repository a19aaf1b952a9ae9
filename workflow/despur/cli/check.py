"""``despur check waterbirds``: are the raw files of a data set here, and right? It downloads and writes
nothing."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from despur.cli import data_checks, data_doubts
from despur.cli.commands import PATH, Arguments
from despur.cli.rows import Row
from despur.orchestration import configuration, jobs, plan
from despur.specs.declarations import read_declarations, read_docstring
from despur.specs.paths import ResultPath, data_root
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.specs.spec import Spec
from despur.storage import raw_files, weight_files
from despur.storage.dataset_checks import build_dataset
from despur.storage.pretrained import weights_root
from despur.storage.store import InputError

ARGUMENTS: Arguments = {
    "dataset": {"nargs": "?", "help": "a name, with settings if you like", "completes": "datasets"},
    "--configfile": PATH | {"help": "instead of a name: whether all that this configuration needs is there"},
}


def check(dataset: str | None = None, configfile: Path | None = None) -> Iterator[str]:
    """whether the raw files of a data set are here and right, or those of a configuration here; what is missing, how
    to get it"""
    if dataset and not configfile:
        yield from check_dataset(dataset)
    elif configfile and not dataset:
        yield from check_configured(configfile)
    else:
        raise SettingError(
            "name a data set (despur check waterbirds) or a configuration (--configfile config/published.yaml)"
        )


# of raw data: part of despur; here; not needed, as its results are here; comes by itself; not here
STATES = ("bundled", "present", "made", "download", "missing")


class NeededData(NamedTuple):
    """A data set that results need. ``state``: one of STATES. ``missing``: the patterns of its raw files that are not
    here."""

    point: Spec
    state: str
    missing: list[str]

    def describe(self) -> Row:
        """One line: state, name, which files are missing and where they come from."""
        name, lacking = self.point.base_name, ""
        if self.state in ("missing", "download"):
            files = ", ".join(pattern.split(" |")[0] for pattern in self.missing)
            lacking = f": {files}; from {find_statement(name, 'SOURCE')}"
        text = f"{self.state:<10}{name}{lacking}"
        return Row(text, "datasets", name=name, state=self.state, missing=self.missing)


def look_for_data(point: Spec, results: Iterable[ResultPath]) -> NeededData:
    """Whether the raw files of a data set are here, from which ``results`` are made."""
    missing, state = raw_files.list_missing(point, data_root()), "missing"
    if not raw_files.list_patterns(point):
        state = "bundled"
    elif not missing:
        state = "present"
    elif all((result.folder / "about.json").exists() for result in results):
        state = "made"
    elif raw_files.is_downloaded(point):
        state = "download"
    return NeededData(point, state, missing)


def list_results(configfile: Path) -> list[ResultPath]:
    """Every result behind a configuration, in the order of their paths."""
    planned = plan.list_jobs(configuration.load_configuration(configfile))
    return sorted(set().union(*planned.values()), key=lambda result: str(result.folder))


def list_needed_data(results: Iterable[ResultPath]) -> list[NeededData]:
    """The data sets that results need, by name and raw files."""
    needed: dict[tuple[str, tuple[str, ...]], tuple[Spec, list[ResultPath]]] = {}
    for result in (each for each in results if each.stage == "data"):
        for point in result.datasets.points:
            raw = point.source or point
            key = raw.base_name, raw_files.list_patterns(raw)
            needed.setdefault(key, (raw, []))[1].append(result)
    return [look_for_data(*needed[key]) for key in sorted(needed)]


def list_trained(results: Iterable[ResultPath]) -> Iterator[Spec]:
    """What results train, or apply."""
    return (point for result in results if result.stage in ("stage1", "runs") for point in result.sweep.points)


def describe_weights(points: Iterable[Spec]) -> Iterator[Row]:
    """A line for each encoder that starts from weights: ``present``, ``download`` (it comes by itself) or
    ``missing``."""
    encoders = {encoder.name: encoder for encoder in weight_files.list_encoders(points, without=())}
    for name in sorted(encoders):
        missing = weight_files.list_missing(encoders[name])
        comes = raw_files.is_downloaded(encoders[name])
        state = ("download" if comes else "missing") if missing else "present"
        line = f"{state:<10}weights of {name}{': ' * bool(missing)}{', '.join(missing)}"
        yield Row(line, "encoders", name=name, state=state, missing=missing)


def check_configured(configfile: Path) -> Iterator[str]:
    """Of each data set and of the weights that a configuration needs: whether the files are there; none is read. Raises
    SettingError or InputError if some are not."""
    results = list_results(configfile)
    yield (
        f"looked for under {data_root().resolve()} (DESPUR_DATA_ROOT), not read: despur check NAME does. "
        f"Pretrained weights: under {weights_root().resolve()} (DESPUR_WEIGHTS_ROOT).\n"
    )
    needed = list_needed_data(results)
    yield from (data.describe() for data in needed)
    yield from describe_weights(list_trained(results))
    missing = [data.point.base_name for data in needed if data.state == "missing"]
    if missing:
        raise SettingError(
            f"{len(missing)} of {len(needed)} data sets are missing: {', '.join(dict.fromkeys(missing))}"
        )
    for result in results:
        list(jobs.list_missing(result))


def check_dataset(name: str) -> Iterator[str]:
    """What a data set is and where its files come from; then that they are here and can be read."""
    sweep, root = resolve("datasets", name), data_root()
    yield f"{read_docstring('datasets', sweep.base_name)}\n\nlicense: {find_statement(sweep.base_name, 'LICENSE')}"
    yield f"looked for under {root.resolve()} (DESPUR_DATA_ROOT)"
    methods = data_checks.list_methods(sweep.base_name)
    for point in sweep.points:
        raw, source = point.source or point, find_statement(sweep.base_name, "SOURCE")
        missing = raw_files.list_missing(raw, root)
        if missing and raw_files.is_downloaded(raw):
            told = f"this check downloads nothing; the run will, or put them there from {source}"
            raise InputError(f"{', '.join(missing)} are not under {root}: {told}")
        if tokenizer := [*jobs.list_missing_tokenizers([raw])]:
            raise InputError(f"this check downloads nothing: {'; '.join(tokenizer)}")
        dataset = build_dataset(raw, root)
        keys = data_checks.read_inputs(dataset)
        gaps = [
            *data_checks.list_gaps(dataset),
            *data_checks.list_missing_attributes(dataset, methods),
            *data_checks.list_missing_class_embeddings(dataset, methods),
            *data_checks.list_encoders_to_name(dataset, methods),
            *data_doubts.list_doubts(dataset, keys, own=sweep.base_name == "bring_your_own"),
        ]
        samples = {split: len(dataset.rows(split)) for split in data_checks.order_splits(dataset)}
        sizes = ", ".join(f"{count:,} {split}" for split, count in samples.items())
        shape = "x".join(map(str, dataset.inputs.shape[1:])) + " numbers" * (len(dataset.inputs.shape) == 2)
        origin = dataset.about.get("source", "not stated")
        text = f"{point.name}: right; {sizes}; each input {shape}; source: {origin}"
        groups = data_checks.count_groups(dataset)
        yield Row(text, "datasets", name=point.name, state="right", samples=samples, groups=groups, gaps=gaps)
        yield from data_checks.list_group_sizes(groups) if len(dataset.about["attributes"]) > 1 else ()
        yield from (f"  but {gap}" for gap in gaps)
    yield from describe_weights(methods)


def find_statement(dataset: str, name: str) -> str:
    """The SOURCE or LICENSE that the file of a data set declares; nothing is run."""
    return str(read_declarations("datasets", dataset).get(name, "not stated"))
