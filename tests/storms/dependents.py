"""Every kind of result, its key, and the files of the package that decide it, found in another way than digest.py does:
what the rules start, what a specification names, and what Python's own ModuleFinder would load for these."""

import re
from functools import cache
from modulefinder import ModuleFinder
from pathlib import Path

from project import SOURCE

from despur.specs.declarations import list_components
from despur.specs.paths import ResultPath, locate_result
from despur.specs.settings import SettingError
from despur.storage import digest

# By stage: the file of the rule that makes its results.
RULES = {stage: stage for stage in ("data", "stage1", "groups", "evaluate", "saliency")} | {"runs": "stage2"}
BUILT = ("encoder", "augment", "source")  # components that a job loads: another stage runs stage1 and groups
PATHS = {
    "datasets": ["results/data/{}"],
    "inference": ["results/groups/colored_digits/{}/s0"],
    "methods": ["results/runs/colored_digits/{}/s0", "results/stage1/colored_digits/{}/s0"],
    "encoders": ["results/runs/colored_digits/erm+encoder={}/s0", "results/stage1/colored_digits/erm+encoder={}/s0"],
}
PAGES = ("despur/reporting/pages/scorecard.py", "despur/reporting/pages/comparison.py")


def exists(path):
    """Whether a component makes a result of this stage, under this name."""
    result = locate_result(path)
    try:
        return bool((result.sweep if result.name else result.datasets).points)
    except SettingError as error:
        assert "cannot be a stage-1 model" in str(error) or "is called" in str(error), error
        return False


def list_results():
    """What asks for each result's key: one result of every component at every stage that it has, one of the stages that
    read a run, each script of a paper, and the pages about all papers."""
    named = [path.format(name) for kind, paths in PATHS.items() for name in list_components(kind) for path in paths]
    found = {path: locate_result(path) for path in named if exists(path)}
    for stage in ("evaluate", "saliency"):
        run = locate_result("results/runs/colored_digits/cnc/s0")
        found[f"{stage} of {run.folder}"] = ResultPath(run.root, stage, run.dataset, run.name, run.seeds)
    scripts = [
        path
        for name in ("tables", "figures", "projections")
        for path in SOURCE.glob(f"workflow/despur/papers/*/{name}.py")
    ]
    return found | {text: text for text in (*PAGES, *(str(path.relative_to(SOURCE / "workflow")) for path in scripts))}


def read_key(result):
    """The text in which any change of a result's code shows."""
    return digest.script_digest(result) if isinstance(result, str) else digest.cache_key(result)


def name_components(spec):
    """The files that a specification names, but those of earlier stages."""
    parts = [part for key, part in spec.components.items() if key in BUILT]
    return {f"{spec.kind}/{spec.base_name}.py"}.union(*map(name_components, parts))


def find_entries(package, result):
    """The files with which Python begins for a result: what the rule starts, and what this loads by its name."""
    if isinstance(result, str):
        return {package.parent / result}
    rule = (SOURCE / f"workflow/rules/{RULES[result.stage]}.smk").read_text()
    module = re.search(r"-m despur[.](\w+) {output", rule)[1]
    entries = {package / f"{module}.py"}
    if result.stage == "evaluate":
        entries |= {file for file in package.glob("metrics/*.py") if "\ndef measure(" in file.read_text()}
    if result.stage not in ("evaluate", "saliency"):
        sweep = result.datasets if result.stage == "data" else result.sweep
        entries |= {package / file for point in sweep.points for file in name_components(point)}
    return entries


class Finder(ModuleFinder):
    """Does not follow the package's own __init__.py, which imports on demand. Knows which modules imports name."""

    named = frozenset()

    def scan_code(self, code, module):
        if module.__name__ != "despur":
            super().scan_code(code, module)

    def import_hook(self, name, *others, **more):
        self.named |= {name}
        return super().import_hook(name, *others, **more)


@cache
def find_imports(package, entry):
    """The files that Python would load for a file, wherever its functions import them. Of a folder's __init__.py those
    that an import names: others decide nothing."""
    finder = Finder(path=[str(package.parent)])
    finder.run_script(str(entry))
    modules = [each for each in finder.modules.values() if each.__file__]
    kept = [
        each for each in modules if not each.__path__ or (each.__name__ in finder.named and each.__name__ != "despur")
    ]
    return {Path(module.__file__) for module in kept}


def find_code(package, result):
    """The files of a copy of the package and of papers that decide a result."""
    return set().union(*(find_imports(package, entry) for entry in find_entries(package, result)))
