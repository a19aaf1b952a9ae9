from despur.library.new_images import read_images as read_images
from despur.library.split_dataset import SplitDataset as SplitDataset
from despur.library.split_dataset import dataset as dataset
from despur.library.train import train as train
from despur.model import Model as Model
from despur.model import load as load
from despur.storage.finished_runs import load_metrics as load_metrics

__version__: str
