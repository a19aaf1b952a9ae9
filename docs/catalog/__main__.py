"""Write the source of the site: ``python -m catalog build/docs-source``. Sphinx makes the pages of it (``make
docs``)."""

import sys
from pathlib import Path

from catalog.pages import Site

if __name__ == "__main__":
    Site().write(Path(sys.argv[1]))
