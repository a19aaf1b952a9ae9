"""Evaluation: what a bootstrap sample is, and the bound of Theorem 3.1. (Values of whole runs: test_runs.py.)"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import tiny_dataset

from despur.compute.randomness import derive_seed
from despur.evaluate import evaluate_run
from despur.evidence.ledger.measuring import OF_EPOCHS
from despur.metrics import bound, fairness
from despur.metrics.resampling import counts, plan_checksum
from despur.metrics.rows import measure_bound
from despur.specs.paths import Run
from despur.specs.resolution import resolve
from despur.storage.store import Dataset, InputError

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


def test_all_renderings_of_an_original_count_as_often(dataset):
    originals = dataset.table["original"].to_numpy()[dataset.rows("test")]
    weights = counts("colored_digits", originals, 50)
    assert weights.shape == (51, len(originals)) and (weights[0] == 1).all()
    for original in np.unique(originals):
        assert (np.ptp(weights[:, originals == original], axis=1) == 0).all()
    assert len({tuple(drawn) for drawn in weights}) == 51


def test_counts_are_poisson_and_independent_of_each_other():
    drawn = counts("some_data", np.arange(4000), 200)[1:]
    shares = np.bincount(drawn.astype(int).ravel(), minlength=5)[:5] / drawn.size
    np.testing.assert_allclose(shares, [np.exp(-1) / k for k in (1, 1, 2, 6, 24)], atol=5 / np.sqrt(drawn.size))
    between_samples, between_originals = (
        np.corrcoef(each)[np.triu_indices(100, 1)] for each in (drawn[:100], drawn[:, :100].T)
    )
    for found, size in ((between_samples, 4000), (between_originals, 200)):
        assert found.std() == pytest.approx(1 / np.sqrt(size), rel=0.1) and abs(found.mean()) < 5 / np.sqrt(
            size * len(found)
        )


def test_an_original_counts_as_often_wherever_it_is():
    whole = counts("some_data", np.arange(100), 20)
    split = counts("some_data", np.array([7, 99, 7, 3]), 20)  # another split or draw, in another order
    assert (split == whole[:, [7, 99, 7, 3]]).all()
    assert not (counts("other_data", np.arange(100), 20) == whole).all()
    assert (counts("some_data", np.arange(100), 40)[:21] == whole).all()  # more samples change none of the first
    named = counts("some_data", np.array(["a", "b", "a"]), 20)
    assert (named[:, 0] == named[:, 2]).all() and (named[:, 0] != named[:, 1]).any()


def test_counts_are_the_same_on_every_machine():
    """By Python's own integers: SplitMix64's finalizer of id and sample number, then Poisson's inverse distribution
    function."""

    def mix(value):
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
        return value ^ value >> 31

    def times(original, sample):
        key = mix((derive_seed("resamples/some_data") + mix(original)) % 2**64)
        uniform, count, below = (mix(key ^ mix(sample)) >> 11) / 2**53, 0, math.exp(-1)
        while uniform >= below:
            count += 1
            below += math.exp(-1) / math.factorial(count)
        return count

    found = counts("some_data", np.array([0, 5, 10**9]), 30)
    assert found[1:].tolist() == [[times(original, sample) for original in (0, 5, 10**9)] for sample in range(1, 31)]


def test_the_checksum_of_the_plan_tells_plans_apart():
    assert plan_checksum("colored_digits", 200) == plan_checksum("colored_digits", 200)
    assert len({plan_checksum(name, size) for name in ("colored_digits", "cmnist") for size in (199, 200)}) == 4


def test_all_methods_and_settings_of_a_data_set_share_their_bootstrap_samples(dataset, outputs):
    other = Run(resolve("datasets", "colored_digits+p_corr=0.9").points[0], RUN.spec, 0)
    for (_, (metric, group, value)), (_, (_, _, shifted)) in zip(
        evaluate_run(dataset, RUN, outputs, 5), evaluate_run(dataset, other, outputs, 5), strict=True
    ):
        np.testing.assert_equal(value, shifted, err_msg=f"{metric} {group}")


def test_splits_of_the_same_originals_share_their_bootstrap_samples(dataset, outputs):
    """As ``test`` and ``test_foreground`` of scenes do: where a model says the same of both, no sample tells them
    apart."""
    rows = np.random.default_rng(1).permutation(dataset.rows("test"))  # in another order
    both = np.concatenate([np.arange(len(dataset.y)), rows])
    table = dataset.table.iloc[both].reset_index(drop=True)
    table.loc[len(dataset.y) :, "split"] = "test_foreground"
    twice = Dataset(dataset.inputs[both], table, dataset.about)
    copied = {"z": outputs["z"][both], "logits": outputs["logits"][both]}
    values = {(split, *row[:2]): row[2] for split, row in evaluate_run(twice, RUN, copied, 20)}
    for metric in ("average_accuracy", "worst_group_accuracy"):
        np.testing.assert_allclose(values["test", metric, ""], values["test_foreground", metric, ""], err_msg=metric)
    assert len(set(values["test", "average_accuracy", ""])) > 1


def test_representations_beyond_half_precision_are_refused_where_they_are_measured(dataset, outputs):
    too_large = outputs | {"z": np.where(np.arange(6) == 0, np.inf, outputs["z"])}
    with pytest.raises(InputError, match=r"^colored_digits/erm/s0: representations are NaN, or beyond 65,504"):
        evaluate_run(dataset, RUN, too_large)


def test_the_first_value_is_that_without_a_bootstrap(dataset, outputs):
    plain = {(split, metric, group): value for split, (metric, group, value) in evaluate_run(dataset, RUN, outputs)}
    drawn = {(split, metric, group): value for split, (metric, group, value) in evaluate_run(dataset, RUN, outputs, 20)}
    assert plain.keys() == drawn.keys()
    for key, value in drawn.items():
        np.testing.assert_allclose(np.atleast_1d(value)[0], np.atleast_1d(plain[key])[0], err_msg=str(key))
    assert {len(np.atleast_1d(v)) for (split, *_), v in drawn.items() if split != "test"} == {1}
    assert len(drawn["test", "worst_group_accuracy", ""]) == 21


def test_a_bootstrap_value_is_the_metric_of_the_repeated_samples(dataset, outputs):
    rows, weights = (
        dataset.rows("test"),
        counts("colored_digits", dataset.table["original"].to_numpy()[dataset.rows("test")], 3),
    )
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


def test_the_bound_reads_no_class_of_other_splits(dataset, outputs):
    rows, table = dataset.rows("test"), dataset.table.copy()
    table.loc[dataset.rows("val"), "y"] = -1  # as of samples without a class
    ones = np.ones((1, len(rows)))
    with_all, with_some = (
        [(m, g, float(np.ravel(v)[0])) for m, g, v in measure_bound(given, rows, *values, ones)]
        for given in (dataset, replace(dataset, table=table))
        for values in [(outputs["z"], outputs["logits"], outputs["head"])]
    )
    assert with_all == with_some


def test_losses_and_bound_of_each_class_by_a_loop(dataset, outputs):
    rows, train = dataset.rows("test"), dataset.rows("train")
    y, a, logits, z = dataset.y, dataset.table["a"].to_numpy(), outputs["logits"], outputs["z"]
    found = pd.Series(
        {
            (m, g): float(np.atleast_1d(v)[0])
            for m, g, v in measure_bound(dataset, rows, z, logits, outputs["head"], np.ones((1, len(rows))))
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


def test_of_curves_no_attacker_is_fitted_and_the_rest_is_the_same(dataset, outputs, monkeypatch):
    full = {(split, *row[:2]): row[2] for split, row in evaluate_run(dataset, RUN, outputs)}
    monkeypatch.setattr(fairness, "leakage", None)
    of_curve = {(split, *row[:2]): row[2] for split, row in evaluate_run(dataset, RUN, outputs, of_curve=True)}
    for key, value in of_curve.items():
        np.testing.assert_equal(value, full[key], err_msg=str(key))
    assert of_curve.keys() >= {(split, metric, "") for split in dataset.test_splits for metric in OF_EPOCHS}
    attackers = {metric for _, metric, _ in full.keys() - of_curve.keys()}
    assert "leakage_logits" in attackers and not attackers & set(OF_EPOCHS)


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
    # another seed, other halves
    assert known and evaluate_run(dataset, Run(RUN.data, RUN.spec, 1), outputs, 3, known) and len(asked) == 4
