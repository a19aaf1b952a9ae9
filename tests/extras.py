"""Import the libraries that each extra of the package brings, where all extras are installed (make test-extras)."""

import re
from importlib import import_module
from importlib.metadata import requires

from despur.specs.extras import DISTRIBUTIONS

MODULES = {distribution: module for module, distribution in DISTRIBUTIONS.items()}


def list_modules() -> dict[str, str]:
    """The extra of each module, by name."""
    matches = (re.match(r"([\w-]+).*; extra == [\"'](\w+)", line) for line in requires("despur") or [])
    pairs = (match.groups() for match in matches if match)
    return {MODULES.get(name, name.replace("-", "_")): extra for name, extra in pairs if name != "despur"}


def main() -> None:
    for module, extra in list_modules().items():
        import_module(module)
        print(f"{extra}: {module}")


if __name__ == "__main__":
    main()
