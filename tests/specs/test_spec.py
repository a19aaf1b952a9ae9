import itertools
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from despur.specs.declarations import list_components, paper_hyperparameters, read_declarations
from despur.specs.names import join, parse
from despur.specs.paths import locate_result
from despur.specs.resolution import draw_for_seeds, resolve, resolve_canonical
from despur.specs.settings import SettingError, spell

quick = settings(deadline=None, max_examples=60, derandomize=True, database=None)

DATASETS = list_components("datasets")
BASES = [(kind, base) for kind in ("datasets", "inference", "methods") for base in list_components(kind)]

TOY_METHOD = """
from despur.specs.settings import component, float_
from despur.specs.hyperparameters import sgd
SETTINGS = {
    **sgd(learning_rate=0.1, momentum=0.9, weight_decay=0.0, batch_size=8, epochs=7, source="made up"),
    "groups": component("inference", "clusters", "made up"),
    "strength": float_(0.5, "made up", at_least=0),
}
"""

TOY_DATASET = """
PAPER_HYPERPARAMETERS = {
    "*": {"learning_rate": 0.5},
    "erm": {"epochs": 7, "learning_rate": 0.25},
    "stage1/erm": {"epochs": 3},
    "groups/clusters": {"restarts": 4},
}
"""


def reachable(spec):
    """Settings that overrides of this specification reach, by dotted key."""
    found = {
        key: setting
        for key, setting in read_declarations(spec.kind, spec.base_name)["SETTINGS"].items()
        if not setting.folder
    }
    for key, part in spec.components.items():
        found |= {f"{key}.{below}": setting for below, setting in reachable(part).items()}
    if "stage1" in spec.components:  # one key for the stage 1 of the method and of its groups
        found = {key: setting for key, setting in found.items() if not key.startswith("groups.stage1")}
    return found


def texts(setting):
    """Allowed values of a setting, in several spellings."""
    if isinstance(setting.default, bool):
        return st.sampled_from(["true", "false"])
    if isinstance(setting.default, int):
        values = st.integers(0, 3000).flatmap(lambda n: st.sampled_from([str(n), f"0{n}"]))
    elif isinstance(setting.default, float):
        values = st.floats(0, 200).flatmap(lambda x: st.sampled_from([repr(x), f"{x:.17e}", f"0{x!r}", spell(x)]))
        values = values.map(lambda text: text.replace("+", ""))
    else:
        values = st.sampled_from(setting.allowed.removeprefix("one of ").split(", "))

    def allowed(text):
        try:
            return setting.parse("key", text) is not None
        except SettingError:
            return False

    return st.one_of(values, st.just(spell(setting.default))).filter(allowed)


@st.composite
def specifications(draw, kinds=("datasets", "inference", "methods"), most_values=3, datasets=("", *DATASETS)):
    """kind, base, overrides (key -> distinct values) and data set of an allowed name."""
    kind, base = draw(st.sampled_from([pair for pair in BASES if pair[0] in kinds]))
    dataset = draw(st.sampled_from(datasets)) if kind != "datasets" else ""
    settings_by_key = reachable(resolve(kind, base, dataset).points[0])
    keys = draw(st.lists(st.sampled_from(sorted(settings_by_key)), unique=True, max_size=3)) if settings_by_key else []
    overrides = {}
    for key in keys:
        setting = settings_by_key[key]
        values = st.lists(
            texts(setting), min_size=1, max_size=most_values, unique_by=lambda text, s=setting: s.parse("key", text)
        )
        written = key.removeprefix("groups.") if key.startswith("groups.stage1") and draw(st.booleans()) else key
        overrides[written] = draw(values)
    return kind, base, overrides, dataset


def write(base, overrides):
    return "".join([base, *(f"+{key}={'~'.join(values)}" for key, values in overrides.items())])


def resolved(sweep):
    return sorted((point.resolved() for point in sweep.points), key=repr)


