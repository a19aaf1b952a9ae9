"""Configurations, names and result paths, changed at random: accepted, or refused in one message. Nothing is started,
nothing is written."""

import copy
import datetime
import math
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from project import SOURCE
from storms.conftest import count_cases, guarded

from despur.orchestration.configuration import complete_configuration, load_configuration
from despur.orchestration.targets import check_target
from despur.specs.declarations import list_components, read_declarations
from despur.specs.extensions import VARIABLE
from despur.specs.paths import locate_result
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError

pytestmark = pytest.mark.storm
LONGEST = 2000  # characters of a message
BUNDLED = yaml.safe_load((SOURCE / "config.yaml").read_text())
SMALL = yaml.safe_load("""
papers: [cnc, fair_cl]
seeds: ["0-1"]
methods: [erm, cnc, ce, con]
outputs: results/mine
datasets:
  cmnist: {data: [colored_digits, colored_digits+p_corr=0.8], methods: [erm, cnc]}
  waterbirds: scene_digits
  moji: scene_embeddings+dims=5
artifacts:
  cnc:
    table_a5: {seeds: 2, methods: {cnc: cnc+lambda=0.4~0.9}}
    figure_7: {seeds: {erm: 1, cnc: ["0-1", "2"]}, data: p_corr=0.6~0.9, methods: {erm: erm+snapshots=1, cnc: [cnc]}}
    figure_10: {methods: {erm: stage1/erm, clusters: groups/clusters}}
  fair_cl:
    table_1: {methods: {ce: erm, con: {moji: con+ratio=0.1}}}
matrix: {data: scene_digits, methods: {any name: adv}, seeds: ["0-1"]}
""")
PATHS = (
    "results/data/colored_digits+p_corr=0.9/table.parquet",
    "results/stage1/cmnist/erm+epochs=2/s0-2/outputs.safetensors",
    "results/groups/cmnist/clusters+stage1.epochs=1/s3/groups.safetensors",
    "results/runs/cmnist+p_corr=0.9/cnc+lambda=0.2~0.4+temperature=1e-05/s0-2/metrics.csv",
    "results/runs/colored_digits+draw=seed/dfr+groups=oracle~predictions/s0/metrics.csv",
    "results/papers/cnc/table_1.csv",
)
HOSTILE = (
    *("", " ", "\n", "\t", "\x00", "\x1b[2J", "é", "١", "~", "+", "=", "/", "..", "-", "_", "'", '"', "\\", "{}", "%s"),
    *("$(touch storm)", "`touch storm`", "; touch storm", "| touch storm", "&& touch storm", "> storm", "$HOME", "*"),
    *("../../storm", "/etc/passwd", "/dev/zero", "nan", "inf", "-inf", "1e999", "1e-999", "0x10", "1_0", "-0", "01"),
    *("9" * 30, "9" * 5000, "0-99999999999", "x" * 5000, "~".join("123456789"), "{0.__class__}", "__import__('os')"),
)
LEAVES = (
    *(None, True, False, -1, 0, 1, 2.0, 0.5, 10**9, 10**30, -(10**400), math.nan, math.inf, 1e308),
    *(b"bytes", datetime.date(2000, 1, 1), {1, 2}, (), *HOSTILE),
)
values = st.recursive(
    st.sampled_from(LEAVES) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*HOSTILE, None, 5, True]) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


def storm(short):
    """So many cases, the same at each call."""
    return settings(
        max_examples=count_cases(short),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def change_text(draw, text):
    """A text with a letter less, doubled or exchanged, a hostile text put in, or itself many times."""
    at = draw(st.integers(0, len(text)))
    inserted = draw(st.sampled_from(HOSTILE) | st.text(max_size=2))
    return draw(
        st.sampled_from(
            [
                *(text[:at] + inserted + text[at:], text[:at] + text[at + 1 :], text[: at + 1] + text[at:]),
                *(text[:at] + inserted + text[at + 1 :], text[:at], text.swapcase(), f"{text}+{text}", text * 50),
            ]
        )
    )


def list_holders(node):
    """Every mapping and list of a configuration that has entries."""
    below = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
    return ([node] if below else []) + [holder for each in below for holder in list_holders(each)]


@st.composite
def configurations(draw):
    """A configuration with one to three changes: of a key, of a value, one left out, one put in."""
    config = copy.deepcopy(draw(st.sampled_from([SMALL, SMALL, SMALL, BUNDLED])))
    for _ in range(draw(st.integers(1, 3))):
        if not (holders := list_holders(config)):
            break
        holder = draw(st.sampled_from(holders))
        key = draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
        value = holder[key]
        other = change_text(draw, value) if isinstance(value, str) else draw(values)
        what = draw(st.sampled_from(["value", "value", "any value", "remove", "rename", "add", "move"]))
        if what in ("value", "any value"):
            holder[key] = other if what == "value" else draw(values)
        elif what == "remove":
            del holder[key]
        elif what == "rename" and isinstance(holder, dict):
            holder[change_text(draw, key) if isinstance(key, str) else draw(st.sampled_from(HOSTILE))] = holder.pop(key)
        elif what == "add" and isinstance(holder, dict):
            holder[draw(st.sampled_from([*HOSTILE, "include", "extensions", "seeds", "same_as"]))] = draw(values)
        else:
            holder[key] = copy.deepcopy(draw(st.sampled_from(holders)))
    return config


class Outcomes:
    """Runs cases and counts how they end. Whatever is raised but a SettingError, or a message over many lines, fails
    the test."""

    def __init__(self, allowed):
        self.allowed, self.accepted, self.refused = allowed, 0, 0

    def run(self, work, *arguments, lines=1):
        try:
            with guarded(self.allowed):
                work(*arguments)
        except SettingError as error:
            text = str(error)
            assert text and len(text) <= LONGEST and len(text.splitlines()) <= lines, text[:5000]
            assert "Traceback" not in text and all(letter.isprintable() or letter == "\n" for letter in text), text
            self.refused += 1
        else:
            self.accepted += 1

    def tell(self, record, name):
        outcome = (
            f"{self.refused:,} refused in one message, {self.accepted:,} accepted; no other error, nothing started"
        )
        record(name, self.refused + self.accepted, outcome)
        assert self.refused


@pytest.fixture
def outcomes(tmp_path, monkeypatch):
    monkeypatch.chdir(SOURCE)
    monkeypatch.setenv(VARIABLE, "")
    return Outcomes(tmp_path)


def complete(config):
    try:
        complete_configuration(config)
    finally:
        os.environ[VARIABLE] = ""


def test_a_changed_configuration_is_accepted_or_refused_in_one_message(outcomes, record):
    @storm(40)
    @given(configurations())
    def run(config):
        outcomes.run(complete, config)

    run()
    outcomes.tell(record, "configurations: values, keys and names changed")


def test_a_changed_configuration_file_is_accepted_or_refused_in_one_message(outcomes, record, tmp_path):
    file = tmp_path / "own.yaml"
    text = yaml.safe_dump(SMALL).encode()
    inserted = [
        b"\xff",
        b"\x00",
        b"\t",
        b": ",
        b"- ",
        b"&a ",
        b"*a ",
        b"!!python/object/apply:os.system [touch storm] ",
    ]

    def load():
        try:
            load_configuration(file)
        finally:
            os.environ[VARIABLE] = ""

    @storm(20)
    @given(st.data())
    def run(data):
        content = bytearray(text)
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(content)))
            more = data.draw(st.sampled_from(inserted) | st.binary(max_size=2))
            content[at : at + data.draw(st.integers(0, 3))] = more
        file.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) // 2]))])
        outcomes.run(load, lines=12)  # YAML shows the place

    run()
    outcomes.tell(record, "configuration files: bytes changed")


