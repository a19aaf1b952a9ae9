"""``despur summary``: what the run of a configuration made, where it is, and the verdict in one line."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from despur.cli.rows import Row
from despur.orchestration import configuration
from despur.specs.paths import chunk_seeds, parse_seeds
from despur.specs.settings import SettingError

TITLES = {
    "numbers": "printed numbers",
    "own": "claims on the papers' own data",
    "substitute": "claims on substitute data",
}
WORDS = {"agrees": "agree", "differs": "differ", "holds": "hold", "fails": "fail"}
COUNTED = ("agrees", "differs", "too noisy", "holds", "fails", "undecided")


def summarize_run(configfile: Path) -> Iterator[str]:
    """what the run of a configuration made, where it is, and the verdict in one line"""
    config = configuration.load_configuration(configfile)
    outputs = Path(config["outputs"])
    scorecard = outputs / "scorecard.csv"
    if not scorecard.exists():
        raise SettingError(f"{scorecard} is not there: make it with snakemake --configfile {configfile}")
    pages = [file for name in ("scorecard", "report", "explorer") if (file := outputs / f"{name}.html").exists()]
    yield f"Tables and figures: {outputs / 'papers'}. Pages: {', '.join(map(str, pages))}"
    yield count_scorecard(scorecard)
    yield from describe_seeds(chunk_seeds(config["seeds"], 1))


def describe_seeds(seeds: Sequence[str]) -> Iterator[str]:
    """What to do where there are too few seeds to decide anything; nothing where there are enough."""
    from despur.evidence.statistics.contrasts import SEEDS

    if (given := sum(len(parse_seeds(chunk)) for chunk in seeds)) < SEEDS:
        yield (
            f"Claims need {SEEDS} seeds, and numbers, too; this run has {given}. "
            f"The bundled run with {SEEDS}: make CONFIG=config/three_seeds.yaml. Of others: seeds: {SEEDS} in the file."
        )


def count_scorecard(scorecard: Path) -> Row:
    """The verdicts of scorecard.csv in one line."""
    import pandas as pd

    from despur.reporting.pages.scorecard_counts import count_measurements, count_verdicts

    table = pd.read_csv(scorecard, low_memory=False)
    counts = {
        TITLES[data]: {WORDS.get(word, word): found[word] for word in COUNTED if word in found}
        for data, found in count_verdicts(table).items()
    }
    of_models = count_measurements(table)
    said = [f"{what}: {format_counts(own)}" for what, own in counts.items()]
    if of_models["numbers"]:
        said[0] += f" ({describe_measurements(of_models)})"
    return Row(f"Verdict: {'; '.join(said)}", "verdicts", **counts, of_models=of_models)


def describe_measurements(found: dict[str, int]) -> str:
    """``8 of 85 compared numbers of trained models agree, 2 are explained by a choice, 75 open; 50 different
    measurements``."""
    return (
        f"{found['agrees']} of {found['numbers']} compared numbers of trained models agree, "
        f"{found['explained']} are explained by a choice, {found['open']} open; "
        f"different measurements: {found['measurements']}"
    )


def format_counts(counts: dict[str, int]) -> str:
    """``3 hold, 1 undecided``."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none judged here"