def point(name, dataset="", stage=""):
    (only,) = resolve("methods", name, dataset, stage).points
    return only


def refusal(kind, text, dataset=""):
    with pytest.raises(SettingError) as error:
        resolve(kind, text, dataset)
    return str(error.value)


def reads(dataset, name):
    """The inferences that a run reads, each with the stage 1 that it reads; every name canonical, every run made by
    what it reads."""
    result = locate_result(f"results/runs/{dataset}/{name}/s0")
    assert result.sweep.name == name
    found = {groups: base for groups in result.upstream("groups") for base in groups.upstream("stage1")}
    assert {run.find_upstream_key("groups") for run in result.runs()} == {
        run.key for groups in found for run in groups.runs()
    }
    assert {run.find_upstream_key("stage1") for groups in found for run in groups.runs()} == {
        run.key for base in found.values() for run in base.runs()
    }
    return {groups.name: base.name for groups, base in found.items()}


@quick
@given(specifications())
def test_a_canonical_name_is_a_fixed_point_that_means_the_same(cache_key):
    kind, base, overrides, dataset = cache_key
    sweep = resolve(kind, write(base, overrides), dataset)
    again = resolve_canonical(kind, sweep.name, dataset)
    assert again.name == sweep.name
    assert resolved(again) == resolved(sweep)


@quick
@given(specifications(), st.randoms(use_true_random=False))
def test_order_of_overrides_and_of_values_does_not_matter(cache_key, random):
    kind, base, overrides, dataset = cache_key
    shuffled = {
        key: random.sample(overrides[key], len(overrides[key]))
        for key in random.sample(sorted(overrides), len(overrides))
    }
    assert resolve(kind, write(base, shuffled), dataset).name == resolve(kind, write(base, overrides), dataset).name


@quick
@given(specifications())
def test_a_sweep_is_every_combination_of_its_lists(cache_key):
    kind, base, overrides, dataset = cache_key
    sweep = resolve(kind, write(base, overrides), dataset)
    singles = [
        dict(zip(overrides, ([v] for v in values), strict=True)) for values in itertools.product(*overrides.values())
    ]
    assert [p.resolved() for p in sweep.points] == [
        resolve(kind, write(base, one), dataset).points[0].resolved() for one in singles
    ]
    assert len(sweep.swept) == sum(len(values) > 1 for values in overrides.values())
    assert len({p.name for p in sweep.points}) == len(singles)


@quick
@given(specifications(most_values=1))
def test_the_name_of_a_point_is_the_name_of_its_specification(cache_key):
    kind, base, overrides, dataset = cache_key
    sweep = resolve(kind, write(base, overrides), dataset)
    assert sweep.points[0].name == sweep.name


@quick
@given(specifications(kinds=("methods", "inference"), datasets=DATASETS))
def test_what_a_run_reads_is_what_its_upstream_makes(cache_key):
    kind, base, overrides, dataset = cache_key
    sweep = resolve(kind, write(base, overrides), dataset)
    result = locate_result(f"results/{'runs' if kind == 'methods' else 'groups'}/{dataset}/{sweep.name}/s0-1")
    for part in ("groups", "stage1"):
        made = {run.key: run.spec.resolved() for up in result.upstream(part) for run in up.runs()}
        for run in result.runs():
            if part in run.spec.components:
                assert made[run.find_upstream_key(part)] == run.spec.components[part].resolved()


@pytest.mark.parametrize("kind", ["datasets", "inference", "methods"])
def test_defaults_are_dropped(kind):
    kept = []
    for base, dataset in itertools.product(list_components(kind), [""] if kind == "datasets" else ["", *DATASETS]):
        plain = resolve(kind, base, dataset).points[0]
        everything = {key: [spell(plain.value(key))] for key in reachable(plain)}
        if resolve(kind, write(base, everything), dataset).name != base:
            kept.append((base, dataset))
    assert kept == []