def test_a_changed_path_is_accepted_or_refused_in_one_message(outcomes, record):
    config = complete_configuration(SMALL)

    def ask(text):
        check_target(config, Path(text))
        if not text.startswith("results/papers/"):
            result = locate_result(text)
            assert result.datasets.points if result.stage == "data" else result.runs()

    @storm(60)
    @given(st.data())
    def run(data):
        text = data.draw(st.sampled_from(PATHS))
        for _ in range(data.draw(st.integers(1, 3))):
            text = change_text(data.draw, text)
        outcomes.run(ask, text)

    run()
    outcomes.tell(record, "result paths: letters changed, shell characters, huge numbers")


def test_a_setting_takes_a_value_or_refuses_it_and_an_accepted_name_has_one_spelling(outcomes, record):
    kinds = ("datasets", "encoders", "inference", "methods")
    known = [
        (kind, name, key)
        for kind in kinds
        for name in list_components(kind)
        for key in read_declarations(kind, name)["SETTINGS"]
    ]

    def ask(kind, name):
        found = resolve(kind, name).name
        assert resolve(kind, found).name == found

    @storm(100)
    @given(st.sampled_from(known), st.sampled_from(HOSTILE) | st.text(max_size=4) | st.floats().map(str))
    def run(setting, value):
        kind, name, key = setting
        outcomes.run(ask, kind, f"{name}+{key}={value}")

    run()
    outcomes.tell(record, "settings of components: any text as a value")


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        "papers: " + "[" * 100_000,
        BOMB + "papers: *i\ndatasets: {}\n",
        "papers: [cnc]\ndatasets: &a {cmnist: *a}\n",
        "papers: &a [*a]\ndatasets: {}\n",
        f"papers: [cnc]\ndatasets: {{}}\nseeds: {'9' * 5000}\n",
        "papers: [cnc]\ndatasets: {}\nseeds: 1000000000\n",
        'papers: [cnc]\ndatasets: {}\nseeds: ["0-99999999999"]\n',
        'papers: [cnc]\ndatasets: {}\nseeds: ["0-1\\n"]\n',
        'papers: [cnc]\ndatasets: {}\noutputs: "results/x\\n"\n',
        "papers: [cnc]\ndatasets: {}\ninclude: [/dev/zero]\n",
        "papers: [cnc]\ndatasets: {}\ninclude: [.]\n",
        "papers: [cnc]\ndatasets: {}\nseeds: 2001-99-99\n",
        "!!python/object/apply:os.system ['touch storm']\n",
        "papers: !!python/name:os.system\ndatasets: {}\n",
        "papers: [cnc]\ndatasets: {cmnist: colored_digits+" + "+".join(
            f"p_corr{i}={'~'.join('123456789')}" for i in range(9)) + "}\n",
        "papers: [fair_cl]\ndatasets: {moji: bios}\nextensions: [/nowhere]\n",
        '{papers: [fair_cl], datasets: {moji: bios}, artifacts: {fair_cl: {"\\t": null}}}',
        ": \tpapers: [fair_cl]\n",
        f"papers: [cnc]\ndatasets: {{}}\ninclude: [{'9' * 5000}x]\n",
        f"papers: [cnc]\ndatasets: {{}}\ninclude: [[{'9' * 3000}x]]\n",
        'papers: [cnc]\ndatasets: {}\ninclude: ["\\t"]\n',
    ],
    ids=lambda text: text[:40],
)  # fmt: skip
def test_what_would_fill_memory_or_run_code_is_refused(outcomes, tmp_path, text):
    (tmp_path / "own.yaml").write_text(text)
    outcomes.run(load_configuration, tmp_path / "own.yaml", lines=12)
    assert outcomes.refused == 1 and not Path("storm").exists()
