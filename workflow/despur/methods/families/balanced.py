"""What methods share that treat small groups, or small classes, otherwise than large ones."""

import numpy as np

from despur.compute.task import Task
from despur.storage.store import Array


def number_groups(task: Task) -> Array:
    """The class-attribute group of each training sample, (N,), of the groups that occur; the class, where the method
    reads no attribute."""
    columns = [task.y] if task.inferred_attribute is None else [task.y, task.inferred_attribute]
    return np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].ravel()
