"""Every command of documents and pages works: those of Snakemake and make are planned, the others are run."""

import importlib.util
import json
import re
import subprocess

import forked
import pytest
import yaml
from documents import DOCUMENTS, FENCE, commands_of_page, documented, examples, group_snakemake, split
from project import CONFIGS, SOURCE, Project, tiny_project

COMMANDS = documented()
MAKE, PYTHON = ([line for line in COMMANDS if split(line)[1][0] == program] for program in ("make", "python"))
PAGES = [page for page in DOCUMENTS if not page.stem.startswith("adding_")]  # those: test_examples.py
PROGRAMS = [code for page in PAGES for kind, code in FENCE.findall(page.read_text()) if kind == "python"]
RUN = re.compile(r"results/runs/[^/\s]+/[^/\s*]+/s[\d-]+")
READERS = [program for program in PROGRAMS if "images" in program or "load_metrics" in program]  # of finished runs
BUNDLED = "results/runs/colored_digits/"
HOURS = ("benchmarks", "despur.reporting.pages.error_rates")
SMOKE = "snakemake results/smoke/scorecard.html --configfile config/smoke.yaml"  # make smoke ends with it
IMAGES = 'import numpy\nimages = numpy.load("results/data/colored_digits/inputs.npy")[:4]\n'


def become_reader(project):
    """A git repository, and the environment of a reader without data, with one GPU, as a profile wants one."""
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    name = ("-c", "user.name=reader", "-c", "user.email=reader@localhost")
    subprocess.run(["git", *name, "commit", "-q", "--allow-empty", "-m", "A clone"], cwd=project.root, check=True)
    kept = {key: value for key, value in project.environment.items() if not key.startswith("DESPUR_")}
    project.environment = {**kept, "CUDA_VISIBLE_DEVICES": "0"}
    return project


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A fresh clone with the files that the pages show, and with what their programs write."""
    project = become_reader(Project.fresh(tmp_path_factory.mktemp("clone") / "project"))
    for page in PAGES:
        for file, text in examples(page.stem).items() if page.parent.name == "docs" else ():
            (project.root / file).write_text(text)
    for program in PROGRAMS:
        if program not in READERS:
            project.python("-c", program)
    return project


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project with the runs on bundled data that commands and programs of the documents read."""
    project = become_reader(tiny_project(tmp_path_factory).copy(tmp_path_factory.mktemp("finished") / "project"))
    (project.root / "tests").mkdir()  # into which new components write theirs
    runs = {run for text in (*PYTHON, *PROGRAMS) for run in RUN.findall(text) if run.startswith(BUNDLED)}
    project.snakemake(*(f"{run}/metrics.csv" for run in sorted(runs)))
    return project


def plan(project, environment, arguments):
    """Let Snakemake plan a call; a test is skipped where the plugin of a profile is not installed."""
    profiles = [project.root / word / "profile.yaml" for word in arguments if word.startswith("profiles/")]
    for executor in (yaml.safe_load(profile.read_text()).get("executor") for profile in profiles):
        if executor and not importlib.util.find_spec(f"snakemake_executor_plugin_{executor}"):
            pytest.skip(f"the plugin for {executor} is not installed")
    environment = {key: value.replace("/shared", str(project.root)) for key, value in environment.items()}
    if "SNAKEMAKE_OUTPUT_CACHE" in environment:
        (project.root / "folder").mkdir(exist_ok=True)
    own = Project(project.root)
    own.environment = project.environment | environment
    code, text = own.call_snakemake(*arguments, "-n")
    assert code == 0, text


def is_configuration(arguments):
    """Whether a call is of all targets of a configuration."""
    return arguments[:1] == ["--configfile"] and arguments[1:] in [[config] for config in CONFIGS]


def plan_make(words):
    """What make would do."""
    files = [word.split("=")[-1] for word in words if word.endswith(".yaml")]
    assert all((SOURCE / file).exists() for file in files), words
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    return subprocess.run([*words, "-n"], cwd=SOURCE, env=bare, capture_output=True, text=True, check=True).stdout


def test_the_commands_of_the_documents_are_seen():
    assert {"make smoke", "snakemake -n", "snakemake fair_cl", "python -m despur list methods"} <= set(COMMANDS)
    assert len(COMMANDS) > 50 and len(MAKE) > 7 and len(PYTHON) > 9 and len(PROGRAMS) >= 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("environment", "arguments"),
    [
        call
        for call in group_snakemake([*COMMANDS, SMOKE])
        if "--report" not in call[1] and not is_configuration(call[1])  # test_report.py, test_workflow.py
    ],
    ids=lambda value: " ".join(value)[:60],
)
def test_what_is_typed_at_snakemake_can_be_planned(clone, environment, arguments):
    plan(clone, environment, arguments)


