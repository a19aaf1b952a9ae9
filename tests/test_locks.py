from despur.locks import clear_stale


def held(folder):
    (folder / "locks").mkdir(parents=True, exist_ok=True)
    lock = folder / "locks" / "0.input.lock"
    lock.touch()
    return lock


def test_locks_of_a_dead_snakemake_are_removed(tmp_path):
    lock = held(tmp_path / ".snakemake")
    with clear_stale(tmp_path / ".snakemake"):
        assert not lock.exists()


def test_locks_of_a_live_snakemake_stay_also_when_a_third_one_comes(tmp_path):
    with clear_stale(tmp_path / ".snakemake"):
        lock = held(tmp_path / ".snakemake")
        for _ in range(2):
            with clear_stale(tmp_path / ".snakemake"):
                assert lock.exists()
    clear_stale(tmp_path / ".snakemake").close()
    assert not lock.exists()
