"""Evaluation: what a bootstrap sample is, and the bound of Theorem 3.1. (Values of whole runs: test_runs.py.)"""

import numpy as np
import pandas as pd
import pytest
from helpers import tiny_dataset

from despur.evaluate import counts, evaluate_run
from despur.metrics import bound, fairness
from despur.metrics.rows import theorem
from despur.specs.paths import Run
from despur.specs.resolution import resolve

RUN = Run(resolve("datasets", "colored_digits").points[0], resolve("methods", "erm", "colored_digits").points[0], 0)


@pytest.fixture(scope="module")
def dataset():
    """A data set whose test originals are rendered two or three times each."""
    found = tiny_dataset(train=60, held_out=60)
    test = found.rows("test")
    found.table.loc[test, "original"] = 1000 + np.sort(np.arange(len(test)) % 25)
    return found


@pytest.fixture(scope="module")
def outputs(dataset):
    rng = np.random.default_rng(0)
    z = (rng.normal(size=(len(dataset.y), 6)) + dataset.y[:, None]).astype(np.float32)
    head = rng.normal(size=(5, 6)).astype(np.float32)
    return {"z": z, "logits": z @ head.T, "head": head}


def test_a_bootstrap_sample_draws_originals_with_all_their_renderings(dataset):
    rows = dataset.rows("test")
    weights = counts(dataset, "colored_digits", "test", 50)
    originals = dataset.table["original"].to_numpy()[rows]
    assert weights.shape == (51, len(rows))
    assert (weights[0] == 1).all()
    first = np.unique(originals, return_index=True)[1]
    for drawn in weights[1:]:
        for original in np.unique(originals):
            assert len(set(drawn[originals == original])) == 1
        assert drawn[first].sum() == len(first)  # as many originals as there are
    assert len({tuple(drawn) for drawn in weights}) == 51
    assert weights[1:].mean() == pytest.approx(1, abs=0.05)


def test_all_methods_and_settings_of_a_data_set_share_their_bootstrap_samples(dataset, outputs):
    again = counts(dataset, "colored_digits", "test", 5)
    assert (again == counts(dataset, "colored_digits", "test", 5)).all()
    assert not (again == counts(dataset, "cmnist", "test", 5)).all()
    other = Run(resolve("datasets", "colored_digits+p_corr=0.9").points[0], RUN.spec, 0)
    for (_, (metric, group, value)), (_, (_, _, shifted)) in zip(
        evaluate_run(dataset, RUN, outputs, 5), evaluate_run(dataset, other, outputs, 5), strict=True
    ):
        np.testing.assert_equal(value, shifted, err_msg=f"{metric} {group}")


def test_the_first_value_is_that_without_a_bootstrap(dataset, outputs):
    plain = {(split, metric, group): value for split, (metric, group, value) in evaluate_run(dataset, RUN, outputs)}
    drawn = {(split, metric, group): value for split, (metric, group, value) in evaluate_run(dataset, RUN, outputs, 20)}
    assert plain.keys() == drawn.keys()
    for key, value in drawn.items():
        np.testing.assert_allclose(np.atleast_1d(value)[0], np.atleast_1d(plain[key])[0], err_msg=str(key))
    assert {len(np.atleast_1d(v)) for (split, *_), v in drawn.items() if split != "test"} == {1}
    assert len(drawn["test", "worst_group_accuracy", ""]) == 21


def test_a_bootstrap_value_is_the_metric_of_the_repeated_samples(dataset, outputs):
    rows, weights = dataset.rows("test"), counts(dataset, "colored_digits", "test", 3)
    found = {
        (metric, group): value
        for split, (metric, group, value) in evaluate_run(dataset, RUN, outputs, 3)
        if split == "test"
    }
    correct = outputs["logits"].argmax(axis=1) == dataset.y
    for i, times in enumerate(weights):
        drawn = np.repeat(rows, times.astype(int))
        assert found["average_accuracy", ""][i] == pytest.approx(correct[drawn].mean())
        members = dataset.groups[drawn].T
        assert found["worst_group_accuracy", ""][i] == pytest.approx(
            min(correct[drawn][own].mean() for own in members if own.any())
        )


# the bound of Theorem 3.1


