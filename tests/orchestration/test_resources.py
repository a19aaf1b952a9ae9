"""What jobs request and what they cost: more where there is more to do, more at each attempt, measured speeds before
guesses."""

import itertools
import json
from functools import partial

import pytest
import yaml
from project import SOURCE

from despur.orchestration import estimates, resources, speeds
from despur.orchestration.jobs import find_result
from despur.specs.declarations import list_components
from despur.specs.paths import locate_result
from despur.training.inputs import load_method_class

PAPER_HYPERPARAMETERS = {"results/runs/waterbirds/erm/s0": (4_795 * 300, 4_795 * 300 / 128)}


def asked(path, attempt=1):
    return resources.estimate_resources(locate_result(f"results/{path}"), attempt)


@pytest.fixture
def reference(tmp_path, monkeypatch):
    """A folder for records, empty."""
    for name in ("load_reference_speeds", "load_ledger_speeds"):
        read = getattr(speeds, name).__wrapped__
        monkeypatch.setattr(speeds, name, partial(read, tmp_path))
    resources.estimate_seconds.cache_clear()
    yield tmp_path
    resources.estimate_seconds.cache_clear()


def record(folder, path, device, seconds, **facts):
    """What is kept of a run of seed 0."""
    (folder / "kept/toy").mkdir(parents=True, exist_ok=True)
    key = path.split("/", 2)[2]
    about = {"device": device, "runs": {key: {"seconds": seconds}}, **facts}
    (folder / "kept/toy/provenance.json").write_text(json.dumps({"runs": {path: about}}))


def test_every_named_data_set_and_encoder_exists():
    facts = yaml.safe_load(estimates.FACTS.read_text())
    for kind in ("datasets", "encoders"):
        assert set(facts[kind]) - {"*"} <= set(list_components(kind))


def test_only_what_takes_gradient_steps_asks_for_a_gpu():
    assert asked("runs/cmnist/cnc/s0-4")["gpu"] == asked("stage1/cmnist/erm/s0")["gpu"] == 1
    for path in ("data/cmnist", "groups/cmnist/clusters/s0", "runs/moji/inlp/s0-4", "runs/moji/leace/s0-4"):
        assert asked(path)["gpu"] == 0


def test_the_methods_that_share_their_batches_are_those_that_can():
    assert set(estimates.load_estimates()["processes"]["methods"]) == {
        name for name in list_components("methods") if load_method_class(name).PARALLEL
    }


@pytest.fixture
def without_limit(monkeypatch):
    """A cluster whose jobs may take as long as they like."""
    monkeypatch.setitem(estimates.load_estimates(), "longest", 1e9)
    resources.estimate_resources.cache_clear()
    yield
    resources.estimate_resources.cache_clear()


def test_a_job_asks_for_several_gpus_where_its_methods_share_and_the_machine_has_them(without_limit):
    shared, alone = asked("stage1/imagenet/simclr_msr/s0"), asked("stage1/imagenet/wmse/s0")
    assert (shared["gpu"], alone["gpu"]) == (8, 1) and shared["cpus_per_task"] == 8 * alone["cpus_per_task"]
    assert shared["mem_mb"] > alone["mem_mb"] + 7 * 2_500
    for path in (
        "stage1/cifar10/simclr/s0",
        "stage1/imagenet/simclr+batch_size=100/s0",
        "runs/imagenet/linear_classifier/s0",
    ):
        assert asked(path)["gpu"] == 1
    few, one = (
        resources.estimate_resources(locate_result("results/stage1/imagenet/simclr_msr/s0"), 1, gpus) for gpus in (7, 1)
    )
    assert few == one and one["gpu"] == 1 and one["runtime"] == pytest.approx(8 * shared["runtime"], rel=0.01)


def test_larger_data_networks_and_sweeps_ask_for_more():
    small, large = asked("runs/cmnist/erm/s0-4"), asked("runs/celeba/erm/s0")
    assert (
        large["mem_mb"] > 4 * small["mem_mb"]
        and large["runtime"] > small["runtime"]
        and large["cpus_per_task"] > small["cpus_per_task"]
    )
    point, sweep = (
        resources.estimate_seconds(locate_result(f"results/runs/cmnist/cnc{s}/s0"))[0]
        for s in ("", "+lambda=0.2~0.4~0.6~0.8")
    )
    assert sweep == pytest.approx(4 * point - 3 * 15)  # one start


def test_an_evaluation_asks_for_the_memory_of_a_runs_representations():
    """CelebA: 202,599 samples of 2,048 numbers, once in two and three times in four bytes, and 200 weights of eight."""
    celeba, cmnist = (
        resources.estimate_resources(find_result("evaluate", {"dataset": data, "method": "erm", "seeds": "0"}))
        for data in ("celeba", "cmnist")
    )
    assert celeba["mem_mb"] == pytest.approx(2_500 + 202_599 * (14 * 2_048 + 1_600) / 1e6, abs=100)
    assert cmnist["mem_mb"] < 3_000


def test_each_attempt_asks_for_more_memory_and_minutes():
    first, third = asked("runs/waterbirds/cnc/s0"), asked("runs/waterbirds/cnc/s0", 3)
    assert third["runtime"] == 3 * first["runtime"] and third["mem_mb"] >= 3 * first["mem_mb"] - 300
    assert third["gpu"] == first["gpu"]


def test_no_job_asks_for_more_minutes_than_a_partition_gives_however_often_it_is_tried():
    path, longest = "stage1/imagenet/simclr/s0", estimates.load_estimates()["longest"]
    assert [asked(path, attempt)["runtime"] for attempt in (1, 10)] == [longest] * 2
    assert asked(path, 10)["mem_mb"] == asked(path, 3)["mem_mb"]  # it is tried again for its minutes


