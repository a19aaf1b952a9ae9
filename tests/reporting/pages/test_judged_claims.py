"""The page of claims on the papers' own data; and the way of a record of another encoder to the page What we found."""

import math
import re

import pandas as pd
from project import SOURCE
from records import add

from despur.evidence.all_evidence import load_evidence
from despur.evidence.claims.refusals import PRESUPPOSED
from despur.evidence.ledger import files as ledger
from despur.evidence.verdicts import DECIDED, Tier
from despur.orchestration.configuration import load_configuration
from despur.orchestration.experiments import list_artifact_runs
from despur.reporting import reference
from despur.reporting.pages.judged_claims import (
    describe_claims,
    describe_judged,
    describe_other_encoder,
    format_judged_claims,
    select_own,
)
from despur.specs.paths import locate_result

JUDGED = {
    "paper": "cnc",
    "paper_dataset": "cmnist",
    "tier": Tier.PAPER,
    "statement": "A beats B on CMNIST*",
    "seeds": 3,
    "advice": "about 16 seeds",
    "reason": "",
    "weakest": "a - b (accuracy, split=test)",
    "k": 2,
    "estimate": -0.03,
    "low": -0.13,
    "high": 0.07,
    "verdict": "undecided",
    "settings": "b (screened)",
    "data": "cmnist",
    "collapsed": "d: 3 of 3 seeds collapsed (29 to 100 %); e: 1 of 3 seeds collapsed",
    "primary": "",
    "margin": 0.0,
    "q": 0.31,
}


def test_claims_stand_with_their_weakest_contrast_and_what_would_decide_them():
    table, settings = describe_judged(pd.DataFrame([JUDGED]))
    difference, ending = "-3 [-13, +7] points", "| 3 | undecided | 0.31 | about 16 seeds |"
    row = f"| A beats B on CMNIST\\* | `a - b (accuracy, split=test)` (of 2) | {difference} {ending}"
    assert table.splitlines()[2:] == [row] and settings == "Settings behind these claims: b (screened)."
    for changed in ({"reason": f"{PRESUPPOSED}: that c is above 0"}, {"low": math.nan, "high": math.nan}):
        assert "| – | – | 3 | undecided | 0.31 |" in next(describe_judged(pd.DataFrame([JUDGED | changed])))
    table, _ = describe_judged(pd.DataFrame([JUDGED | {"margin": -0.05, "q": math.nan}]))
    assert "| -3 [-13, +7] points, margin -5 | 3 | undecided | – |" in table
    alone = JUDGED | {"k": 1, "weakest": "logarithms: a - b (accuracy_ratio)"}
    assert f"| `logarithms: a - b` | -0.03 [-0.13, +0.07] {ending}" in next(describe_judged(pd.DataFrame([alone])))
    assert [*describe_judged(pd.DataFrame([JUDGED])[:0])] == []


def test_claims_whose_data_were_run_say_what_is_missing_and_others_are_left_out():
    missing = JUDGED | {"statement": "C beats D", "verdict": "not run here", "reason": "not measured: gap of d"}
    not_run = missing | {"statement": "E beats F", "data": ""}
    elsewhere = JUDGED | {"statement": "G beats H", "tier": Tier.SUBSTITUTE}
    page = format_judged_claims(pd.DataFrame([JUDGED, missing, not_run, elsewhere]))
    assert (
        "| C beats D | not measured: gap of d; d: 3 of 3 seeds collapsed (29 to 100 %) |" in page
        and "A beats B" in page
    )
    assert "E beats F" not in page and "G beats H" not in page


def test_verdicts_on_claims_are_counted_with_those_that_stand():
    rows = [JUDGED, JUDGED | {"statement": "C beats D on CMNIST*", "verdict": "holds"}]
    (said,) = describe_claims(pd.DataFrame(rows))
    ending = "stand if 5 % of such verdicts may be false)."
    assert said.endswith(f": undecided 1, holds 1 (of 1 decided, 0 {ending}")
    for surer in ({"q": 0.04}, {"primary": "its abstract", "q": math.nan}):
        assert next(describe_claims(pd.DataFrame([rows[1] | surer]))).endswith(f"holds 1 (of 1 decided, 1 {ending}")
    assert [*describe_claims(pd.DataFrame(rows)[:0])] == []


def test_records_of_another_encoder_are_judged_and_reach_the_page(tmp_path, monkeypatch):
    config = load_configuration(SOURCE / "config/frozen.yaml")
    monkeypatch.chdir(tmp_path)
    for run in list_artifact_runs(config, "adapters", "table_3"):
        if run.paper_method in ("zero_shot", "contrastive_adapter"):
            for one in locate_result(run.folders[0]).runs():
                made = {"seconds": 1.0, "trained_parameters": 9}
                add(ledger.LEDGER, one.seed, method=one.spec.name, data=one.data.name, run=made)
    reference.keep_ledger_verdicts([SOURCE / "config/frozen.yaml"])
    claims = load_evidence().claims
    (said,) = describe_other_encoder(claims[claims["paper"].eq("adapters")])
    assert (
        "“The contrastive adapter's worst-group accuracy is above that of zero-shot classification” (waterbirds)"
        in said
    )
    assert said.startswith("- **Orders of claims with another encoder**, which")
    counts = re.search(r": (\d+) seen here, (\d+) opposite seen here, (\d+) not seen\.", said)
    assert sum(map(int, counts.groups())) == said.count("“")
    assert not select_own(claims)["verdict"].isin(DECIDED).any()
