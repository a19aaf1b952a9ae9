"""``despur verdict``: what the run of a configuration made, where it is, and the verdict in one line."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from despur.cli.rows import Row
from despur.orchestration import configuration
from despur.specs.settings import SettingError

if TYPE_CHECKING:
    import pandas as pd

PRINTED_NUMBER = ["paper", "place", "artifact", "paper_dataset", "method", "setting", "metric"]
NUMBERS = {"agrees": "agree", "differs": "differ", "too noisy": "too noisy", "undecided": "undecided"}
CLAIMS = {"holds": "hold", "fails": "fail", "undecided": "undecided"}


def summarize_run(configfile: Path) -> Iterator[str]:
    """what the run of a configuration made, where it is, and the verdict in one line"""
    import pandas as pd

    outputs = Path(configuration.load_configuration(configfile)["outputs"])
    scorecard = outputs / "scorecard.csv"
    if not scorecard.exists():
        raise SettingError(f"{scorecard} is not there: make it with snakemake --configfile {configfile}")
    table = pd.read_csv(scorecard, low_memory=False)
    pages = [file for file in (outputs / "scorecard.html", outputs / "report.html") if file.exists()]
    yield f"Tables and figures: {outputs / 'papers'}. All verdicts: {', '.join(map(str, pages))}"
    counts = count_verdicts(table)
    said = "; ".join(f"{what}: {format_counts(own)}" for what, own in counts.items())
    yield Row(f"Verdict: {said}", "verdicts", **counts)


def count_verdicts(table: "pd.DataFrame") -> dict[str, dict[str, int]]:
    """Of a scorecard: how many printed numbers and claims have which verdict. Those on the papers' own data and on
    substitutes are counted apart."""
    from despur.reporting import verdicts

    numbers, claims = (table[table["kind_of_row"] == kind] for kind in ("number", "claim"))
    kinds = numbers["verdict"].map(verdicts.classify_verdict).map(verdicts.KINDS.index)
    first = kinds.groupby([numbers[key].fillna("") for key in PRINTED_NUMBER]).min()
    substitute = claims["substitute"].astype(str) == "True"
    found = {
        "printed numbers": (first.map(verdicts.KINDS.__getitem__), NUMBERS),
        "claims on the papers' own data": (claims[~substitute]["verdict"], CLAIMS),
        "claims on substitute data": (claims[substitute]["verdict"], CLAIMS),
    }
    return {
        what: {word: int((own == name).sum()) for name, word in words.items()} for what, (own, words) in found.items()
    }


def format_counts(counts: dict[str, int]) -> str:
    """``3 hold, 1 undecided``."""
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none judged here"
