"""Slots on GPUs: no overlap, whatever is killed; made-up devices, real processes and locks."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from project import pretend

from despur.orchestration import gpu_slots
from despur.specs.settings import SettingError

FORK = multiprocessing.get_context("fork")


def write(log, *words):
    """A line of a file that several processes append to."""
    with log.open("a") as file:
        file.write(" ".join(map(str, (time.monotonic_ns(), os.getpid(), *words))) + "\n")


def work(seed, rounds, names, jobs_per_gpu, count, folder, log, barrier):
    """Take and free slots, again and again, holding them for up to a millisecond; the first ones until as many
    processes as the barrier waits for hold theirs."""
    gpu_slots.WAIT = 0.001
    rng = random.Random(seed)
    for each in range(rounds):
        taken = gpu_slots.take_slots(names, count, jobs_per_gpu, folder)
        for name in taken:
            write(log, name, 1)
        if each == 0 and seed < barrier.parties:
            barrier.wait()
        time.sleep(rng.random() / 1000)
        for name in taken:
            write(log, name, -1)
        for handle in taken.values():
            handle.close()


def crowd(tmp_path, processes, rounds, names, jobs_per_gpu, count):
    """Start that many processes that each take ``count`` slots ``rounds`` times, and at first all that there are."""
    log = tmp_path / "log"
    barrier = FORK.Barrier(min(processes, len(names) * jobs_per_gpu // count))
    asked = (rounds, names, jobs_per_gpu, count, tmp_path, log, barrier)
    workers = [FORK.Process(target=work, args=(seed, *asked)) for seed in range(processes)]
    for worker in workers:
        worker.start()
    return workers, log


def overlaps(log, killed=()):
    """How many processes held each device at most, and how often any took one; who was killed held its own until
    then."""
    lines = [
        (int(when), int(pid), name, int(change))
        for when, pid, name, change in map(str.split, log.read_text().splitlines())
    ]
    held = Counter((pid, name) for _, pid, name, change in lines for _ in range(change == 1))
    freed = Counter((pid, name) for _, pid, name, change in lines for _ in range(change == -1))
    lines += [(when, pid, name, -1) for when, pid in killed for name in {n for p, n in held - freed if p == pid}]
    now, most = Counter(), Counter()
    for _, _, name, change in sorted(lines):
        now[name] += change
        most[name] = max(most[name], now[name])
    assert set(now.values()) == {0}
    return most, sum(held.values())


@pytest.mark.parametrize(("jobs_per_gpu", "count"), [(1, 1), (3, 1), (1, 2)])
def test_no_overlap_in_a_thousand_acquisitions(tmp_path, jobs_per_gpu, count):
    names = ["0", "1", "GPU-2"]
    workers, log = crowd(tmp_path, 8, 125 // count, names, jobs_per_gpu, count)
    for worker in workers:
        worker.join()
    most, taken = overlaps(log)
    assert all(worker.exitcode == 0 for worker in workers)
    assert taken == 8 * (125 // count) * count
    assert set(most) <= set(names) and len(most) >= len(names) // count * count
    assert max(most.values()) <= jobs_per_gpu and (jobs_per_gpu == 1 or max(most.values()) > 1)


def wait_until_at_work(worker, log):
    """Until a process has taken slots ten times."""
    own = f" {worker.pid} "
    while not log.exists() or sum(own in line and line.endswith(" 1") for line in log.read_text().splitlines()) < 10:
        assert worker.is_alive()
        time.sleep(0.01)


def test_slots_of_killed_holders_are_free_again_and_never_shared_before(tmp_path):
    workers, log = crowd(tmp_path, 8, 10**9, ["0", "1"], 1, 1)
    killed = []
    for worker in workers:
        wait_until_at_work(worker, log)
        when = time.monotonic_ns()
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        killed.append((when, worker.pid))
    most, _ = overlaps(log, killed)
    assert most == {"0": 1, "1": 1}
    assert len(gpu_slots.take_slots(["0", "1"], 2, 1, tmp_path)) == 2


def test_an_idle_device_is_taken_before_a_second_slot_of_another(tmp_path):
    held = [gpu_slots.take_slots(["0", "1"], 1, 2, tmp_path) for _ in range(4)]
    assert [next(iter(taken)) for taken in held] == ["0", "1", "0", "1"]


def test_the_emptiest_device_is_taken_whichever_of_its_slots_are_held(tmp_path):
    held = [gpu_slots.take_slots(["0", "1"], 1, 2, tmp_path) for _ in range(4)]
    for first in (held[0], held[1], held[3]):
        for handle in first.values():
            handle.close()
    assert list(gpu_slots.take_slots(["0", "1"], 1, 2, tmp_path)) == ["1"]  # of 0, the second slot is held
    assert list(gpu_slots.take_slots(["0", "1", "2"], 2, 2, tmp_path)) == ["1", "2"]


# the command line


def nvidia_smi(folder, *names):
    """PATH with a made-up nvidia-smi that lists these GPUs."""
    return pretend(folder, "nvidia-smi", *(f"GPU {i}: NVIDIA H200 (UUID: {name})" for i, name in enumerate(names)))


def launch(folder, *arguments, visible="0,1", listed=(), **keywords):
    """Start ``python -m despur.orchestration.gpu_slots ARGUMENTS`` with its locks in a folder, on a machine whose
    nvidia-smi lists these GPUs."""
    environment = {
        **os.environ,
        "TMPDIR": str(folder),
        "PATH": nvidia_smi(folder, *listed),
        "CUDA_VISIBLE_DEVICES": visible,
    }
    if visible is None:
        del environment["CUDA_VISIBLE_DEVICES"]
    command = [sys.executable, "-m", "despur.orchestration.gpu_slots", *arguments]
    return subprocess.Popen(
        command,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **keywords,
    )


SHOW = (
    sys.executable,
    "-c",
    "import os, sys; print(os.environ['CUDA_VISIBLE_DEVICES'], *sys.argv[1:], flush=True); sys.stdin.read()",
)
ONE = ("--gpus", "1", "--jobs-per-gpu", "1", *SHOW)


def test_a_command_has_a_device_of_its_own_as_long_as_it_lives(tmp_path):
    first, second = launch(tmp_path, *ONE), launch(tmp_path, *ONE)
    lines = [process.stdout.readline() for process in (first, second)]
    assert sorted(lines) == ["0 --device cuda\n", "1 --device cuda\n"]
    third = launch(tmp_path, *ONE)
    assert "waits for 1 of 2 GPUs" in third.stderr.readline()
    first.kill()  # -9
    assert third.stdout.readline() == lines[0]
    for process in (first, second, third):
        process.communicate("")


def test_a_command_that_waits_for_a_device_is_stopped_by_ctrl_c_in_one_line(tmp_path):
    def hear():  # also where the shell that started the tests ignores Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)

    first = launch(tmp_path, *ONE, visible="0")
    first.stdout.readline()
    second = launch(tmp_path, *ONE, visible="0", preexec_fn=hear)
    assert "waits for 1 of 1 GPUs" in second.stderr.readline()
    second.send_signal(signal.SIGINT)
    assert second.communicate("")[1] == "stopped while it waited for a GPU\n" and second.returncode == 1
    first.communicate("")


def test_a_command_on_several_devices_runs_once_for_each(tmp_path):
    # Each writes to a file of its own: lines that two processes print at once can mix.
    (tmp_path / "shown.py").write_text(
        "import os, sys\n"
        "words = os.environ['LOCAL_RANK'], os.environ['WORLD_SIZE'], os.environ['CUDA_VISIBLE_DEVICES'], "
        "*sys.argv[1:]\n"
        "open(words[0] + '.txt', 'w').write(' '.join(words))"
    )
    process = launch(
        tmp_path, "--gpus", "2", "--jobs-per-gpu", "1", sys.executable, "-m", "shown", "path", cwd=tmp_path
    )
    errors = process.communicate("")[1]
    shown = [path.read_text() for path in sorted(tmp_path.glob("*.txt"))]
    assert shown == ["0 2 0,1 path --device cuda", "1 2 0,1 path --device cuda"], errors


def test_where_gpus_are_shared_a_command_without_one_sees_none(tmp_path):
    assert launch(tmp_path, "--gpus", "0", "--jobs-per-gpu", "2", *SHOW).communicate("")[0] == "\n"


def test_where_they_are_not_shared_a_command_keeps_what_it_sees(tmp_path):
    assert launch(tmp_path, *SHOW).communicate("")[0] == "0,1\n"
    assert launch(tmp_path, "--gpus", "1", *SHOW, visible="3").communicate("")[0] == "3 --device cuda\n"


@pytest.mark.parametrize("visible", ["", "-1"])
def test_no_gpu_where_one_is_asked_for(tmp_path, visible):
    process = launch(tmp_path, *ONE, visible=visible)
    text = process.communicate("")[1]
    assert process.returncode == 1 and text.startswith("error: a GPU is requested") and "profiles/default" in text


def test_more_gpus_than_there_are(tmp_path):
    process = launch(tmp_path, "--gpus", "3", "--jobs-per-gpu", "2", *SHOW)
    assert "3 slots are requested, but 2 GPUs (0, 1)" in process.communicate("")[1]
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("slots", "jobs_per_gpu", "names", "fits"), [(4, 2, "ab", True), (5, 2, "ab", False), (1, 0, "a", False)]
)
def test_more_slots_than_devices_have_are_refused(slots, jobs_per_gpu, names, fits):
    if fits:
        gpu_slots.check_slots(slots, jobs_per_gpu, names)
    else:
        with pytest.raises(SettingError, match=f"{slots} slots"):
            gpu_slots.check_slots(slots, jobs_per_gpu, names)


@pytest.mark.parametrize(("asked", "jobs_per_gpu", "found"), [(None, 1, 4), (None, 3, 12), (2, 3, 2), (0, 1, 0)])
def test_all_devices_are_used_unless_fewer_are_asked_for(asked, jobs_per_gpu, found):
    assert gpu_slots.count_slots(asked, jobs_per_gpu, "abcd") == found


def test_without_devices_there_are_no_slots():
    with pytest.raises(SettingError, match="this machine shows none"):
        gpu_slots.count_slots(None, 1, [])


def test_the_devices_of_a_machine_are_those_that_nvidia_smi_lists(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", nvidia_smi(tmp_path, "GPU-aa-01", "GPU-bb-02"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert gpu_slots.list_visible_gpus() == ["GPU-aa-01", "GPU-bb-02"]
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert gpu_slots.list_visible_gpus() == []


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("1, 0", ["GPU-bb-02", "GPU-aa-01"]),
        ("GPU-bb", ["GPU-bb-02"]),
        ("0,7,MIG-cc", ["GPU-aa-01", "7", "MIG-cc"]),
        ("-1", []),
    ],
)
def test_devices_that_are_named_otherwise_have_their_lasting_names(tmp_path, monkeypatch, names, found):
    monkeypatch.setenv("PATH", nvidia_smi(tmp_path, "GPU-aa-01", "GPU-bb-02"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", names)
    assert gpu_slots.list_visible_gpus() == found
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert gpu_slots.list_visible_gpus() == [name.strip() for name in names.split(",") if name != "-1"]


def test_a_device_that_is_named_otherwise_is_not_taken_twice(tmp_path):
    listed = ("GPU-aa-01",)
    first = launch(tmp_path, *ONE, visible="0", listed=listed)
    assert first.stdout.readline() == "GPU-aa-01 --device cuda\n"
    second = launch(tmp_path, *ONE, visible=None, listed=listed)
    assert "waits for 1 of 1 GPUs" in second.stderr.readline()
    for process in (first, second):
        process.communicate("")
