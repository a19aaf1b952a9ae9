"""A configuration in which a name is misspelt or a value is of the wrong kind is refused: the message says where, and
what is nearest."""

import contextlib
import copy
import re
from pathlib import Path

import pytest
import yaml
from project import SOURCE

from despur.orchestration import configuration
from despur.orchestration.configuration import complete_configuration
from despur.orchestration.experiments import list_artifact_runs
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError

CONFIG = yaml.safe_load("""
papers: [cnc, fair_cl, icl_msr]
seeds: ["0-1"]
methods: [erm, cnc, jtt, ce, con, pairs]
outputs: results/mine
sweep: true
ledger: true
datasets:
  cmnist: {data: [colored_digits, colored_digits+p_corr=0.8], methods: [erm, cnc]}
  waterbirds: scene_digits
  celeba: [scene_digits+draw=1]
  moji: scene_embeddings+dims=5
  stl10: scene_digits
artifacts:
  cnc:
    table_1: {methods: [erm, cnc]}
    table_a5: {seeds: 2, methods: {cnc: cnc+lambda=0.4~0.9}}
    figure_7:
      seeds: {erm: 1, cnc: ["0-1", "2"]}
      data: p_corr=0.6~0.9
      methods: {erm: erm+snapshots=1, cnc: [cnc, cnc+temperature=0.3]}
    figure_10: {methods: {erm: stage1/erm, clusters: groups/clusters}}
  fair_cl:
    table_1: {methods: {ce: erm, con: {moji: con+ratio=0.1, bios: [con]}}}
  icl_msr:
    table_1: {seeds: {pairs: 1}, methods: {pairs: linear_classifier+stage1=byol~simclr}}
matrix: {data: scene_digits, methods: {con: con+batch_size=64, any name: adv}, seeds: ["0-1"]}
""")
FREE = {
    ("artifacts", "icl_msr", "table_1", "methods", "pairs"),
    ("matrix", "methods", "con"),
    ("matrix", "methods", "any name"),
}


def nodes(node, at=()):
    """Every value of a configuration, with the keys that lead to it."""
    if at:
        yield at, node
    for key, below in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from nodes(below, (*at, key))


def replaced(at, key, value):
    """The configuration with another key and value in the place of one."""
    config = copy.deepcopy(CONFIG)
    holder = config
    for step in at[:-1]:
        holder = holder[step]
    if isinstance(holder, list):
        holder[at[-1]] = value
    else:
        items = [(key, value) if old == at[-1] else (old, same) for old, same in holder.items()]
        holder.clear()
        holder.update(items)
    return config


def doubled(word):
    """Its last letter twice: ``cncc``."""
    return word + word[-1]


def misspelt():
    """(where, configuration, the wrong word, the right one): each key, each name, and each setting of a name."""
    for at, node in nodes(CONFIG):
        where = ".".join(map(str, at))
        if isinstance(at[-1], str) and at not in FREE:
            yield f"key {where}", replaced(at, doubled(at[-1]), node), doubled(at[-1]), at[-1]
        for word in words(node) if at != ("outputs",) else ():
            yield (
                f"name {where}: {word}",
                replaced(at, at[-1], node.replace(word, doubled(word), 1)),
                doubled(word),
                word,
            )


def words(node):
    """The names in a specification: of what, and of its settings."""
    return re.findall(r"(?:^|(?<=[/+]))[a-z]\w*(?=[+=]|$)", node) if isinstance(node, str) else []


MISSPELT = list(misspelt())


def test_what_is_misspelt_here_is_right():
    assert complete_configuration(CONFIG) == CONFIG and len(MISSPELT) > 90


@pytest.mark.parametrize(
    ("config", "wrong", "right"), [case[1:] for case in MISSPELT], ids=[case[0] for case in MISSPELT]
)
def test_what_is_misspelt_is_refused_with_the_nearest_name(config, wrong, right):
    with pytest.raises(SettingError) as error:
        complete_configuration(config)
    assert f"{wrong!r}; did you mean {right}?" in str(error.value)
    assert "config key" in str(error.value)


