"""What the project's visitors rely on: public checks call the same targets as .ci/run, versions are one."""

import re
import tomllib

import yaml
from project import SOURCE


def read_targets(text):
    """The targets of make in a workflow or script; a bare ``make`` is reproduce."""
    found = re.findall(r"(?:^|run: |\s)make(?: ([a-z-]+))?$|\"\) make ([a-z-]+)$", text, re.MULTILINE)
    return {first or second or "reproduce" for first, second in found}


def load_workflow(name):
    return yaml.safe_load((SOURCE / f".github/workflows/{name}.yml").read_text())


def test_public_checks_call_the_targets_of_ci():
    text = (SOURCE / ".ci/run").read_text()
    ours = {
        re.sub(r".*make ?", "", line).strip() or "reproduce"
        for line in text.splitlines()
        if re.search(r"\bmake\b", line)
    }
    matrix = load_workflow("checks")["jobs"]["make"]["strategy"]["matrix"]
    public = {*matrix["target"], *(each["target"] for each in matrix["include"])}
    public |= read_targets((SOURCE / ".github/workflows/weekly.yml").read_text())
    assert ours - {"environment", "test-slurm"} <= public  # every target builds the environment; SLURM needs root
    targets = set(re.findall(r"^([\w-]+):", (SOURCE / "Makefile").read_text(), re.MULTILINE))
    assert public <= targets


def test_published_is_what_targets_make():
    jobs = load_workflow("publish")["jobs"]
    runs = "\n".join(f"run: {step['run']}" for job in jobs.values() for step in job["steps"] if "run" in step)
    targets = set(re.findall(r"^([\w-]+):", (SOURCE / "Makefile").read_text(), re.MULTILINE))
    assert read_targets(runs) == {"docs", "test-wheel"} <= targets
    assert {job["if"] for job in jobs.values()} == {"github.ref_type == 'branch'", "github.ref_type == 'tag'"}
    assert all(job["permissions"]["contents"] in ("read", "write") for job in jobs.values())  # for the checkout


def test_actions_are_pinned_by_commit():
    text = "".join(file.read_text() for file in (SOURCE / ".github/workflows").glob("*.yml"))
    used = re.findall(r"uses: (.*)", text)
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", each) for each in used)


def test_versions_are_one():
    version = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["version"]
    cited = yaml.safe_load((SOURCE / "CITATION.cff").read_text())
    newest = re.search(r"^## \[(\d.*)\] - (\S+)$", (SOURCE / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest.groups() == (cited["version"], str(cited["date-released"])) and newest[1] == version


def test_hooks_run_programs_of_the_environment():
    hooks = yaml.safe_load((SOURCE / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    lint = re.search(r"^lint:.*\n\t(.*)", (SOURCE / "Makefile").read_text(), re.MULTILINE)[1]
    for hook in hooks:
        program = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert program in lint and hook["language"] == "system"