@pytest.mark.parametrize("text", ["0.5", ".5", "0.50", "5e-1", "00.5"])
def test_a_number_has_one_spelling(text):
    assert resolve("methods", f"cnc+lambda={text}").name == "cnc+lambda=0.5"


def test_values_of_a_list_are_sorted_as_numbers():
    assert resolve("methods", "cnc+num_positives=64~8~16").name == "cnc+num_positives=8~16~64"


def test_a_list_keeps_the_default_among_its_values():
    default = spell(point("cnc").value("lambda"))
    assert default in parse(resolve("methods", f"cnc+lambda={default}~0.123").name)[1]["lambda"]


def test_a_name_that_is_not_canonical_is_refused_with_the_right_one():
    with pytest.raises(
        SettingError, match=r"cnc\+temperature=\.1\+lambda=0\.50 is called cnc\+lambda=0\.5\+temperature=0\.1 "
    ):
        resolve_canonical("methods", "cnc+temperature=.1+lambda=0.50")


def test_dotted_keys_reach_parts():
    found = point("cnc+groups.restarts=3+stage1.epochs=13+temperature=0.123")
    assert found.value("temperature") == 0.123
    assert found.components["groups"].settings["restarts"] == 3
    assert found.components["groups"].components["stage1"].settings["epochs"] == 13
    assert found.settings["epochs"] == point("cnc").settings["epochs"]


def test_dotted_keys_reach_a_replaced_part():
    found = point("cnc+groups=oracle+groups.noise=0.2")
    assert found.components["groups"].resolved() == {"name": "oracle", "noise": 0.2}
    assert found.name == "cnc+groups=oracle+groups.noise=0.2"


def test_dotted_keys_reach_the_encoder_of_each_stage(package):
    package.write(
        "encoders/toy.py",
        'from despur.specs.settings import int_\nSETTINGS = {"width": int_(8, "made up", at_least=1)}\n',
    )
    found = point("cnc+encoder=toy+encoder.width=4+stage1.encoder=toy+stage1.encoder.width=2")
    assert found.components["encoder"].resolved() == {"name": "toy", "width": 4}
    assert found.components["groups"].components["stage1"].components["encoder"].resolved() == {
        "name": "toy",
        "width": 2,
    }
    assert resolve_canonical("methods", found.name).points == [found]


def test_stage1_is_reached_with_or_without_groups():
    short, long = (resolve("methods", f"cnc+{key}=1+lambda=0.5") for key in ("stage1.epochs", "groups.stage1.epochs"))
    assert short.name == long.name == "cnc+lambda=0.5+stage1.epochs=1"
    assert short.points == long.points


def test_one_setting_under_two_keys_is_refused():
    assert "stage1.epochs" in refusal("methods", "cnc+groups.stage1.epochs=1+stage1.epochs=2")


def test_a_setting_that_is_the_default_of_only_some_swept_parts_is_kept(package):
    package.write("methods/toy.py", "\n".join(line for line in TOY_METHOD.splitlines() if '"groups"' not in line))
    epochs = {base: point(base).value("epochs") for base in ("erm", "toy")}
    assert epochs["erm"] != epochs["toy"]
    for values in epochs.values():
        for order in ("erm~toy", "toy~erm"):
            sweep = resolve("methods", f"jtt+stage1={order}+stage1.epochs={values}")
            assert {p.value("stage1.epochs") for p in resolve_canonical("methods", sweep.name).points} == {values}


def test_a_data_set_states_settings_for_all_for_one_and_for_one_in_a_role(package):
    package.write("datasets/toy.py", TOY_DATASET)
    assert paper_hyperparameters("toy", "erm", "") == {"learning_rate": 0.25, "epochs": 7}
    assert paper_hyperparameters("toy", "erm", "stage1") == {"learning_rate": 0.25, "epochs": 3}
    assert paper_hyperparameters("toy", "jtt", "") == {"learning_rate": 0.5}
    assert paper_hyperparameters("", "erm", "") == {}


