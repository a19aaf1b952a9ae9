"""The page that says where the time of the bundled run goes."""

from catalog.times import build_times


def test_shares_are_of_all_seconds(tmp_path):
    (tmp_path / "cnc").mkdir()
    (tmp_path / "cnc/times.csv").write_text(
        "kind,name,jobs,seconds,own_seconds\n"
        "stage,stage 1,2,30,25\nstage,stage 2,5,50,40.4\nstage,evaluate,5,20,\n"
        "paper,cnc,12,100,65.4\ncritical path,stage 2: results/runs/x,1,15,\nall,,12,100,65.4\n"
    )
    text = build_times(tmp_path)
    assert "## cnc" in text and "12 jobs took 100 seconds in all. Training (stages 1 and 2) was 80% of them." in text
    assert "| stage 2 | 5 | 50 | 50% | 40 |" in text and "| evaluate | 5 | 20 | 20% |  |" in text
    assert "| `stage 2: results/runs/x` | 1 | 15 | 15% |  |" in text


def test_without_kept_times_the_page_says_so(tmp_path):
    assert "No times are kept yet" in build_times(tmp_path)
