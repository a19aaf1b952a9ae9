"""The files of a table: unrounded (.csv), and as people read it (.md, .tex and a page .html that explains itself)."""

import argparse
import html
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from despur.evidence.numbers.counts import summarize_verdicts
from despur.evidence.numbers.tables import format_table
from despur.evidence.runs.artifact_metrics import parse_artifact_runs
from despur.evidence.verdicts import ClaimVerdict, NumberVerdict
from despur.orchestration import artifact_files, experiments, paper_folders
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.markdown import to_markdown
from despur.reporting.printed_names import DATA, METRICS, NAMES
from despur.reporting.templates import render_template
from despur.storage.group_warnings import describe_warnings
from despur.storage.store import InputError, write_csv
from despur.storage.texts import write_text

WriteArtifact = Callable[[list[ArtifactRun], Path], None]  # of these runs, to files of this name without suffix
MEASURED_ON = "of the test split, at the step that is best on validation data, else at the last"
MEANINGS = {  # of the columns of tables
    "reported": "the number that the paper prints (its standard deviation)",
    "printed": "what the paper prints",
    "ours": f"mean over seeds (standard deviation) {MEASURED_ON}, unless the text above or the row names another split "
    "or step",
    "printed setting": "what the paper says of this number; ours on a substitute may differ: `despur explain` says it",
    "reason": "why a number is not compared or not run; how many seeds collapsed, which are left out",
    "difference": "ours minus reported",
    "95 % interval": "of the difference",
    "seeds": "how many runs, which differ in nothing but their seed",
    "data used": "the data set that stands for the paper's; another name is a substitute",
    "measured": "on this machine, or by which commit on which other one",
    "selected": "the settings that validation data select",
    "contrasts": "the differences that the claim is about",
    "nearest to its margin [bounds]": "the contrast nearest to its margin, with its 95 % interval",
    "margin": "what each contrast must exceed",
    "on printed numbers": "the same claim, executed on the numbers that the paper prints",
}
VERDICTS = {
    NumberVerdict.WITHIN_2: "the whole interval of the difference lies within 2 points (other units: 2 %)",
    NumberVerdict.WITHIN_5: "it lies within 5 points, or 5 %",
    NumberVerdict.BEYOND_5: "it lies beyond 5 points, or 5 %",
    NumberVerdict.NOT_KNOWN: "neither is shown: few seeds, or seeds that vary much",
    NumberVerdict.AS_PRINTED: "a count, or what is the same in all seeds here and in print: equal to the last digit",
    NumberVerdict.NOT_AS_PRINTED: "a count that is another one",
    NumberVerdict.FITTED: "a setting was found on this number: never compared",
    NumberVerdict.OTHER_SETTINGS: "other settings than the paper's: not compared",
    NumberVerdict.SUBSTITUTE: "other data than the paper's: never compared with printed numbers",
    NumberVerdict.NOT_COMPARED: "nothing is printed, or the two are not of one thing",
    NumberVerdict.NOT_RUN: "this configuration has no such run",
    ClaimVerdict.HOLDS: "every contrast is shown to lie above its margin",
    ClaimVerdict.FAILS: "a contrast is shown to lie below its margin",
    ClaimVerdict.UNDECIDED: "these runs cannot decide; the column beside it says why",
    ClaimVerdict.NOT_TUNED: "settings were not selected as the paper selects them: nothing is decided",
    ClaimVerdict.SEEN: "on other data than the paper's, this order is shown: no evidence about the paper",
    ClaimVerdict.OPPOSITE: "on other data than the paper's, the opposite order is shown: no evidence about the paper",
    ClaimVerdict.NOT_SEEN: "on other data than the paper's, neither order is shown",
    ClaimVerdict.NOT_EXECUTED: "it cannot be written as contrasts; the reason says why",
}
NOT_RUN = (ClaimVerdict.NOT_RUN, ClaimVerdict.NOT_EXECUTED)  # numbers that were not run have the first, too
MARKS = ((r"\*\*(.+?)\*\*", "b"), (r"``(.+?)``", "code"), (r"\*(.+?)\*", "em"))  # of reStructuredText
NUMBER = re.compile(r"[–+-]?[\d.,]*( \(.*\))?")


def write_table(prefix: Path, table: pd.DataFrame, display: pd.DataFrame | None = None) -> None:
    """``prefix``.csv (unrounded), .md, .tex and .html (as people read it; .md and .html say first how many numbers
    agree), atomically."""
    display = name_as_printed(format_table(table) if display is None else display)
    line = summarize_verdicts(table)
    write_csv(prefix.with_suffix(".csv"), table)
    texts = {
        ".md": (f"{line} Ours are {MEASURED_ON}, unless caption or row name another.\n\n" if line else "")
        + to_markdown(display.columns, display.to_numpy())
        + "\n",
        ".tex": display.to_latex(index=False, escape=True),
        ".html": render_table(prefix.parent.name, prefix.with_suffix("").name, display, line),
    }
    for suffix, text in texts.items():
        write_text(prefix.with_suffix(suffix), text)


