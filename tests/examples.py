"""The examples in the docstrings of public names, as doctests. ``python tests/examples.py`` runs them where nothing but
the core of the package is installed (make test-wheel)."""

import doctest
import re
import sys
from collections.abc import Iterator
from importlib import import_module

from despur.specs.declarations import list_components
from despur.specs.extras import find_extra

PACKAGES = ("despur", "despur.losses", "despur.metrics", "despur.samplers", "despur.inference")


def list_public() -> dict[str, object]:
    """What the packages publish, by name; and inferences, which are public by the names of their files."""
    published = {f"{name}.{each}": name for name in PACKAGES for each in import_module(name).__all__}
    found = {name: getattr(import_module(package), name.rpartition(".")[2]) for name, package in published.items()}
    modules = [f"despur.inference.{name}" for name in list_components("inference")]
    return found | {name: import_module(name).infer for name in modules}


def list_examples() -> Iterator[tuple[str, doctest.DocTest]]:
    """The examples of each public name, which see what its file sees; last those that read what one of them makes."""
    for name, found in sorted(list_public().items(), key=lambda item: item[0].startswith("despur.load")):
        seen = vars(sys.modules[found.__module__])
        yield from ((name, test) for test in doctest.DocTestFinder(recurse=False).find(found, name, globs=dict(seen)))


def run_example(test: doctest.DocTest) -> str:
    """What is wrong with an example; nothing where it holds."""
    lines: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(verbose=False, optionflags=flags).run(test, out=lines.append)  # else it reads sys.argv
    return "".join(lines)


def main() -> None:
    wrong, lacking, count = [], set(), 0
    for name, test in list_examples():
        said = run_example(test)
        extras = {find_extra(module) for module in re.findall(r"No module named '(\w+)'", said)} - {""}
        lacking |= {f"{name} (needs {extra})" for extra in extras}
        wrong += [said] if said and not extras else []
        count += bool(test.examples) and not said
    print(*wrong, f"{count} examples hold, without extras; not run: {', '.join(sorted(lacking))}", sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
