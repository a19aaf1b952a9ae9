"""``despur summary``: what the run of a configuration made, where it is, and the verdict in one line."""

from collections.abc import Iterator
from pathlib import Path

from despur.cli.rows import Row
from despur.orchestration import configuration
from despur.specs.paths import chunk_seeds, parse_seeds
from despur.specs.settings import SettingError

TITLES = {
    "numbers": "printed numbers",
    "own": "claims on the papers' own data",
    "substitute": "orders on substitute data",
}
NEXT = {  # what to type after the run of a configuration with too few seeds to decide anything
    Path("config/smoke.yaml"): "make runs all five papers on bundled data",
    Path("config.yaml"): "make CONFIG=config/three_seeds.yaml runs the same with three seeds",
}


def summarize_run(configfile: Path) -> Iterator[str]:
    """what the run of a configuration made, the verdict in one line, and what to type next"""
    from despur.evidence import tally
    from despur.evidence.statistics.contrasts import SEEDS
    from despur.evidence.verdicts import ClaimVerdict, NumberVerdict

    config = configuration.load_configuration(configfile)
    outputs = Path(config["outputs"])
    scorecard = outputs / "scorecard.csv"
    if not scorecard.exists():
        raise SettingError(f"{scorecard} is not there: make it with snakemake --configfile {configfile}")
    pages = [file for name in ("scorecard", "report", "explorer") if (file := outputs / f"{name}.html").exists()]
    made = sum(len(tally.list_made_artifacts(config, paper)) for paper in config["papers"])
    yield f"Made: {made} tables and figures, below {outputs / 'papers'}. Pages: {', '.join(map(str, pages))}"
    seeds = sum(len(parse_seeds(chunk)) for chunk in chunk_seeds(config["seeds"], 1))
    verdicts = count_scorecard(scorecard)
    undecided = (ClaimVerdict.UNDECIDED, ClaimVerdict.NOT_SEEN, NumberVerdict.NOT_KNOWN)
    decided = any(word not in undecided for what in TITLES.values() for word in verdicts.values[what])
    if seeds >= SEEDS or decided:
        yield verdicts
        yield f"Next: open {scorecard.with_suffix('.html')}; despur show FOLDER prints what a run measured"
    else:
        yield (
            "It means: every step works here, from data to pages. It says nothing about a paper: "
            f"a verdict needs {SEEDS} seeds, and this run has {seeds}"
        )
        yield f"Next: {NEXT.get(configfile, f'write seeds: {SEEDS} in {configfile}, then make CONFIG={configfile}')}"


def count_scorecard(scorecard: Path) -> Row:
    """The verdicts of scorecard.csv in one line."""
    import pandas as pd

    from despur.evidence.numbers.counts import COMPARED
    from despur.evidence.verdicts import DECIDED, ORDERS
    from despur.reporting.pages.scorecard_counts import count_measurements, count_verdicts

    table = pd.read_csv(scorecard, dtype={"setting": str}, low_memory=False)
    found, shown = count_verdicts(table), {"numbers": COMPARED, "own": DECIDED, "substitute": ORDERS}
    counts = {
        TITLES[data]: {str(word): found[data][word] for word in words if found[data].get(word)}
        for data, words in shown.items()
    }
    distinct = count_measurements(table)
    said = [f"{what}: {format_counts(own)}" for what, own in counts.items()]
    if distinct:
        said[0] += f" (distinct measurements: {distinct})"
    return Row(f"Verdict: {'; '.join(said)}", "verdicts", **counts, measurements=distinct)


def format_counts(counts: dict[str, int]) -> str:
    """``3 hold, 1 undecided``."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none judged here"