@pytest.mark.parametrize("value", [None, -1, True, "?", [5], {"x": 5}, {5: "x"}], ids=repr)
def test_a_value_of_the_wrong_kind_is_refused(value):
    for at, _ in nodes(CONFIG):
        if (at, value) not in [(("sweep",), True), (("ledger",), True)]:
            with pytest.raises(SettingError, match="config key"):
                complete_configuration(replaced(at, at[-1], value))
                pytest.fail(f"{at} may be {value}")


@pytest.mark.parametrize("seeds", [0, 2.0, [], [0], ["x"], ["0-1", "1-2"], ["2-1"]], ids=repr)
def test_seeds_that_cannot_be_are_refused_wherever_they_stand(seeds):
    for at in [
        ("seeds",),
        ("artifacts", "cnc", "table_a5", "seeds"),
        ("artifacts", "cnc", "figure_7", "seeds", "cnc"),
        ("matrix", "seeds"),
    ]:
        with pytest.raises(SettingError, match="config key"):
            complete_configuration(replaced(at, at[-1], seeds))


LONG = "~".join(f"0.{i:03}" for i in range(50))
TABLE = "artifacts.cnc.table_1"
WRONG = [
    ("seeds: many", "how many seeds"),
    ("papers: [cnc, cnc]", "papers: ['cnc', 'cnc'] has non-unique elements"),
    ("datasets: {cmnist: {methods: [erm]}}", "datasets.cmnist: 'data' is a required property"),
    ("datasets: {cmnist: cmnist+p_corr=.9}", "cmnist+p_corr=.9 is called cmnist+p_corr=0.9"),
    ("{datasets: {cmnist: cifar10}, artifacts: {}}", "artifacts.cnc.figure_7: unknown setting of cifar10: 'p_corr'"),
    ("artifacts: {cnc: {table_1: {methods: [cn0]}}}", f"{TABLE}.methods: unknown method 'cn0'; did you mean cnc?"),
    ("artifacts: {cnc: {table_1: {seeds: {cn0: 2}}}}", f"{TABLE}.seeds: unknown method 'cn0'; did you mean cnc?"),
    (
        "artifacts: {cnc: {table_1: {methods: {erm: stage3/erm}}}}",
        "unknown stage of stage3/erm: 'stage3'; did you mean stage1",
    ),
    (
        "artifacts: {cnc: {table_1: {methods: {erm: erm+encoder=hf+encoder.model=facebook/dinov2-small}}}}",
        "a value holds no slash; that of a model of a hub is written --",
    ),
    (f"artifacts: {{cnc: {{table_1: {{data: p_corr={LONG}}}}}}}", "longer than the 200 characters"),
    ("matrix: {data: scene_digits, methods: {con: conn}}", "matrix: unknown method 'conn'; did you mean con?"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=lambda text: text[:50])
def test_the_message_names_the_key(change, message):
    with pytest.raises(SettingError) as error:
        complete_configuration(
            {key: value for key, value in CONFIG.items() if key != "methods"} | yaml.safe_load(change)
        )
    assert str(error.value).startswith("config key") and message in str(error.value)


def test_a_configuration_of_few_papers_may_keep_the_data_sets_of_others(tmp_path, monkeypatch):
    monkeypatch.chdir(SOURCE)
    (tmp_path / "own.yaml").write_text("papers: [fair_cl]\n")
    assert "cmnist" in configuration.load_configuration(tmp_path / "own.yaml")["datasets"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "own.yaml cannot be read"),
        ("papers: [cnc\n", "own.yaml cannot be read"),
        ("- cnc\n", "own.yaml: must be keys"),
        ("papers: [cnk]\n", "own.yaml: config key papers: unknown paper 'cnk'"),
        ("papers:\n- \0", 'own.yaml cannot be read: YAML does not allow the letter 0x0000\n  in "own.yaml", line 2'),
        ("papers:\n- \udcff", 'own.yaml cannot be read: byte 0xff is no text in UTF-8\n  in "own.yaml", line 2'),
    ],
)
def test_the_message_names_the_file(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text("papers: [cnc]\ndatasets: {}\n")
    if text is not None:
        Path("own.yaml").write_text(text, errors="surrogateescape")
    with pytest.raises(SettingError) as error:
        configuration.load_configuration(Path("own.yaml"))
    assert str(error.value).startswith(message)


def test_a_configuration_includes_files_and_replaces_what_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text("datasets: {cmnist: cmnist}\nartifacts: {cnc: {table_a5: {seeds: 2}}}\n")
    Path("b.yaml").write_text("datasets: {waterbirds: scene_digits}\n")
    Path("config.yaml").write_text("papers: [cnc]\ninclude: [a.yaml, b.yaml]\ndatasets: {cmnist: colored_digits}\n")
    Path("own.yaml").write_text("artifacts: {cnc: {table_a5: {methods: []}}}\n")
    read = configuration.load_configuration(Path("own.yaml"))
    assert "include" not in read and read["artifacts"] == {"cnc": {"table_a5": {"seeds": 2, "methods": []}}}
    assert read["datasets"] == {"cmnist": "colored_digits", "waterbirds": "scene_digits"}
    Path("own.yaml").write_text("include: [c.yaml]\n")
    with pytest.raises(SettingError, match=r"config key include: c\.yaml cannot be read"):
        configuration.load_configuration(Path("own.yaml"))


def test_an_artifact_may_take_what_another_takes():
    table_1 = {"seeds": {"pairs": 2}, "methods": {"pairs": "linear_classifier+stage1=byol~simclr"}}
    own = {"same_as": "table_1", "seeds": {"pairs": 1}}
    config = {"papers": ["icl_msr"], "datasets": {}, "artifacts": {"icl_msr": {"table_1": table_1, "table_2": own}}}
    filled = complete_configuration(config)["artifacts"]["icl_msr"]
    assert filled == {"table_1": table_1, "table_2": {**table_1, "seeds": {"pairs": 1}}}
    config["artifacts"]["icl_msr"]["table_2"]["same_as"] = "table_3"
    with pytest.raises(
        SettingError, match=r"icl_msr\.table_2\.same_as: unknown artifact 'table_3'; did you mean table_1"
    ):
        complete_configuration(config)


@pytest.mark.parametrize(
    ("paper", "artifact", "key"),
    [
        ("cnc", "figure_7", "data.p_corr"),
        ("cnc", "figure_7d", "groups.noise"),
        ("adapters", "figure_5", "data.samples"),
        ("domain_temperature", "figure_1", "data.sigma"),
        ("domain_temperature", "figure_5", "projector_dim"),
        ("fair_cl", "table_1", "iterations"),
        ("fair_cl", "table_1", "weight"),
        ("fair_cl", "table_1", "ratio"),
        ("icl_msr", "figure_5", "stage1.lambda"),
        ("icl_msr", "figure_5", "stage1.gamma"),
        ("icl_msr", "figure_5", "stage1.n"),
    ],
)
def test_the_reference_has_five_levels_on_every_line_and_all_runs_of_config_yaml(monkeypatch, paper, artifact, key):
    monkeypatch.chdir(SOURCE)
    found = []
    for file in ("config.yaml", "config/reference.yaml"):
        shown = list_artifact_runs(configuration.load_configuration(Path(file)), paper, artifact)
        folders = [locate_result(folder) for own in shown for folder in own.folders]
        found.append([run for folder in folders for run in folder.runs()])
    one, ten = found
    assert {run.key for run in one} <= {run.key for run in ten}
    levels = set()
    for run in ten:
        with contextlib.suppress(KeyError):
            levels.add((run.data if key.startswith("data.") else run.spec).value(key.removeprefix("data.")))
    assert len(levels) >= 5
