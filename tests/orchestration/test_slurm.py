"""Partitions that a cluster does not have are refused; a made-up sinfo."""

import pytest
from project import pretend

from despur.orchestration import slurm
from despur.specs.settings import SettingError


@pytest.mark.parametrize("known", ["batch", "batch,gpu-long", '"gpu-long"', "'batch' if attempt < 3 else 'nowhere'"])
def test_partitions_that_are_there_and_expressions_pass(tmp_path, monkeypatch, known):
    monkeypatch.setenv("PATH", pretend(tmp_path, "sinfo", "batch", "gpu-long", "batch"))
    slurm.check_partitions([known])


@pytest.mark.parametrize("unknown", ["gpu", "batch,gpu", '"gpu"'])
def test_a_partition_that_is_not_there_is_named_with_those_that_are(tmp_path, monkeypatch, unknown):
    monkeypatch.setenv("PATH", pretend(tmp_path, "sinfo", "long", "batch"))
    with pytest.raises(
        SettingError, match=r"no partition gpu \(sinfo lists: batch, long\): edit .* in profiles/slurm/profile.yaml"
    ):
        slurm.check_partitions(["batch", unknown])


def test_without_an_answer_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", pretend(tmp_path, "sinfo"))
    (tmp_path / "sinfo").write_text("#!/bin/sh\nexit 1\n")
    slurm.check_partitions(["gpu"])
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    slurm.check_partitions(["gpu"])
