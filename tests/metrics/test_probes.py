"""Linear probes: on which labels they are fitted, what they are scored on."""

import numpy as np
import pandas as pd
import pytest
from helpers import quick
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from despur.metrics.probes import labeled, probe_rows, standardize
from despur.samplers.labeled import label_ranks
from despur.storage.store import Dataset

RNG = np.random.default_rng


@quick
@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 9))
def test_labels_are_balanced_to_within_one_while_classes_last(y, seed):
    y = np.array(y)
    ranks = label_ranks(RNG(seed), y)
    assert sorted(ranks) == list(range(len(y)))
    left = np.bincount(y)[np.unique(y)]
    for count in range(len(y) + 1):
        held = np.array([(y[ranks < count] == label).sum() for label in np.unique(y)])
        lasting = held[held < left]
        assert held.sum() == count
        assert np.ptp(held[held < left]) <= 1 if len(lasting) else True
        assert all(number >= held.max() - 1 for number in lasting)


def test_labels_are_drawn_at_random():
    y = np.arange(100) % 2
    first, again, other = (label_ranks(RNG(seed), y) for seed in (0, 0, 1))
    assert (first == again).all() and (first != other).any()


def test_a_lower_block_is_labeled_first():
    y, block = np.arange(60) % 2, np.arange(60) // 20
    ranks = label_ranks(RNG(0), y, block)
    assert [set(block[(ranks >= 20 * i) & (ranks < 20 * i + 20)]) for i in range(3)] == [{0}, {1}, {2}]


def dataset(seed=0, per_split=40):
    """Representations in which the class shows, and the domain as well."""
    rng = RNG(seed)
    split = np.repeat(["train", "val", "test_id", "test_ood"], per_split)
    y = rng.integers(0, 2, len(split))
    y[:per_split] = np.arange(per_split) % 2
    a = np.where(split == "val", 2, np.where(split == "test_ood", 3, np.arange(len(split)) // 2 % 2))
    rank = np.full(len(split), -1)
    rank[:per_split] = label_ranks(rng, y[:per_split])
    table = pd.DataFrame({"split": split, "y": y, "a": a, "original": np.arange(len(split)), "label_rank": rank})
    about = {
        "classes": ["3", "5"],
        "attributes": list("rbpg"),
        "label_fractions": {"most": 30, "few": 6, "middle": 12},
        "select": "val",
    }
    z = rng.normal(size=(len(split), 4)) * [1, 1, 1, 50]
    z[:, 0] += 2 * y
    z[:, 1] += 6 * (a == 1)
    return Dataset(np.zeros((len(split), 1, 1, 1), np.uint8), table, about), z


def metrics(data, z):
    return {
        (split, *row[:2]): float(np.squeeze(row[2]))
        for split, row in probe_rows(data, z, {split: np.ones((1, len(data.rows(split)))) for split in data.splits})
    }


def test_shares_are_nested_and_sorted():
    data, _ = dataset()
    shares = labeled(data)
    assert [(name, len(rows)) for name, rows in shares.items()] == [("few", 6), ("middle", 12), ("most", 30)]
    assert set(shares["few"]) < set(shares["middle"]) < set(shares["most"]) < set(data.rows("train"))


def test_without_declared_shares_all_training_samples_have_labels():
    data, _ = dataset()
    del data.about["label_fractions"]
    assert [(name, list(rows)) for name, rows in labeled(data).items()] == [("100%", list(range(40)))]


def test_probes_are_logistic_regressions_on_standardized_representations():
    data, z = dataset()
    found, x = metrics(data, z), (z - z[:40].mean(axis=0)) / z[:40].std(axis=0)
    rank, y = data.table["label_rank"].to_numpy(), data.y
    for name, count in data.about["label_fractions"].items():
        fitted = (rank >= 0) & (rank < count)
        classifier = LogisticRegression(max_iter=1000).fit(x[fitted], y[fitted])
        for split in ("val", "test_id", "test_ood"):
            rows = data.rows(split)
            assert found[split, "probe_accuracy", name] == pytest.approx(classifier.score(x[rows], y[rows]))
        rest = np.setdiff1d(data.rows("train"), np.flatnonzero(fitted))
        assert found["train", "probe_accuracy", name] == pytest.approx(classifier.score(x[rest], y[rest]))
        right = (classifier.predict(x) == y)[data.rows("test_id")]
        for value, domain in enumerate("rb"):
            inside = data.table["a"].to_numpy()[data.rows("test_id")] == value
            assert found["test_id", "probe_accuracy_in_domain", f"{name}, {domain}"] == pytest.approx(
                right[inside].mean()
            )
    assert ("val", "probe_accuracy_in_domain", "few, p") not in found


def test_the_domain_classifier_is_scored_on_held_out_samples_of_training_domains():
    data, z = dataset()
    found = metrics(data, z)
    assert found["test_id", "domain_accuracy", ""] > 0.95
    assert [key for key in found if key[1] == "domain_accuracy"] == [("test_id", "domain_accuracy", "")]
    z[:, 1] = RNG(1).normal(size=len(z))
    assert metrics(data, z)["test_id", "domain_accuracy", ""] < 0.75


def test_a_held_out_training_domain_is_scored_by_the_labels_of_the_others():
    data, z = dataset()
    x, a, y = standardize(z, data.rows("train")), data.table["a"].to_numpy(), data.y
    fitted, train = labeled(data)["most"], data.rows("train")
    scores = []
    for held_out in (0, 1):
        others, inside = fitted[a[fitted] != held_out], train[a[train] == held_out]
        scores.append(LogisticRegression(max_iter=1000).fit(x[others], y[others]).score(x[inside], y[inside]))
    assert metrics(data, z)["train", "probe_accuracy_held_out_domain", "most"] == pytest.approx(np.mean(scores))


def test_standardized_by_hand():
    """By the first two rows; a dimension that is constant there is 0 in all."""
    z = np.array([[0, 5, 0.3], [2, 5, 0.3], [4, 9, 0.3]], np.float32)
    assert standardize(z, np.array([0, 1])).tolist() == [[-1, 0, 0], [1, 0, 0], [3, 0, 0]]


def test_scores_do_not_depend_on_the_scale_of_representations():
    data, z = dataset()
    assert metrics(data, z) == metrics(data, z * [1e3, 1e-2, 7, 1] + 5)


def test_other_penalties_are_shown_for_the_fewest_labels():
    found = metrics(*dataset())
    assert {(key[1], key[2]) for key in found if "C=" in key[1]} == {
        ("probe_accuracy_C=0.01", "few"),
        ("probe_accuracy_C=100", "few"),
    }
