"""What the server does once for all its forks: it imports libraries and parses the package."""

import gc
import sys
from contextlib import suppress
from importlib import import_module

from despur.specs.declarations import PACKAGE
from despur.storage.digest import parse_code
from despur.warm.child import SYNTAX

LIBRARIES = """
torch scipy.io scipy.linalg scipy.optimize scipy.spatial scipy.special scipy.stats sklearn.cluster sklearn.datasets
sklearn.decomposition sklearn.gaussian_process sklearn.kernel_approximation sklearn.linear_model sklearn.manifold
sklearn.metrics sklearn.mixture sklearn.multiclass sklearn.neighbors sklearn.preprocessing sklearn.svm pyarrow.dataset
pyarrow.parquet pyarrow.pandas_compat pandas safetensors.numpy yaml jsonschema jinja2 matplotlib.pyplot
matplotlib.backends.backend_pdf seaborn PIL.Image umap captum.attr
"""


def import_libraries() -> None:
    """Import the libraries; not those of extras that are not installed."""
    for name in LIBRARIES.split():
        with suppress(ModuleNotFoundError):
            import_module(name)


def parse_package() -> None:
    """Parse the package's code, on which every job's cache key depends; what is edited later is parsed by the job."""
    for file in PACKAGE.rglob("*.py"):
        parse_code(file)


def forget_package() -> None:
    """Let forks of this process import the package again, which may be edited meanwhile; all but what has parsed its
    code. A fork that looked at all modules would copy much of the memory that it shares."""
    for name in list(sys.modules):
        if name.partition(".")[0] == "despur" and name != SYNTAX:
            del sys.modules[name]


def prepare_forks() -> None:
    """Forget the package, and keep the garbage collector of each fork away from the libraries' objects: to look at them
    takes it more time than many jobs need, and copies the memory that forks share."""
    forget_package()
    gc.collect()
    gc.freeze()
