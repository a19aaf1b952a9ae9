"""The page about the grids of domain_temperature that fall to chance: what is printed, and what was tried."""

from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd

from catalog.markdown import ROOT, code, escape, page, table
from despur.evidence.ledger import files
from despur.evidence.ledger.record_checks import load_sound
from despur.evidence.ledger.standing import JudgedRecord, judge_records
from despur.evidence.numbers.printed import parse_settings
from despur.orchestration.paper_folders import find_paper
from despur.papers.domain_temperature.findings import (
    CHANCE,
    CHOICE,
    TRIALS,
    describe_findings,
    keep_last,
    list_points,
    list_runs,
    select_full,
)
from despur.papers.domain_temperature.temperature_grids import TABLES

IMAGES = {"validation": 1154, "Test-OOD": 2310, "Test-ID": 1154}  # App. E
SEEDS = 5  # of each printed mean
THREES, FIVES = 6131, 5421  # in MNIST's training set

INTRODUCTION = (
    "After this page you know where the accuracies that Lewis et al. 2023 print for each temperature (Tables 3 to 8) "
    "fall to chance, what a model that falls must be like, and which of the choices that the paper leaves open were "
    "tried to make ours fall there, too."
)
SPREADS = (
    "Test-ID varies from cell to cell as guesses for each image do: the probe's answers follow something that the "
    "digits do not depend on. A representation that is constant (or not a number) would give one answer for all "
    "images, and vary as the last column says. Validation and Test-OOD come near to that: on a color that it was not "
    "fitted on, the probe gives one answer. So the encoder still represents color, and no longer the digit."
)
TRIED = (
    "Those of the paper's 400 epochs count elapsed hours. *Choice*: settings that differ from the defaults. *Patch*: "
    "what no setting can say. *Raw*: the probe on representations that are not standardized. All accuracies with 1 % "
    "of the labels, domains excepted."
)
REASON = (
    "A likely reason of the fall: color survives every crop and blur, so a code of color alone already has a low loss "
    "at a high temperature, and the encoder decides how easily it finds that code. With the mean over positions "
    "(`encoder.pooling=mean`) it starts near chance and learns the digit slowly, more slowly at tau_beta .1 than at 1. "
    "No default was changed. Some trials were stopped by hand after a look at their course."
)
COURSES = "Test-ID after so many epochs, of the trials with pooling."


def build_fingerprint(trials: Path = ROOT / TRIALS) -> str:
    """The page: the boundary, the cells beyond it, the trials."""
    tried = pd.read_csv(trials, keep_default_na=False)
    last = keep_last(tried)
    hours = last["core_seconds"].sum() / 3600
    records = judge_records(load_sound(ROOT / files.LEDGER)[0])
    return page(
        "Where the grids of domain_temperature fall to chance",
        INTRODUCTION,
        "## The boundary",
        f"Smallest tau_alpha with a printed Test-ID below {CHANCE:.0%}, by tau_beta. Nothing above it is better.",
        describe_boundary(),
        "## The cells beyond it",
        describe_spreads(),
        SPREADS,
        "## What was tried",
        f"{len(last)} trials, {hours:.1f} core-hours. {TRIED}",
        describe_trials(last),
        "## What they say",
        describe_lowest(last),
        REASON,
        "At the paper's length of training:",
        "\n".join(f"- {said}" for said in describe_findings(records, trials)) or "Nothing yet.",
        f"Ours with `{CHOICE}`, and print, in percent:",
        describe_points(records),
        "Numbers of points that choices were found on are *fitted to print*; others judge the choices.",
        COURSES,
        describe_courses(tried),
        "[All pages](index.md)",
    )


def describe_points(records: list[JudgedRecord]) -> str:
    """A table: Test-ID and Test-OOD of each printed point that was run with the choice, at the paper's length."""
    full = select_full(records)
    rows = [
        [code(row.method), f"{row.tau_alpha:g}", f"{row.tau_beta:g}", "yes" if row.was_found_on else "no"]
        + [f"{100 * value:.1f}" for value in (row.id, row.printed_id, row.ood, row.printed_ood)]
        + [str(row.seeds)]
        for row in list_points(full, list_runs(full)).itertuples()
    ]
    columns = ["method", "tau_alpha", "tau_beta", "found on it", "Test-ID", "printed", "Test-OOD", "printed", "seeds"]
    return table(columns, rows)