def name_as_printed(display: pd.DataFrame) -> pd.DataFrame:
    """A table whose methods, data sets and metrics are called as in figures; a metric may have its unit behind it,
    ``(percent)``, and several data sets stand in one cell."""

    def name_metric(text: str) -> str:
        words, *unit = text.split(" (", 1)
        return " (".join([METRICS.get(words, words), *unit])

    names: dict[str, Callable[[str], str]] = {
        "data set": lambda text: ", ".join(DATA.get(key, key) for key in text.split(", ")),
        "method": lambda name: name if "=" in name else NAMES[name],
        "metric": name_metric,
    }
    return display.assign(**{column: display[column].map(names[column]) for column in {*names} & {*display}})


def render_table(paper: str, name: str, display: pd.DataFrame, line: str) -> str:
    """A page: which table of which paper, what it shows, its rows (those that were not run folded) and a legend."""
    display = display.astype(str)
    display = display.loc[:, (display != "").any()]
    verdicts = display.get("verdict", pd.Series("", display.index))
    kinds = verdicts.where(verdicts.isin([*VERDICTS]), "")  # some tables have other words there
    is_run = ~kinds.isin(NOT_RUN)
    run = is_run if is_run.any() else kinds.notna()
    return render_template(
        "table.html.jinja",
        paper=paper,
        title=experiments.load_experiments(paper)["title"] if paper in paper_folders.list_papers() else "",
        label=artifact_files.format_label(name),
        caption=mark_up(read_caption(paper, name)),
        line=line,
        columns=[(column, is_numeric(display[column])) for column in display],
        rows=display[run].assign(kind=kinds[run]).to_dict("records"),
        not_run=display[~run].assign(kind=kinds[~run]).to_dict("records"),
        meanings={column: MEANINGS[column] for column in display if column in MEANINGS},
        verdicts={kind: VERDICTS[kind] for kind in VERDICTS if kind in set(kinds)},
    )


def is_numeric(column: pd.Series) -> bool:
    """Whether a column has numbers, with or without their deviations, and nothing else but dashes."""
    return all(map(NUMBER.fullmatch, column)) and any(character.isdigit() for cell in column for character in cell)


def read_caption(paper: str, name: str) -> str:
    """What a table shows, in the words of its paper's folder; nothing where there is no caption."""
    if paper not in paper_folders.list_papers():
        return ""
    folder = paper_folders.find_paper(paper) / "captions"
    files = [folder / f"{stem}.rst" for stem in (name, artifact_files.find_artifacts(paper).get(name, name))]
    return next((file.read_text(encoding="utf-8") for file in files if file.exists()), "")


def mark_up(text: str) -> str:
    """HTML of a paragraph with ``**bold**``, ``*emphasis*`` and code."""
    text = html.escape(text, quote=False)
    for mark, tag in MARKS:
        text = re.sub(mark, rf"<{tag}>\1</{tag}>", text, flags=re.DOTALL)
    return text


def main(artifacts: Mapping[str, WriteArtifact]) -> None:
    """Command line of a paper folder's tables.py or figures.py, and of the matrix: ``NAME --artifact-runs JSON --output
    PREFIX``. ``artifacts``: by name, the function that writes its files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("artifact", choices=sorted(artifacts))
    parser.add_argument("--artifact-runs", required=True, help="JSON: the runs behind the artifact")
    parser.add_argument("--output", type=Path, required=True, help="where to write it, without suffix")
    arguments = parser.parse_args()
    runs = parse_artifact_runs(arguments.artifact_runs)
    try:
        artifacts[arguments.artifact](runs, arguments.output)
        append_warnings(arguments.output, runs)
    except InputError as error:
        sys.exit(f"error: {error}")


def append_warnings(prefix: Path, artifact_runs: Sequence[ArtifactRun]) -> None:
    """Say below a table (.md, .html) which inferred groups behind it leave a method nothing to work with."""
    warnings = describe_warnings(folder for artifact_run in artifact_runs for folder in artifact_run.folders)
    forms = {".md": "\n- warning: {}\n", ".html": "<p>Warning: {}</p>\n"}
    shown = [html.escape(" ".join(warning.split())) for warning in warnings]  # names of classes may be any text
    for file, form in ((prefix.with_suffix(suffix), form) for suffix, form in forms.items()):
        if warnings and file.exists():
            write_text(file, file.read_text() + "".join(map(form.format, shown)))