def test_published_settings_are_the_defaults_on_their_data_set(package):
    package.write("datasets/toy.py", TOY_DATASET)
    assert point("erm", "toy").value("epochs") == 7
    assert point("jtt", "toy").value("stage1.epochs") == 3
    assert point("erm", "toy", "stage1").value("epochs") == 3
    assert resolve("methods", "erm+epochs=7+learning_rate=0.25", "toy").name == "erm"
    assert resolve("methods", "erm+epochs=100", "toy").name == "erm+epochs=100"


def test_settings_published_for_an_inference_hold_on_its_own_path(package):
    package.write("datasets/toy.py", TOY_DATASET)
    (run,) = locate_result("results/runs/toy/cnc/s0").runs()
    (groups,) = locate_result("results/groups/toy/clusters/s0").runs()
    assert run.spec.components["groups"].settings["restarts"] == 4
    assert groups.spec.resolved() == run.spec.components["groups"].resolved()


def test_a_data_set_states_the_stage_1_of_a_method(package):
    package.write("datasets/toy.py", TOY_DATASET.replace('"erm":', '"jtt": {"stage1.epochs": 9}, "erm":', 1))
    (run,) = locate_result("results/runs/toy/jtt/s0").runs()
    (groups,) = locate_result("results/runs/toy/jtt/s0").upstream("groups")
    (base,) = groups.upstream("stage1")
    assert (groups.name, base.name) == ("predictions+stage1.epochs=9", "erm+epochs=9")
    assert (
        run.find_upstream_key("groups") == groups.runs()[0].key
        and groups.runs()[0].find_upstream_key("stage1") == base.runs()[0].key
    )
    assert point("cnc", "toy").value("stage1.epochs") == 3  # only that method's
    for asked, name, value in (("9", "jtt", 9), ("3", "jtt+stage1.epochs=3", 3), ("2~9", "jtt+stage1.epochs=2~9", 2)):
        sweep = resolve("methods", f"jtt+stage1.epochs={asked}", "toy")
        assert (sweep.name, sweep.points[0].value("stage1.epochs")) == (name, value)
        assert resolve_canonical("methods", name, "toy").points == sweep.points
        (inference,) = sweep.subsweeps("groups")
        assert [p.name for p in inference.points] == [p.components["groups"].name for p in sweep.points]
    assert resolve("methods", "jtt+groups=oracle", "toy").name == "jtt+groups=oracle"  # it has none
    for other in ("simclr", "zero_shot"):  # theirs are not those of erm; zero_shot has none
        (found,) = resolve("methods", f"jtt+stage1={other}", "toy").points
        assert found.name == f"jtt+stage1={other}"
        assert found.components["groups"].components["stage1"] == point(other, "toy", "stage1")
    upstream = {
        name: reads("toy", f"jtt+stage1={name}") for name in ("erm~simclr", "simclr~zero_shot", "erm~zero_shot")
    }
    assert upstream == {
        "erm~simclr": {"predictions+stage1.epochs=9": "erm+epochs=9", "predictions+stage1=simclr": "simclr"},
        "simclr~zero_shot": {"predictions+stage1=simclr": "simclr", "predictions+stage1=zero_shot": "zero_shot"},
        "erm~zero_shot": {"predictions+stage1.epochs=9": "erm+epochs=9", "predictions+stage1=zero_shot": "zero_shot"},
    }
    assert reads("toy", "jtt+stage1=erm~simclr+stage1.epochs=2~9") == {
        "predictions+stage1.epochs=2~9": "erm+epochs=2~9",
        "predictions+stage1=simclr+stage1.epochs=2~9": "simclr+epochs=2~9",
    }


def test_a_model_that_a_method_starts_from_is_trained_as_alone(package):
    package.write("datasets/toy.py", TOY_DATASET)
    alone, inferred = resolve("methods", "erm", "toy").points[0], point("cnc", "toy")
    assert inferred.value("stage1.epochs") == 3  # for groups
    for name in ("dfr", "afr", "inlp", "dfr+groups=predictions"):
        assert point(name, "toy").components["stage1"].settings == alone.settings, name
    assert resolve("methods", "dfr+stage1.epochs=7", "toy").name == "dfr"
    assert point("dfr+stage1.epochs=3", "toy").components["stage1"].name == "erm"