def load_grid(number: int) -> pd.DataFrame:
    """A printed table as a grid: a row for each tau_alpha, a column for each tau_beta, shares."""
    printed = pd.read_csv(find_paper("domain_temperature") / "reported" / f"table_{number}.csv")
    settings = pd.DataFrame([parse_settings(text) for text in printed["setting"]])[["tau_alpha", "tau_beta"]]
    return printed.join(settings.astype(float)).pivot(index="tau_alpha", columns="tau_beta", values="mean")


def describe_boundary() -> str:
    """A table: for each method and tau_beta the smallest tau_alpha at chance."""
    grids = {method: load_grid(numbers[2]) for method, numbers in TABLES.items()}
    betas = next(iter(grids.values())).columns
    rows = [
        [code(method), *(f"{(grid[beta] < CHANCE).idxmax():g}" for beta in betas)] for method, grid in grids.items()
    ]
    return table(["method", *(f"tau_beta = {beta:g}" for beta in betas)], rows)


def describe_spreads() -> str:
    """A table: standard deviation over the cells at chance, beside that of two ways to guess, in points."""
    rows = []
    for method, numbers in TABLES.items():
        fallen = load_grid(numbers[2]) < CHANCE
        for number, (split, images) in zip(numbers, IMAGES.items(), strict=True):
            cells = load_grid(number).to_numpy()[fallen.to_numpy()]
            guesses = sqrt(0.25 / images / SEEDS)
            one_class = abs(THREES / (THREES + FIVES) - 0.5) / sqrt(SEEDS)
            spreads = (100 * spread for spread in (np.std(cells, ddof=1), guesses, one_class))
            rows.append([code(method), split, str(len(cells)), *(f"{spread:.1f}" for spread in spreads)])
    return table(["method", "accuracy", "cells", "deviation", "of guesses an image", "of one answer a seed"], rows)


def describe_lowest(trials: pd.DataFrame) -> str:
    """How near to print trials with and without pooling come, at each point that is printed at chance."""
    fallen = trials[trials["printed_test_id"] < 100 * CHANCE]
    pooled = fallen["choice"].str.contains("pooling")
    said = [
        f"At tau_alpha {alpha:g}, tau_beta {beta:g}, {point['printed_test_id'].iloc[0]:.1f} is printed, and the lowest "
        f"Test-ID of a trial {'with' if is_pooled else 'without'} pooling is {point['test_id'].min():.1f}."
        for (alpha, beta, is_pooled), point in fallen.groupby(["tau_alpha", "tau_beta", pooled])
    ]
    return " ".join(said)


def describe_courses(tried: pd.DataFrame) -> str:
    """A row for each trial with pooling: its Test-ID by epoch."""
    pooled = tried[tried["choice"].str.contains("pooling")]
    wide = pooled.pivot(index=["choice", "patch", "tau_alpha", "tau_beta", "seed"], columns="epochs", values="test_id")
    rows = [
        [
            code(choice),
            escape(patch),
            f"{alpha:g}, {beta:g}",
            *("" if pd.isna(value) else f"{value:.1f}" for value in values),
        ]
        for (choice, patch, alpha, beta, _), values in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return table(["choice", "patch", "tau_alpha, tau_beta", *map(str, wide.columns)], rows)


def describe_trials(trials: pd.DataFrame) -> str:
    """A row for each trial, by point; those nearest to the printed Test-ID first."""
    distance = (trials["test_id"] - trials["printed_test_id"]).abs()
    ordered = trials.assign(distance=distance).sort_values(["method", "tau_beta", "tau_alpha", "distance"])
    rows = [
        [
            code(row.method),
            f"{row.tau_alpha:g}, {row.tau_beta:g}",
            code(row.choice) or "as by default",
            escape(row.patch),
            str(row.epochs),
            f"{row.test_id:.1f} ({row.printed_test_id:.1f})",
            f"{row.validation:.1f} ({row.printed_validation:.1f})",
            str(row.test_id_raw),
            f"{row.domain_test_id:.1f}",
        ]
        for row in ordered.itertuples()
    ]
    titles = ["method", "tau_alpha, tau_beta", "choice", "patch", "epochs", "Test-ID (printed)"]
    return table([*titles, "validation (printed)", "raw", "D-Test-ID"], rows)
