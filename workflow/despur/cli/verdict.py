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
    found = list(count_verdicts(table))
    yield "Verdict: " + "; ".join(found)
    yield from found


def count_verdicts(table: "pd.DataFrame") -> Iterator[Row]:
    """Of a scorecard: how many printed numbers and claims have which verdict. Those on the papers' own data and on
    substitutes are counted apart."""
    from despur.reporting import verdicts

    numbers, claims = (table[table["kind_of_row"] == kind] for kind in ("number", "claim"))
    kinds = numbers["verdict"].map(verdicts.kind).map(verdicts.KINDS.index)
    first = kinds.groupby([numbers[key].fillna("") for key in PRINTED_NUMBER]).min()
    counted = {"printed numbers": first.map(verdicts.KINDS.__getitem__).value_counts()}
    substitute = claims["substitute"].astype(str) == "True"
    counted["claims on the papers' own data"] = claims[~substitute]["verdict"].value_counts()
    counted["claims on substitute data"] = claims[substitute]["verdict"].value_counts()
    for what, counts in counted.items():
        words = NUMBERS if what == "printed numbers" else CLAIMS
        by_word = {verdict: int(counts.get(verdict, 0)) for verdict in words}
        said = ", ".join(f"{count} {words[verdict]}" for verdict, count in by_word.items() if count)
        yield Row(f"{what}: {said or 'none compared here'}", "verdicts", of=what, **by_word)