def test_losses_and_bound_of_each_class_by_a_loop(dataset, outputs):
    rows, train = dataset.rows("test"), dataset.rows("train")
    y, a, logits, z = dataset.y, dataset.table["a"].to_numpy(), outputs["logits"], outputs["z"]
    found = pd.Series(
        {
            (m, g): float(np.atleast_1d(v)[0])
            for m, g, v in theorem(dataset, rows, z, logits, outputs["head"], np.ones((1, len(rows))))
        }
    )
    for label, name in enumerate(dataset.about["classes"]):
        known = sorted(set(a[train][y[train] == label]))
        assert len(known) > 1
        loss = {
            v: [
                min(np.log(np.exp(logits[i]).sum()) - logits[i, label], 2 * np.log(5))
                for i in rows
                if y[i] == label and a[i] == v
            ]
            for v in known
        }
        sizes = {v: sum(y[i] == label and a[i] == v for i in train) for v in known if loss[v]}
        average = sum(sizes[v] * np.mean(loss[v]) for v in sizes) / sum(sizes.values())
        assert found["class_average_loss", name] == pytest.approx(average, rel=1e-5)
        assert found["class_loss_ceiling", name] == pytest.approx(2 * np.log(5))
        assert found["class_worst_group_loss", name] == pytest.approx(
            max(np.mean(group) for group in loss.values() if group), rel=1e-5
        )
        groups = {v: [i for i in train if y[i] == label and a[i] == v] for v in known}
        distances = [
            np.mean([np.linalg.norm(z[i] - z[j]) for i in groups[v] for j in groups[w]])
            for v in known
            for w in known
            if v < w
        ]
        aligned = np.linalg.svd(outputs["head"])[1][0] * np.sqrt(2) * max(distances)
        assert found["class_bound_alignment", name] == pytest.approx(aligned, rel=1e-5)
        smallest = min(map(len, groups.values()))
        assert found["class_bound", name] - aligned == pytest.approx(
            2 * np.log(5) * np.sqrt(8 * np.log(len(known) / 0.05) / smallest), rel=1e-5
        )


def test_the_loss_is_clipped_and_otherwise_cross_entropy():
    logits = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, np.log(3.0)]])
    np.testing.assert_allclose(
        bound.clipped_cross_entropy(logits, np.array([0, 1, 1])), [np.log(2), 2 * np.log(2), np.log(4 / 3)]
    )


@pytest.mark.parametrize("seed", range(20))
def test_without_sampling_the_alignment_term_alone_bounds_the_gap(seed):
    """The step of the proof that is about the sample (Eq. 10 on): mean losses of two groups differ by at most B C1
    L_align."""
    rng = np.random.default_rng(seed)
    a, z = np.repeat([0, 1, 2], [5, 9, 2]), rng.normal(size=(16, 4)) * rng.uniform(0.1, 5)
    z += rng.normal(size=(3, 4))[a]
    head = rng.normal(size=(3, 4))
    loss = bound.clipped_cross_entropy(z @ head.T, np.zeros(16, int))
    means = [loss[a == value].mean() for value in range(3)]
    assert 0 < max(means) - min(means) <= bound.alignment_term(head, z, a)


def test_a_model_without_a_linear_head_has_no_bound(dataset, outputs):
    rows = evaluate_run(dataset, RUN, {"z": outputs["z"], "logits": outputs["logits"]})
    assert not any("bound" in metric for _, (metric, _, _) in rows)


def test_what_is_told_of_representations_is_found_once_for_all_heads_on_them(dataset, outputs, monkeypatch):
    asked, leakage = [], fairness.nonlinear_leakage
    monkeypatch.setattr(fairness, "nonlinear_leakage", lambda *of: asked.append(of) or leakage(*of))
    other_head = {**outputs, "logits": outputs["logits"][:, ::-1]}
    known = {}
    shared = [evaluate_run(dataset, RUN, each, 3, known) for each in (outputs, other_head)]
    assert len(asked) == 1
    for found, each in zip(shared, (outputs, other_head), strict=True):
        for (_, (metric, group, value)), (_, (_, _, alone)) in zip(
            found, evaluate_run(dataset, RUN, each, 3), strict=True
        ):
            np.testing.assert_equal(value, alone, err_msg=f"{metric} {group}")
    assert (
        known and evaluate_run(dataset, Run(RUN.data, RUN.spec, 1), outputs, 3, known) and len(asked) == 4
    )  # another seed, other halves
