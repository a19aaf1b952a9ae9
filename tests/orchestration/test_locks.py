import errno
import fcntl
import platform

import pytest
from project import Project

from despur.orchestration.locks import clear_stale_locks


def held(folder):
    (folder / "locks").mkdir(parents=True, exist_ok=True)
    lock = folder / "locks" / "0.input.lock"
    lock.touch()
    return lock


def test_locks_of_a_dead_snakemake_are_removed(tmp_path):
    lock = held(tmp_path / ".snakemake")
    with clear_stale_locks(tmp_path / ".snakemake"):
        assert not lock.exists()


def test_locks_of_a_live_snakemake_stay_also_when_a_third_one_comes(tmp_path):
    with clear_stale_locks(tmp_path / ".snakemake"):
        lock = held(tmp_path / ".snakemake")
        for _ in range(2):
            with clear_stale_locks(tmp_path / ".snakemake"):
                assert lock.exists()
    clear_stale_locks(tmp_path / ".snakemake").close()
    assert not lock.exists()


def test_without_locks_of_the_operating_system_those_of_snakemake_stay(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    lock = held(tmp_path / ".snakemake")
    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert clear_stale_locks(tmp_path / ".snakemake") is None and lock.exists()


def test_where_nothing_can_be_written_snakemake_says_so_in_one_line(tmp_path):
    project = Project.fresh(tmp_path / "project")
    (project.root / ".snakemake").mkdir()
    (project.root / ".snakemake/alive").mkdir()
    code, text = project.call_snakemake("-n", "results/data/colored_digits/table.parquet")
    assert code == 1 and "Error: .snakemake/alive cannot be written, and nothing here is made: Is a directory" in text
    assert "Traceback" not in text and len(text.splitlines()) < 4


def test_locks_of_another_host_stay_where_those_of_the_operating_system_do_not_reach_it(tmp_path, monkeypatch, capsys):
    folder = tmp_path / ".snakemake"
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)  # every host believes to be alone
    monkeypatch.setattr(platform, "node", lambda: "login1")
    clear_stale_locks(folder).close()
    lock = held(folder)
    monkeypatch.setattr(platform, "node", lambda: "login2")
    for _ in range(2):
        clear_stale_locks(folder).close()
        text = capsys.readouterr().err
        assert lock.exists() and "Snakemake on login1, and stay" in text and "--unlock" in text
    monkeypatch.setattr(platform, "node", lambda: "login1")
    clear_stale_locks(folder).close()
    assert lock.exists() and "Snakemake on login2" in capsys.readouterr().err

    lock.unlink()  # snakemake --unlock
    clear_stale_locks(folder).close()
    held(folder)
    clear_stale_locks(folder).close()
    assert not lock.exists() and not capsys.readouterr().err


@pytest.mark.parametrize(("mode", "stays"), [("remote", True), ("default", False)])
def test_the_jobs_of_a_cluster_leave_the_locks_of_their_snakemake_alone(tmp_path, mode, stays):
    project = Project.fresh(tmp_path / "project")
    lock = held(project.root / ".snakemake")
    code, text = project.call_snakemake("-n", "--mode", mode, "results/data/colored_digits/table.parquet")
    assert (code, lock.exists()) == (0, stays), text
