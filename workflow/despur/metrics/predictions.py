"""Test predictions of a run, and the metrics that are functions of them: of the model itself, of its nearest
neighbors, of linear probes.

An attacker's predictions (leakage) are not among them: near chance they cannot be made small, and each record would
have to fit it again."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from despur.metrics import probes
from despur.metrics.codes import encode_logits, encode_predicted
from despur.metrics.groups import Row, mean
from despur.metrics.rows import measure_accuracies, predict_neighbors
from despur.specs.paths import Run
from despur.storage.store import Array, Dataset

ACCURACY = "average_accuracy"  # the metric that stands for the model's own predictions


class Prediction(NamedTuple):
    """Codes uint8 (N,) of every sample of a split; ``metric``, ``group``: whose value is the share that is right."""

    split: str
    metric: str
    group: str
    codes: Array


def predict(dataset: Dataset, run: Run, outputs: Mapping[str, Array]) -> Iterator[Prediction]:
    """All predictions of a run on test splits. ``outputs``: float32 ``z`` and (with a head) ``logits`` of all
    samples."""
    z, logits, classes = outputs["z"], outputs.get("logits"), len(dataset.about["classes"])
    if logits is not None:
        for split in dataset.test_splits:
            rows = dataset.rows(split)
            yield Prediction(split, ACCURACY, "", encode_logits(logits[rows], dataset.y[rows]))
            if k := run.spec.settings.get("neighbours"):
                voted = predict_neighbors(dataset, rows, z, k)
                yield Prediction(split, f"knn{k}_accuracy", "", encode_predicted(voted, dataset.y[rows], classes))
    if probes.apply(dataset, logits):
        yield from predict_with_probes(dataset, probes.standardize(z, dataset.rows("train")))


def predict_with_probes(dataset: Dataset, z: Array) -> Iterator[Prediction]:
    """What linear probes of the class and of the domain predict. ``z``: standardized."""
    classes, attributes = (len(dataset.about[names]) for names in ("classes", "attributes"))
    for metric, share, _, classifier in probes.of_class(dataset, z):
        for split in dataset.test_splits:
            rows = dataset.rows(split)
            yield Prediction(
                split, metric, share, encode_predicted(classifier.predict(z[rows]), dataset.y[rows], classes)
            )
    a = dataset.a
    for split, rows, predicted in probes.domains(dataset, z, dataset.test_splits):
        yield Prediction(split, "domain_accuracy", "", encode_predicted(predicted, a[rows], attributes))


def score(dataset: Dataset, prediction: Prediction, weights: Array) -> Iterator[Row]:
    """All metrics that are functions of a prediction. ``weights`` (W,N): how often each sample of its split counts."""
    rows, correct = dataset.rows(prediction.split), (prediction.codes == 0).astype(float)
    if prediction.metric == ACCURACY:
        yield from measure_accuracies(dataset, rows, prediction.codes, weights)
    elif prediction.metric == "probe_accuracy":
        yield from probes.accuracies(dataset, rows, correct, prediction.group, weights)
    else:
        yield prediction.metric, prediction.group, mean(correct, weights)
