import json
import platform
import re
import resource
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from despur.specs.paths import locate_result
from despur.specs.settings import SettingError
from despur.storage import commits
from despur.storage.digest import cache_key
from despur.storage.provenance import list_versions, peak_memory_mb, run_from_command_line, write_about
from despur.storage.store import InputError
from despur.training.progress import TrainingError

STATUS = Path("/proc/self/status")


def call(monkeypatch, work, *words):
    monkeypatch.setattr("sys.argv", ["stage", *words])
    run_from_command_line("doc", work, ("--size", {"type": int, "default": 3}))


def test_a_stage_is_given_its_place_and_options(monkeypatch):
    given = []
    call(
        monkeypatch,
        lambda result, arguments: given.append((result, arguments.size)),
        "results/runs/cmnist/erm/s0/metrics.csv",
        "--size",
        "5",
    )
    assert given == [(locate_result("results/runs/cmnist/erm/s0"), 5)]


def test_a_path_that_asks_for_nothing_is_one_clear_line(monkeypatch):
    with pytest.raises(SystemExit) as error:
        call(monkeypatch, lambda result, arguments: None, "results/runs/cmnist")
    assert error.value.code.startswith("error: results/runs/cmnist: ")


@pytest.mark.parametrize(
    "problem",
    [
        InputError("mnist.gz: wrong checksum"),
        SettingError("unknown method 'cnd'"),
        TrainingError("cmnist/erm/0: mean loss is nan"),
    ],
)
def test_bad_input_is_one_clear_line(monkeypatch, problem):
    def work(result, arguments):
        raise problem

    with pytest.raises(SystemExit) as error:
        call(monkeypatch, work, "results/runs/cmnist/erm/s0")
    assert error.value.code == f"error: {problem}"


def allocate_by_torch():
    import torch

    torch.empty(2**60, dtype=torch.uint8)


@pytest.mark.parametrize(
    ("fail", "told"),
    [
        (lambda: np.empty(2**60, np.uint8), "not enough memory (Unable to allocate"),
        (allocate_by_torch, "not enough memory ("),
    ],
)
def test_what_the_machine_does_not_give_is_one_clear_line(monkeypatch, fail, told):
    with pytest.raises(SystemExit) as error:
        call(monkeypatch, lambda result, arguments: fail(), "results/runs/cmnist/erm/s0")
    assert error.value.code.startswith(f"error: results/runs/cmnist/erm/s0: {told}")
    assert "\n" not in error.value.code


def test_too_many_open_files_are_one_clear_line(monkeypatch, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def work(result, arguments):
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        try:
            (tmp_path / "file").open("w")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    with pytest.raises(SystemExit, match=r"erm/s0: Too many open files\. Run it again where more may be open"):
        call(monkeypatch, work, "results/runs/cmnist/erm/s0")


@pytest.mark.parametrize(
    "mistake",
    [
        ZeroDivisionError(),
        RuntimeError("CUDA error: device-side assert triggered"),
        RuntimeError("CUDA error: no kernel image is available for execution on the device"),
        RuntimeError("cuDNN error: CUDNN_STATUS_BAD_PARAM"),
    ],
)
def test_a_mistake_in_the_code_is_not_hidden(monkeypatch, mistake):
    def work(result, arguments):
        raise mistake

    with pytest.raises(type(mistake)):
        call(monkeypatch, work, "results/runs/cmnist/erm/s0")


def test_next_to_a_result_lies_what_made_it(tmp_path, monkeypatch):
    result = locate_result(f"{tmp_path}/runs/cmnist/erm/s0-2")
    monkeypatch.setattr("time.perf_counter", lambda: 10.0)
    before = datetime.now(UTC).replace(microsecond=0)
    write_about(result, 8.5, device="cpu")
    about = json.loads((result.folder / "about.json").read_text())
    assert about["specification"] == json.loads(cache_key(result))
    assert about["versions"]["python"] == platform.python_version()
    assert {"torch", "numpy", "scikit-learn"} <= set(about["versions"])
    assert about["device"] == "cpu"
    assert about["seconds"] == 1.5
    assert {key: about[key] for key in ("commit", "clean")} == commits.state() and about["revisions"] == {}
    assert about["processor"] and before <= datetime.fromisoformat(about["finished"]) <= datetime.now(UTC)
    assert about["peak_memory_mb"] > 1


@pytest.mark.skipif(not STATUS.exists(), reason="no /proc here")
def test_peak_memory_is_what_the_kernel_says():
    (peak,) = re.findall(r"VmHWM:\s*(\d+) kB", STATUS.read_text())
    assert peak_memory_mb() == pytest.approx(int(peak) / 1024, rel=0.1)


def test_the_memory_of_a_gpu_is_kept_where_one_was_used(tmp_path, monkeypatch):
    cuda = SimpleNamespace(is_initialized=lambda: True, max_memory_allocated=lambda: 3 * 2**20)
    for name, torch, kept in (("gpu", SimpleNamespace(cuda=cuda), 3.0), ("none", None, None)):
        monkeypatch.setitem(sys.modules, "torch", torch)
        result = locate_result(f"{tmp_path}/{name}/runs/cmnist/erm/s0")
        write_about(result, time.perf_counter())
        assert json.loads((result.folder / "about.json").read_text()).get("gpu_memory_mb") == kept


def test_versions_are_those_installed():
    import numpy

    assert list_versions()["numpy"] == numpy.__version__
