"""What a job needs: seconds, memory, disk, GPUs. Facts and guesses are in workflow/resources.yaml, measured speeds
in results/ledger and results/reference.

No result depends on them: a job that runs out of memory or minutes is tried again with more, from its checkpoint."""

import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from despur.metrics import RESAMPLES
from despur.orchestration.estimates import count_images_and_steps, find_estimate, load_estimates
from despur.orchestration.speeds import find_encoder, find_network, find_speed
from despur.specs.hyperparameters import RULES
from despur.specs.names import parse
from despur.specs.paths import ResultPath
from despur.specs.spec import Spec
from despur.specs.stages import STAGES
from despur.specs.yaml_files import load_file

PROFILE = Path(__file__).parents[3] / "profiles/slurm/profile.yaml"


def uses_gpu(spec: Spec) -> bool:
    """Whether a method takes gradient steps or applies an encoder: what is fitted in closed form needs no GPU."""
    return "learning_rate" in spec.settings or "encoder" in spec.components


def estimate_training_seconds(spec: Spec, dataset: str, device: str) -> tuple[float, bool]:
    """Seconds of a run's steps, and whether its speed was measured."""
    if not uses_gpu(spec):
        return 0.0, True
    images, steps = count_images_and_steps(spec, dataset)
    if measured := find_speed(spec, dataset, device):
        return images / measured, True
    speed = find_estimate("encoders", find_network(spec))[device]
    return max(images / speed, steps * load_estimates()["step"][device]), False


def estimate_hours(results: Iterable[ResultPath], device: str = "gpu") -> float:
    """Hours that these jobs take at most, one after the other; the same in whichever order sets give them."""
    return math.fsum(estimate_seconds(result, device)[0] for result in results) / 3600


@cache
def estimate_seconds(result: ResultPath, device: str = "gpu") -> tuple[float, bool]:
    """Seconds that a job takes at most, and whether the speed of its training steps was measured."""
    name, stage = parse(result.dataset)[0], load_estimates()["stages"][result.stage]
    seconds_of_run = stage["per_thousand"] * find_estimate("datasets", name)["samples"] / 1000
    if not STAGES[result.stage].trains:
        return stage["start"] + count_runs(result) * seconds_of_run, True
    estimates = [estimate_training_seconds(point, name, device) for point in result.sweep.points]
    repeats, measured = count_runs(result) / len(estimates), all(is_measured for _, is_measured in estimates)
    return stage["start"] + count_runs(result) * seconds_of_run + repeats * sum(s for s, _ in estimates), measured


@cache
def count_runs(result: ResultPath) -> int:
    """How many runs a job has; for data, how many draws."""
    return len(result.datasets.points) if result.stage == "data" else len(result.runs())


@cache
def estimate_megabytes(result: ResultPath) -> float:
    """What a job writes under results/, in MB: arrays; weights (float32) and representations (float16) for two
    selection rules."""
    data = find_estimate("datasets", parse(result.dataset)[0])
    if result.stage == "data":
        return data["mb"] * len(result.datasets.points)
    if not STAGES[result.stage].trains:
        return 0.0
    size = find_estimate("encoders", find_encoder(result.sweep.points[0]))
    kept = 2 + max(
        (p.settings["epochs"] // interval if (interval := p.settings.get("snapshots", 0)) else 0)
        + (len(RULES) if p.settings.get("selections") == "rules" else 0)
        for p in result.sweep.points
    )
    return count_runs(result) * kept * (4 * size["parameters"] + 2 * size["dim"] * data["samples"] / 1e6)


def estimate_memory_of_arrays(result: ResultPath) -> float:
    """MB of arrays that a job holds: its data, which stay on disk where they are large, and what it writes. An
    evaluation reads no inputs, but a run's representations, as float16, and in float32 with two copies, and it makes
    bootstrap weights of its samples (float64)."""
    data = find_estimate("datasets", parse(result.dataset)[0])
    if result.stage == "evaluate":
        dim = max(find_estimate("encoders", find_encoder(point))["dim"] for point in result.sweep.points)
        return data["samples"] * ((2 + 3 * 4) * dim + 8 * RESAMPLES) / 1e6
    return min(data["mb"], 16_000) + (estimate_megabytes(result) if STAGES[result.stage].trains else 0)


def count_processes(result: ResultPath) -> int:
    """GPUs that a stage-1 job shares its batches out to: what the table says, where all its methods can, evenly."""
    if result.stage != "stage1":
        return 1
    per_method, points = load_estimates()["processes"], result.sweep.points
    count = min(per_method["gpus"].get(parse(result.dataset)[0], {}).get(find_encoder(p), 1) for p in points)
    can = all(p.base_name in per_method["methods"] and p.settings["batch_size"] % count == 0 for p in points)
    return count if can else 1


def estimate_elapsed_seconds(result: ResultPath, device: str = "gpu") -> float:
    """Seconds until a job is done that has all the GPUs that it shares its batches out to."""
    return estimate_seconds(result, device)[0] / (count_processes(result) if device == "gpu" else 1)


def load_retries() -> int:
    """How often profiles/slurm tries a job again."""
    return load_file(PROFILE).get("retries", 0)


@cache
def estimate_resources(result: ResultPath, attempt: int = 1, gpus: float = math.inf) -> dict[str, int]:
    """What a job requests where there are ``gpus`` GPUs: none, one, or all that share its batches. Each attempt
    requests more than the one before."""
    gpu = gpus > 0 and STAGES[result.stage].trains and any(map(uses_gpu, result.sweep.points))
    shared = count_processes(result) if count_processes(result) <= gpus else 1
    has_encoder = STAGES[result.stage].trains or result.stage == "saliency"
    encoder = find_estimate("encoders", find_encoder(result.sweep.points[0])) if has_encoder else {}
    memory = (load_estimates()["memory_mb"] + encoder.get("mb", 0)) * shared + estimate_memory_of_arrays(result)
    expected = estimate_seconds(result, "gpu" if gpus else "cpu")[0] / shared
    minutes = math.ceil(max(10.0, expected * load_estimates()["margin"] / 60)) * attempt
    return {
        "gpu": int(gpu) * shared,
        "mem_mb": math.ceil(memory * min(attempt, load_estimates()["grows"]) / 100) * 100,
        "runtime": min(minutes, load_estimates()["longest"]),
        "cpus_per_task": int(encoder.get("cpus", 1)) * shared if gpu else 1,
    }
