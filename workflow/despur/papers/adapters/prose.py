"""The numbers that the paper states in sentences: gains, gaps, shares of trained parameters, the Lipschitz constant.

Columns of reported/prose.csv say what each number is: ``quantity``, of ``method`` on ``dataset`` (both may stand for
several: EVERYWHERE, METHODS); with a ``baseline``, by how much it is ``higher`` or ``lower`` than the baseline's on the
same foundation model (of several baselines, than the highest); with ``reduce``, the smallest or largest of several."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.tables import COLUMNS
from despur.evidence.numbers.verdicts import judge_count, judge_values, last_digit
from despur.evidence.runs.run_files import NotRun
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters import method_names
from despur.papers.adapters.counted_numbers import (
    bound_lipschitz_constant,
    measure_foundation_model_shares,
    measure_smallest_group,
)
from despur.papers.adapters.measured_numbers import Measured
from despur.papers.adapters.merged_tables import load_runs

FOUR = ("waterbirds", "celeba", "breeds_living17", "cifar10_02")
NINE = (*FOUR, "civilcomments", "amazon", "breeds_nonliving26", "breeds_entity13", "breeds_entity30")  # assumed: README
EVERYWHERE = {"all": NINE, "all_9": NINE, "representative_4": FOUR, "mean_of_4": FOUR}
BASELINES = {
    "best_single_component": ("adapter_hard_sampling_only", "adapter_contrastive_only"),
    "worst_prior_method": ("jtt",),
    "next_best": ("zero_shot", "group_prompt", "linear_probe", "adapter", "wise_ft", "dfr_subsample", "dfr_upsample"),
}
METHODS = {"linear_probe_or_adapter": ("linear_probe", "adapter")}
# a number with none of them is of CLIP RN-50, as its arithmetic in Tables 1, 3 and 6 is
RANGES = {"bound", "models", "n_train", "backbone"}
COUNTED = ("trained_params_share", "foundation_model_share", "smallest_group_share")
REPORTED_SEEDS = 1  # not stated


def find_settings(number: Any) -> dict[str, str]:
    """The settings of a printed number; where it names no model and no range, CLIP RN-50's."""
    settings = parse_settings(number.setting)
    if not RANGES & set(settings):
        settings["backbone"] = method_names.LARGER
    return settings


def format_setting(number: Any) -> str:
    """The settings of a printed number with its baseline, ``backbone=clip_rn50;baseline=zero_shot``."""
    items = [*filter(None, number.setting.split(";")), *([f"baseline={number.baseline}"] if number.baseline else [])]
    return ";".join(sorted(items))


def match_model(bases: "Mapping[str, pd.Series[float]]", model: str) -> "pd.Series[float]":
    """A baseline on the same foundation model, or the only value where either side has no foundation model."""
    if method_names.FULL in (model, *bases) and len(bases) == 1:
        return next(iter(bases.values()))
    if model not in bases:
        raise NotRun(f"the baseline was not run on {model}")
    return bases[model]


def list_values(number: Any, measured: Measured, datasets: Sequence[str]) -> "list[pd.Series[float]]":
    """The values by seed that a number is taken from: of each model and method on these data sets."""
    settings = find_settings(number)
    names = list_baselines(number, measured, datasets)
    bases = [measured.average(datasets, name, number.quantity, settings) for name in names]
    found = []
    for method in METHODS.get(number.method, (number.method,)):
        for model, own in measured.average(datasets, method, number.quantity, settings).items():
            if bases:
                best = max((match_model(base, model) for base in bases), key=lambda base: base.mean())
                own = (own - best).dropna() * {"higher": 1, "lower": -1}[number.direction]
            found.append(own)
    return found


def list_baselines(number: Any, measured: Measured, datasets: Sequence[str]) -> tuple[str, ...]:
    """The baselines of a number that were run on all these data sets (not all have group prompts); if none was, all."""
    if not number.baseline:
        return ()
    names = BASELINES.get(number.baseline, (number.baseline,))
    return tuple(name for name in names if measured.list_datasets(datasets, [name]) == list(datasets)) or names


def select_value(values: "Sequence[pd.Series[float]]", reduce: str) -> "pd.Series[float]":
    """The value with the smallest or largest mean; without ``reduce``, the only one."""
    if not reduce and len(values) > 1:
        raise NotRun("several foundation models fit the number")
    return (min if reduce == "min" else max)(values, key=lambda value: value.mean())