def test_a_stage_1_can_be_stated_for_all(package):
    package.write("datasets/toy.py", TOY_DATASET.replace('"learning_rate": 0.5', '"stage1.epochs": 9', 1))
    epochs = {
        name: point(name, "toy").value("stage1.epochs") for name in ("jtt", "cnc", "dfr", "linear_probe+stage1=erm")
    }
    # zero_shot, which linear_probe names, has none: erm is then as alone
    assert epochs == {"jtt": 9, "cnc": 9, "dfr": 9, "linear_probe+stage1=erm": 7}
    assert [resolve("methods", name, "toy").name for name in ("erm", "gdro", "linear_probe")] == [
        "erm",
        "gdro",
        "linear_probe",
    ]
    assert reads("toy", "jtt") == {"predictions": "erm+epochs=9"}
    assert reads("toy", "jtt+stage1.epochs=3") == {"predictions+stage1.epochs=3": "erm"}
    for name in (
        "dfr_inferred",
        "dfr_inferred+stage1=erm",
        "dfr_inferred+stage1.epochs=3+stage1=erm",
        "inlp+groups=clusters",
    ):
        parts = point(name, "toy").components  # the stage 1 of the method and of its groups is one
        assert parts["stage1"] == parts["groups"].components["stage1"]


def refused(dataset):
    """What a data set's file states in vain: layer and key of settings that nobody has, or that may not have this
    value."""
    kinds = ("methods", "inference", "encoders", "augment")
    known = {
        key for kind in kinds for base in list_components(kind) for key in read_declarations(kind, base)["SETTINGS"]
    }
    found = []
    for layer, values in read_declarations("datasets", dataset).get("PAPER_HYPERPARAMETERS", {}).items():
        stage, _, base = layer.rpartition("/")
        if layer == "*":
            found += [(layer, key) for key in values if key.removeprefix("stage1.") not in known]
            continue
        kind = next(kind for kind in kinds if base in list_components(kind))
        for key, value in values.items():
            try:
                if resolve(kind, base, dataset, stage).points[0].value(key) != value:
                    found.append((layer, key))
            except (SettingError, KeyError):
                found.append((layer, key))
    return found


@pytest.mark.parametrize("dataset", list_components("datasets"))
def test_published_settings_exist_and_are_allowed(dataset):
    assert refused(dataset) == []


def test_a_draw_per_seed():
    assert draw_for_seeds("colored_digits+draw=seed", [0, 1, 2]) == "colored_digits+draw=0~1~2"
    assert draw_for_seeds("colored_digits+draw=seed", [4]) == "colored_digits+draw=4"
    assert draw_for_seeds("colored_digits+draw=seed", [0]) == "colored_digits"
    assert draw_for_seeds("colored_digits+draw=seed+p_corr=0.77", [1]) == "colored_digits+draw=1+p_corr=0.77"


