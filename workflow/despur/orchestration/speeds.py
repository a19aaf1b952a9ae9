"""How fast training was where it was measured: by the records of results/ledger, else by the runs that
results/reference kept."""

import json
from functools import cache
from pathlib import Path
from statistics import median

from despur.orchestration.estimates import count_images_and_steps
from despur.orchestration.experiments import LEDGER, REFERENCE
from despur.specs.names import parse
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError
from despur.specs.spec import Spec


def find_encoder(spec: Spec) -> str:
    """The encoder whose representations a method writes: its own, else that of its stage-1 model, else ``mlp``."""
    return next((part.base_name for part in spec.walk(without=("groups",)) if part.kind == "encoders"), "mlp")


def find_network(spec: Spec) -> str:
    """What the steps of a method run: the encoder (fine-tuning goes on with that of stage 1), or a layer on
    representations."""
    return find_encoder(spec) if {"encoder", "augment"} & set(spec.components) else "mlp"


def find_speed(spec: Spec, dataset: str, device: str) -> float | None:
    """Planned images per second of a run on ``cpu`` or ``gpu``: by the records of this method and network on this data
    set, else by the runs of results/reference on any data set; None where there are neither."""
    own = load_ledger_speeds().get((dataset, device, name_network(spec), spec.base_name))
    return own or load_reference_speeds().get((device, find_network(spec), spec.base_name))


def name_network(spec: Spec) -> str:
    """What the steps of a method run, with the settings that are changed."""
    return spec.components["encoder"].name if "encoder" in spec.components else find_network(spec)


def name_device(device: str) -> str:
    """``cpu`` or ``gpu``, for the device that a run states."""
    return "cpu" if device == "cpu" else "gpu"


@cache
def load_ledger_speeds(ledger: Path = LEDGER) -> dict[tuple[str, str, str, str], float]:
    """Planned images per second by data set, device, network and method: medians over records, as machines had other
    work, too."""
    speeds: dict[tuple[str, str, str, str], list[float]] = {}
    for file in sorted(ledger.glob("*/*/s*.json")):
        try:
            key, speed = read_record_speed(file)
        except (SettingError, ValueError, KeyError, TypeError, ZeroDivisionError):
            continue  # of a version that called it otherwise, or broken: `despur ledger check` names it
        speeds.setdefault(key, []).append(speed)
    return {key: median(values) for key, values in speeds.items()}


def read_record_speed(file: Path) -> tuple[tuple[str, str, str, str], float]:
    """Data set, device, network and method of a record, and the images per second that it was planned to train: what a
    sampler adds (JTT) or leaves out, which is known after stage 1 alone, is in its seconds."""
    content = json.loads(file.read_text())
    dataset, run = content["dataset"], content["run"]
    spec = locate_result(f"results/runs/{dataset}/{content['method']}/s0").sweep.points[0]
    key = parse(dataset)[0], name_device(content["machine"]["device"]), name_network(spec), spec.base_name
    return key, count_images_and_steps(spec, key[0])[0] / run["seconds"]


@cache
def load_reference_speeds(reference: Path = REFERENCE) -> dict[tuple[str, str, str], float]:
    """Planned images per second of one process by device (``cpu``, ``gpu``), encoder and method, from the runs that
    were kept."""
    total: dict[tuple[str, str, str], list[float]] = {}
    for file in sorted(reference.glob("*/*/provenance.json")):
        for folder, about in json.loads(file.read_text())["runs"].items():
            try:
                runs, measured = locate_result(folder).runs(), about.get("runs", {})
            except SettingError:  # of a version that called it otherwise
                continue
            for run in (run for run in runs if run.key in measured):
                key = name_device(about["device"]), find_network(run.spec), run.spec.base_name
                sums = total.setdefault(key, [0.0, 0.0])
                sums[0] += count_images_and_steps(run.spec, parse(run.data.name)[0])[0] / about.get("processes", 1)
                sums[1] += measured[run.key]["seconds"]
    return {key: images / seconds for key, (images, seconds) in total.items() if seconds}