def measure(number: Any, artifact_runs: Sequence[ArtifactRun], measured: Measured) -> tuple[Any, dict[str, str], str]:
    """Our number by seed, verdict and reason where it is not compared, and a remark. Raises NotRun."""
    substitutes = any(run.substitute for run in artifact_runs if number.dataset in (run.paper_dataset, "all"))
    refused: dict[str, str] = {"verdict": NumberVerdict.SUBSTITUTE} if substitutes else {}
    if number.quantity == "lipschitz_constant":
        low, high = bound_lipschitz_constant(artifact_runs)
        remark = f"product bound; the sampled lower bound is {low:.3g}"
        return pd.Series([high]), refused or explain("another estimate"), remark
    if number.quantity == "smallest_group_share":
        return pd.Series([measure_smallest_group(artifact_runs, number.dataset)]), refused, ""
    return measure_over_datasets(number, artifact_runs, measured, refused)


def measure_over_datasets(
    number: Any, artifact_runs: Sequence[ArtifactRun], measured: Measured, refused: dict[str, str]
) -> tuple[Any, dict[str, str], str]:
    """The same for a number that may be of several data sets, methods or foundation models."""
    known = EVERYWHERE.get(number.dataset, [number.dataset])
    methods = METHODS.get(number.method, [number.method])
    datasets = measured.list_datasets(known, methods)
    if not datasets:
        raise NotRun(f"{number.method} on {number.dataset} was not run")
    remark = f"over {', '.join(datasets)}" if number.dataset in EVERYWHERE else ""
    partly = explain("not all of its data sets were run") if len(datasets) < len(known) else {}
    if number.quantity == "foundation_model_share":
        shares = [pd.Series([share]) for share in measure_foundation_model_shares(artifact_runs)]
        return select_value(shares, number.reduce), refused or partly, remark
    parts = [datasets] if number.dataset == "mean_of_4" else [[name] for name in datasets]
    values = [value for part in parts for value in list_values(number, measured, part)]
    used = pd.concat([select_used(number, measured, part) for part in parts])
    return select_value(values, number.reduce), measured.refuse(used, number.setting) or partly, remark


def select_used(number: Any, measured: Measured, datasets: Sequence[str]) -> pd.DataFrame:
    """The rows that a number is taken from: of its methods and baselines on these data sets."""
    methods = (*METHODS.get(number.method, (number.method,)), *list_baselines(number, measured, datasets))
    settings = find_settings(number)
    return pd.concat(
        measured.select([name], method, number.quantity, settings) for name in datasets for method in methods
    )


def explain(reason: str) -> dict[str, str]:
    """Verdict and reason of a number that is not compared."""
    return {"verdict": NumberVerdict.NOT_COMPARED, "reason": reason}


def judge(number: Any, values: "pd.Series[float]", refused: dict[str, str], rounding: float) -> dict[str, Any]:
    """Our mean and deviation over seeds, and the verdict: test splits are the paper's own, so that seeds alone vary."""
    row = {"ours": values.mean(), "ours_std": values.std(), "seeds": len(values)}
    row["by_seed"] = " ".join(f"{value:.10g}" for value in values)
    if refused:
        return row | refused
    if number.quantity in COUNTED:
        return row | judge_count(row["ours"], number.mean, rounding)
    return row | judge_values(values.to_numpy(float), number.mean, None, REPORTED_SEEDS, 0.0, rounding)


def judge_sentences(printed: pd.DataFrame, artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """A row for each printed number: ours, its verdict, and the reason where there is none."""
    metrics = load_runs(artifact_runs, resampled=False)[0]
    measured = Measured(metrics) if len(metrics) else None
    printed = printed.fillna({"setting": "", "baseline": "", "direction": "", "reduce": ""})
    rounding = {metric: last_digit(part["mean"]) for metric, part in printed.groupby("metric")}
    rows = []
    for number in printed.itertuples():
        row: dict[str, Any] = {key: getattr(number, key) for key in ("method", "metric", "note")}
        row["setting"] = format_setting(number)
        row |= {"paper_dataset": number.dataset, "reported": number.mean, "reported_std": number.std}
        row |= {"seeds": 0, "verdict": NumberVerdict.NOT_RUN, "reason": "nothing was run"}
        try:
            if measured is not None:
                values, refused, remark = measure(number, artifact_runs, measured)
                row |= {"reason": remark} | judge(number, values, refused, rounding[number.metric])
        except NotRun as reason:
            row["reason"] = str(reason)
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)
