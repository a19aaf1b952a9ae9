"""Inferred attributes as classes, for methods that compare them with the true class."""

import numpy as np

from despur.compute.task import Task
from despur.specs.declarations import read_declarations
from despur.specs.settings import SettingError
from despur.storage.store import Array


def predict_classes(task: Task, inference: str) -> Array:
    """The classes that the inference predicts for the training samples, (N,).

    An inference that reads attributes gives values of the attribute. Each value then stands for the class in which
    it has the largest share, such as land for landbirds. A method that calls this declares ``as_class`` of its
    groups; raises SettingError for an inference that declares NAMES_NO_CLASS where it does not."""
    y, groups, declaration = task.y, task.inferred, read_declarations("inference", inference)
    if declaration.get("NAMES_NO_CLASS"):
        raise SettingError(
            f"groups={inference}: its values name no class, and this method compares them with the true class: it must "
            "declare as_class of its groups"
        )
    if not (declaration.get("READS_TRUE_GROUPS") or declaration.get("READS_VALIDATION_GROUPS")):
        return groups
    counts = np.zeros((int(groups.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (groups, y), 1)
    return (counts / np.maximum(counts.sum(axis=0), 1)).argmax(axis=1)[groups]