@pytest.mark.parametrize("command", MAKE)
def test_what_is_typed_at_make_can_be_planned(command):
    assert plan_make(command.split())


def test_make_smoke_ends_with_what_it_made_what_it_means_and_what_to_type_next():
    *_, made, means, following = plan_make(["make", "smoke"]).splitlines()
    assert re.fullmatch(r'echo "Made: .+ results/smoke/scorecard\.html, below results/smoke\."', made)
    assert re.fullmatch(r'echo "It means: .+"', means) and re.match(r'echo "Next: type make ', following)


def test_make_runs_the_bundled_configuration():
    (command,) = re.findall(r"^.*&& (snakemake .*config\.yaml)$", plan_make(["make"]), re.MULTILINE)
    ((_, arguments),) = group_snakemake([command])
    assert arguments == ["--configfile", "config.yaml"]


def test_every_target_of_make_is_named_in_a_document():
    targets = re.findall(r"^([a-z-]+):.*## ", (SOURCE / "Makefile").read_text(), re.MULTILINE)
    named = {split(command)[1][1] for command in MAKE if command != "make"}
    assert set(targets) - named == {"reproduce"}  # make alone


@pytest.mark.long
@pytest.mark.parametrize("command", [line for line in PYTHON if "reporting.pages.scorecard" not in line])
def test_what_is_typed_at_python_runs(clone, finished, command):
    environment, (_, _, module, *arguments) = split(command)
    if other := [run for run in RUN.findall(command) if not run.startswith(BUNDLED)]:
        plan(clone, {}, [f"{run}/metrics.csv" for run in other])
        arguments = [arguments[0], "--help"]
    elif not arguments or module in HOURS:
        arguments = ["--help"]
    elif arguments in (["show"], ["record"], ["run"], ["check"], ["search"]):  # a sentence names it
        arguments = [*arguments, "--help"]
    elif arguments[0] in ("run", "search"):
        arguments.insert(1, "--dry-run")
    project = clone if arguments[0] == "check" else finished
    own = Project(project.root)
    paths = [project.environment["PYTHONPATH"], *(str(SOURCE / path) for path in environment.values())]
    own.environment = project.environment | {"PYTHONPATH": ":".join(paths)}
    code, text = forked.run(["-m", module, *arguments], own.root, own.environment, 600)
    # there is no data, nobody to ask, and no scorecard
    unmet = {"check": "missing|there|holds no", "fetch": "say --yes", "summary": "scorecard.csv is not there"}.get(
        arguments[0]
    )
    lacks_data = unmet and re.search(rf"^error: .*({unmet})", text, re.MULTILINE)
    assert "Traceback" not in text and (code == 0 or lacks_data), text


@pytest.mark.long
@pytest.mark.parametrize("program", READERS)
def test_programs_that_use_finished_runs_run(finished, program):
    finished.python("-c", IMAGES + program)


@pytest.mark.long
def test_the_notebook_runs(finished):
    cells = json.loads((SOURCE / "docs/finished_runs.ipynb").read_text())["cells"]
    program = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    finished.python("-c", f"import os\nos.chdir('docs')\n{program}\nassert len(table) and len(groups)")


@pytest.mark.long
@pytest.mark.parametrize("config", ["config.yaml", "config/smoke.yaml", "own.yaml"])
def test_the_commands_of_a_scorecard_make_what_it_lacks(clone, config):
    (clone.root / "own.yaml").write_text(
        "papers: [fair_cl]\nseeds: 1\ndatasets: {moji: scene_embeddings}\noutputs: results/own\n"
    )
    clone.python("-m", "despur.reporting.pages.scorecard", "--configfile", config, "--output", "page")
    page = (clone.root / "page.html").read_text()
    found = commands_of_page(page)
    for words in (split(command)[1] for command in found):
        if words[0] == "despur":
            clone.python("-m", *words, "--help")
        else:
            assert words[0] == "snakemake" or plan_make(words)
    calls = group_snakemake(found)
    assert calls
    for environment, arguments in calls:
        assert ("page.yaml" in arguments) == (config == "own.yaml")  # written beside the page
        plan(clone, environment, arguments)


@pytest.mark.long
def test_a_command_that_fails_is_seen(clone):
    with pytest.raises(AssertionError):  # a target after --configfile is read as another configuration
        plan(clone, {}, ["--configfile", "config/smoke.yaml", "results/smoke/papers/cnc/table_1.md"])
    with pytest.raises(subprocess.CalledProcessError):
        plan_make(["make", "nothing"])
