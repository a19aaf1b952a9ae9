"""Partitions that a cluster does not have are refused; a made-up sinfo. And all of SLURM can be hidden."""

import os
import shutil
import subprocess

import pytest
from project import SOURCE, pretend

from despur.orchestration import slurm


@pytest.mark.parametrize("known", ["batch", "batch,gpu-long", '"gpu-long"', "'batch' if attempt < 3 else 'nowhere'"])
def test_partitions_that_are_there_and_expressions_pass(tmp_path, monkeypatch, known):
    monkeypatch.setenv("PATH", pretend(tmp_path, "sinfo", "batch", "gpu-long", "batch"))
    slurm.check_partitions([known])


@pytest.mark.parametrize("unknown", ["gpu", "batch,gpu", '"gpu"'])
def test_a_partition_that_is_not_there_is_named_with_those_that_are(tmp_path, monkeypatch, unknown):
    monkeypatch.setenv("PATH", pretend(tmp_path, "sinfo", "long", "batch"))
    with pytest.raises(
        slurm.SlurmError, match=r"no partition gpu \(sinfo lists: batch, long\): edit .* in profiles/slurm/profile.yaml"
    ):
        slurm.check_partitions(["batch", unknown])


def test_without_an_answer_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", pretend(tmp_path, "sinfo"))
    (tmp_path / "sinfo").write_text("#!/bin/sh\nexit 1\n")
    slurm.check_partitions(["gpu"])
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    slurm.check_partitions(["gpu"])


def test_only_commands_of_slurm_are_hidden(tmp_path):
    here, links = tmp_path / "here", tmp_path / "links"
    here.mkdir()
    for name in ("sbatch", "slurmctld", "sort-of-nobody", "my-squeue"):
        path = pretend(here, name, name)
    environment = {**os.environ, "PATH": f"{path}{os.pathsep}/nowhere"}
    found = subprocess.run(
        [SOURCE / "tests/slurm/hide.sh", links], env=environment, capture_output=True, text=True, check=True
    )
    hidden = found.stdout.strip()
    assert shutil.which("sbatch", path=path) and not any(
        shutil.which(name, path=hidden) for name in ("sbatch", "squeue", "slurmctld")
    )
    assert subprocess.check_output([shutil.which("my-squeue", path=hidden)], text=True) == "my-squeue\n"
    assert shutil.which("sort-of-nobody", path=hidden) == str(links / "0/sort-of-nobody")
    assert hidden.endswith(f"{os.pathsep}/nowhere")
