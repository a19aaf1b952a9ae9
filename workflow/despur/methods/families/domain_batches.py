"""What methods share whose samples belong to domains or groups."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from despur.compute.task import Task
from despur.methods.base import GradientMethod
from despur.methods.families.predicted_classes import predict_classes
from despur.samplers.domains import balanced, domains
from despur.storage.store import Array


def number_groups(task: Task) -> Array:
    """The class-attribute group of each training sample, (N,), of the groups that occur; the class, where the method
    reads no attribute."""
    columns = [task.y] if task.inferred_attribute is None else [task.y, task.inferred_attribute]
    return np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].ravel()


class DomainMethod(GradientMethod):
    """Each sample has a domain, ``rows`` (N,) (despur/samplers/domains.py; setting ``domain``, where a method has it),
    a number below ``num_domains``; ``domain`` holds the same on the device.
    With the setting ``sampler`` "balanced", mini-batches show each domain equally often."""

    rows: Array
    num_domains: int

    def setup(self) -> None:
        reading = self.settings.get("domain", "attribute")
        majority = reading == "majority"
        inferred = predict_classes(self.task, self.settings["groups"]) if majority else self.task.inferred
        self.rows = domains(self.task.y, inferred, reading)
        self.domain, self.num_domains = self.task.per_sample(self.rows), int(self.rows.max()) + 1

    def metadata(self) -> dict[str, Any]:
        return {"domain_sizes": np.bincount(self.rows).tolist()}

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        if self.settings["sampler"] == "balanced":
            return balanced(rng, self.rows, self.settings["batch_size"])
        return super().epoch_batches(rng)
