from despur.api import SplitDataset as SplitDataset
from despur.api import dataset as dataset
from despur.api import train as train
from despur.model import Model as Model
from despur.model import load as load
from despur.storage.finished_runs import load_metrics as load_metrics

__version__: str