@pytest.mark.parametrize(
    "name", ["colored_digits", "colored_digits+draw=3", "colored_digits+draw=0~3", "cmnist+p_corr=0.9"]
)
def test_a_fixed_draw_is_the_same_for_every_seed(name):
    assert draw_for_seeds(name, [0, 1]) == name


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("methods", "cncc", ["unknown method 'cncc'; did you mean cnc? Known: ", "erm", "gdro", "jtt"]),
        ("datasets", "zzzz", ["unknown data set 'zzzz'. Known: amazon, "]),
        ("datasets", "colored_digit", ["'colored_digit'", "did you mean colored_digits?", "cmnist"]),
        ("inference", "cluster", ["'cluster'", "did you mean clusters?", "oracle"]),
        ("methods", "cnc+temprature=0.1", ["cnc", "'temprature'", "did you mean temperature?", "lambda"]),
        ("methods", "cnc+stage1.epoch=1", ["epoch'", "did you mean", "epochs?"]),
        ("methods", "cnc+lambda=0.5~1.5", ["lambda=1.5", "at least 0 and at most 1"]),
        ("methods", "cnc+groups=orakle", ["groups", "'orakle'", "did you mean oracle?", "predictions"]),
        ("methods", "cnc+encoder=lenett", ["encoder", "'lenett'", "did you mean lenet?"]),
        ("methods", "cnc+stage1.epochs=0", ["stage1.epochs=0", "at least 1"]),
        ("methods", "cnc+groups.restarts=0", ["groups.restarts=0", "at least 1"]),
    ],
)
def test_a_refusal_names_key_value_what_is_allowed_and_the_nearest(kind, text, words):
    message = refusal(kind, text)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "text", ["cnc+oracle.noise=0.1", "erm+groups=oracle", "cnc+groups=oracle+groups.restarts=3", "cmnist+epochs=3"]
)
def test_a_setting_of_something_else_is_refused(text):
    with pytest.raises(SettingError, match="unknown setting"):
        resolve("datasets" if text.startswith("cmnist") else "methods", text)


def test_a_refusal_states_the_default_in_effect():
    assert f"default {point('erm', 'colored_digits').value('epochs')}" in refusal(
        "methods", "erm+epochs=0", "colored_digits"
    )


@pytest.mark.parametrize(
    "text", ["cnc+", "cnc+lambda", "cnc+lambda=", "cnc+=1", "cnc+lambda=0.5~", "cnc+lambda=~0.5", "cnc++lambda=0.5"]
)
def test_what_is_not_key_and_value_is_refused(text):
    assert "key=value" in refusal("methods", text)


def test_a_key_set_twice_is_refused():
    assert "lambda" in refusal("methods", "cnc+lambda=0.5+lambda=0.6")


@pytest.mark.parametrize("name", ["", "Cnc", "base", "__init__", "../erm"])
def test_only_files_of_the_folder_are_names(name):
    assert "unknown" in refusal("methods", name)


def test_a_new_file_is_a_new_name(package):
    package.write("methods/toy.py", TOY_METHOD)
    assert "toy" in list_components("methods")
    assert point("toy+strength=2").settings["strength"] == 2.0


def test_declarations_are_read_without_running_the_file(package):
    package.write("methods/toy.py", TOY_METHOD + "raise RuntimeError\n")
    assert point("toy").settings["epochs"] == 7


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("float_(0.1)", r"toy\.py, line 2: SETTINGS: .*'source': use only functions of despur/specs/settings\.py"),
        ("np.e", r"toy\.py, line 2: SETTINGS: name 'np' is not defined: use only"),
        ("0.1", r'toy\.py: strength in SETTINGS is 0\.1: declare it and its source, such as "temperature": float_'),
    ],
)
def test_what_is_no_setting_is_named_with_the_remedy(package, declared, said):
    package.write("methods/toy.py", f'"""Toy."""\nSETTINGS = {{"strength": {declared}}}\n')
    with pytest.raises(SettingError, match=said):
        point("toy")


def test_parse_takes_apart_what_join_puts_together():
    assert parse("cnc+b=1~2+a=x") == ("cnc", {"b": ["1", "2"], "a": ["x"]})
    assert join("cnc", {"b": "1~2", "a": "x"}) == "cnc+a=x+b=1~2"
    assert parse("cnc") == ("cnc", {})


def test_names_resolve_fast_and_without_heavy_imports():
    script = """
import sys, time
from despur.orchestration import experiments
from despur.specs import paths, resolution
from despur.storage import digest
resolution.resolve("methods", "cnc+lambda=0.2~0.4+stage1.epochs=1", "cmnist")
assert time.process_time() < 1
print(*sorted({"torch", "torchvision", "pandas", "numpy", "sklearn", "scipy", "umap", "matplotlib"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
