"""The page that says how the suites of tests ended."""

import os

import pytest

from catalog.suites import build_suites, keep_reports

REPORT = '<testsuites><testsuite {} timestamp="2026-01-02T03:04:05" tests="{}" failures="1" errors="0" skipped="2" />'


def write_report(folder, name, tests, written):
    (folder / f"{name}.xml").write_text(REPORT.format('time="61.6"', tests) + "</testsuites>")
    os.utime(folder / f"{name}.xml", (written, written))


def test_a_suite_that_did_not_run_again_keeps_its_numbers(tmp_path):
    kept = tmp_path / "suites.csv"
    for suite, tests, commit in (("test", 4000, "aaa"), ("test-long", 240, "aaa"), ("test", 4001, "bbb")):
        write_report(tmp_path, suite, tests, written=20)
        keep_reports(tmp_path, kept, commit, committed=10)
        (tmp_path / f"{suite}.xml").unlink()
    text = build_suites(kept)
    assert "| `make test` | 4,001 | 1 | 0 | 2 | 62 | 2026-01-02 | bbb |" in text
    assert "| `make test-long` | 240 | 1 | 0 | 2 | 62 | 2026-01-02 | aaa |" in text and text.count("| `make") == 2


def test_a_report_from_before_the_commit_is_refused(tmp_path):
    write_report(tmp_path, "test", 1, written=5)
    with pytest.raises(ValueError, match=r"test\.xml: older than the commit aaa"):
        keep_reports(tmp_path, tmp_path / "suites.csv", "aaa", committed=10)


def test_without_kept_numbers_the_page_says_so(tmp_path):
    assert "No numbers are kept yet" in build_suites(tmp_path / "suites.csv")
