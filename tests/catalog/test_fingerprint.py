"""The page about the grids that fall to chance."""

from catalog.fingerprint import TRIALS, build_fingerprint, describe_boundary, describe_spreads

HEAD = TRIALS.read_text().splitlines()[0]


def write_trials(path, *rows):
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return path


def test_the_last_evaluation_of_each_trial_is_shown(tmp_path):
    """Two evaluations of one trial and one of another: 360 + 720 core-seconds are 0.3 hours."""
    shared = "0.2,0.1,{epochs},0,{accuracy},50.0,50.0,60.0,,99.9,51.1,49.7,{seconds},abcdefg"
    text = build_fingerprint(
        write_trials(
            tmp_path / "trials.csv",
            "domain_weighted_pairs,encoder.width=8,," + shared.format(epochs=5, accuracy=80.0, seconds=100),
            "domain_weighted_pairs,encoder.width=8,," + shared.format(epochs=10, accuracy=70.0, seconds=360),
            "domain_weighted_pairs,,a|b," + shared.format(epochs=10, accuracy=55.0, seconds=720),
        )
    )
    assert "2 trials, 0.3 core-hours" in text and "80.0" not in text
    assert "| `encoder.width=8` |  | 10 | 70.0 (51.1) | 50.0 (49.7) |" in text
    assert text.index("as by default") < text.index("encoder.width=8")  # nearer to the printed number
    assert r"a\|b" in text


def test_courses_are_of_trials_with_pooling(tmp_path):
    shared = "0.2,0.1,{epochs},0,{accuracy},50.0,50.0,60.0,,99.9,51.1,49.7,{epochs}00,abcdefg"
    text = build_fingerprint(
        write_trials(
            tmp_path / "trials.csv",
            "domain_weighted_pairs,encoder.pooling=mean,," + shared.format(epochs=2, accuracy=58.2),
            "domain_weighted_pairs,encoder.pooling=mean,," + shared.format(epochs=5, accuracy=63.0),
            "domain_weighted_pairs,encoder.width=8,," + shared.format(epochs=5, accuracy=70.0),
        )
    )
    course = text.partition("## What they say")[2]
    assert "| 2 | 5 |" in course and "| `encoder.pooling=mean` |  | 0.2, 0.1 | 58.2 | 63.0 |" in course
    assert "width=8" not in course


def test_the_boundary_is_that_of_tables_5_and_8():
    """Table 8: 50.2 at (.175, .1), 53.2 at (.2, .25), 51.0 at (.5, .5), 51.6 at (1, 1)."""
    assert "| `domain_weighted_pairs` | 0.175 | 0.2 | 0.5 | 1 |" in describe_boundary()


def test_spreads_stand_beside_those_of_guesses():
    """Five seeds of 1,154 fair coins: sqrt(.25 / 1154 / 5) = 0.66 points; of one answer: 3.07 / sqrt(5) = 1.37."""
    rows = [line for line in describe_spreads().splitlines() if "Test-ID" in line]
    assert len(rows) == 2 and all(row.endswith("| 0.7 | 1.4 |") for row in rows)