def test_a_job_without_a_gpu_asks_for_the_minutes_of_a_cpu():
    result = locate_result("results/runs/cmnist/cnc/s0")
    gpu, cpu = resources.estimate_resources(result), resources.estimate_resources(result, 1, 0)
    assert (gpu["gpu"], cpu["gpu"]) == (1, 0)
    assert (
        cpu["runtime"] == pytest.approx(resources.estimate_seconds(result, "cpu")[0] * 3 / 60, abs=1)
        and cpu["runtime"] > gpu["runtime"]
    )


@pytest.mark.parametrize(("path", "expected"), PAPER_HYPERPARAMETERS.items())
def test_images_and_steps_of_a_run(path, expected):
    result = locate_result(path)
    assert estimates.count_images_and_steps(result.sweep.points[0], result.dataset) == expected


def test_the_images_of_cnc_are_those_that_were_counted_on_mnist():
    """results/ledger: every anchor of the smallest slice of a class, so a few less than the estimate."""
    record = next((SOURCE / "results/ledger/cmnist+colors=released/cnc").glob("s0-*.json"))
    counted = json.loads(record.read_text())["run"]["training_images"]
    images, steps = estimates.count_images_and_steps(
        locate_result("results/runs/cmnist/cnc/s0").sweep.points[0], "cmnist"
    )
    assert 0.9 < counted / images < 1
    assert steps == pytest.approx(4218, rel=0.1)


def test_a_measured_speed_comes_before_the_guess_on_its_device_only(reference):
    result = locate_result("results/runs/cmnist/erm/s0")
    guess, known = resources.estimate_seconds(result)
    assert not known
    record(reference, "results/runs/cmnist+colors=released/erm/s0", "NVIDIA H200", 48_000.0)  # 100 images a second
    resources.estimate_seconds.cache_clear()
    assert resources.estimate_seconds(result) == (pytest.approx(48_000 * 100 / 100 + 15 + 70 * 0.05), True)
    assert not resources.estimate_seconds(result, "cpu")[1]
    assert guess < resources.estimate_seconds(result)[0]


def test_the_speed_of_a_shared_run_is_that_of_each_of_its_gpus(reference):
    path = "results/stage1/imagenet/simclr/s0"
    record(reference, path, "NVIDIA H200", 10.0, processes=8)
    result = locate_result(path)
    images, _ = estimates.count_images_and_steps(result.sweep.points[0], "imagenet")
    assert list(speeds.load_reference_speeds().values()) == [pytest.approx(images / 8 / 10)]
    assert resources.estimate_elapsed_seconds(result) == resources.estimate_seconds(result)[0] / 8


def test_records_of_runs_that_are_called_otherwise_today_are_left_out(reference):
    record(reference, "results/runs/cmnist/erm+depth=3/s0", "cpu", 10.0)
    assert speeds.load_reference_speeds() == {}


def test_records_of_a_data_set_and_network_come_before_runs_of_another(reference):
    result = locate_result("results/runs/cmnist/erm/s0")
    record(reference, "results/runs/colored_digits/erm/s0", "cpu", 10.0)
    add_speed(reference, "erm", *(10.0, 2.0, 5.0))
    add_speed(reference, "erm+encoder.width=2", 0.1)
    (reference / "cmnist/erm/s9-ab.json").write_text("<<<<<<< HEAD")
    resources.estimate_seconds.cache_clear()
    assert resources.estimate_seconds(result, "cpu") == (pytest.approx(5 + 15 + 70 * 0.05), True)


def test_a_run_takes_as_long_as_others_whatever_their_sampler_added(reference):
    """JTT's epochs are longer than the training data; half of the epochs take half of the time."""
    add_speed(reference, "jtt", 600.0)
    half, _ = resources.estimate_seconds(locate_result("results/runs/cmnist+p_corr=0.9/jtt+epochs=50/s0"), "cpu")
    assert half == pytest.approx(300 + 15 + 70 * 0.05)


def add_speed(folder, method, *seconds):
    """Records of runs of a method on cmnist, which took so many seconds."""
    (folder / "cmnist" / method).mkdir(parents=True)
    for seed, each in enumerate(seconds):
        run = {"seconds": each}
        content = {"dataset": "cmnist", "method": method, "machine": {"device": "cpu"}, "run": run}
        (folder / "cmnist" / method / f"s{seed}-ab.json").write_text(json.dumps(content))


def test_a_run_writes_weights_and_representations_of_every_sample_twice():
    own = resources.estimate_megabytes(locate_result("results/runs/waterbirds/erm/s0"))
    assert own == pytest.approx(2 * (23.5 * 4 + 11_788 * 2_048 * 2 / 1e6))
    assert resources.estimate_megabytes(locate_result("results/runs/cmnist/erm+snapshots=20/s0-4")) == pytest.approx(
        5 * (2 + 5) * (0.1 * 4 + 70_000 * 84 * 2 / 1e6)
    )


def test_the_hours_of_a_set_do_not_depend_on_its_order(monkeypatch):
    seconds = {f"results/runs/cmnist/erm/s{seed}": (seed + 1) / 10 for seed in range(3)}  # .1 + .2 + .3 depends on it
    monkeypatch.setattr(resources, "estimate_seconds", lambda result, device: (seconds[str(result.folder)], True))
    every = itertools.permutations(map(locate_result, seconds))
    assert len({resources.estimate_hours(results, "cpu") for results in every}) == 1
