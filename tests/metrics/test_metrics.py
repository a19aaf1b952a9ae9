"""Metrics: closed forms, hand-computed cases, slow versions."""

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.special
from helpers import quick
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from despur.metrics import fairness, information
from despur.metrics.alignment import alignment_loss, cosine_similarity, released_alignment_loss
from despur.metrics.fairness import (
    demographic_parity_difference,
    equalized_odds_difference,
    largest,
    leakage,
    nonlinear_leakage,
    root_mean_square,
    tpr_gap,
    tpr_gaps,
    tradeoff,
)
from despur.metrics.groups import group_accuracies, one_hot, weighted_average, worst_group_accuracy
from despur.metrics.probabilities import calibration_error

# accuracy by group


def test_overlapping_groups_by_hand():
    correct = np.array([True, True, False, True, False])
    groups = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]], bool)
    np.testing.assert_allclose(group_accuracies(correct, groups), [2 / 3, 2 / 3, 0])
    assert worst_group_accuracy(correct, groups) == 0
    assert worst_group_accuracy(correct, groups[:, :2]) == pytest.approx(2 / 3)


def test_lists_are_taken_and_numbers_of_groups_refused():
    assert worst_group_accuracy([1, 1, 0, 1], [[1, 0], [1, 0], [0, 1], [0, 1]]) == 0.5
    with pytest.raises(ValueError, match=r"correct has the shape \(2,\), groups \(2,\): give bool \(N,\)"):
        worst_group_accuracy([True, False], [0, 1])
    with pytest.raises(ValueError, match=r"groups \(1, 2\)"):
        worst_group_accuracy([True, False], [[0, 1]])


def test_a_group_without_samples_is_left_out():
    correct, groups = np.array([True, False, True, True]), np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]], bool)
    np.testing.assert_array_equal(group_accuracies(correct, groups), [0.5, np.nan, 1])
    assert worst_group_accuracy(correct, groups) == 0.5
    assert weighted_average(correct, groups, np.array([1, 1000, 3])) == pytest.approx((0.5 + 3) / 4)


def test_weighted_average_is_that_of_the_training_proportions():
    correct = np.array([True] * 9 + [False] + [True, False])  # 0.9 of ten, 0.5 of two
    groups = np.repeat(np.eye(2, dtype=bool), [10, 2], axis=0)
    assert weighted_average(correct, groups, np.array([50, 50])) == pytest.approx(0.7)
    assert weighted_average(correct, groups, np.array([10, 2])) == pytest.approx(correct.mean())
    assert weighted_average(correct, groups, np.array([0, 7])) == 0.5
    assert math.isnan(weighted_average(correct, groups, np.zeros(2)))


@st.composite
def scored(draw):
    """Whether the predictions of a few samples are right, and groups that may overlap."""
    count = draw(st.integers(1, 25))
    correct = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    member = st.lists(st.booleans(), min_size=3, max_size=3)
    groups = np.array(draw(st.lists(member, min_size=count, max_size=count)))
    groups[0, 0] = True
    return correct, groups


@quick
@given(scored())
def test_group_accuracies_are_those_of_a_loop(data):
    correct, groups = data
    for group, value in zip(groups.T, group_accuracies(correct, groups), strict=True):
        hits = [hit for hit, inside in zip(correct, group, strict=True) if inside]
        np.testing.assert_equal(value, sum(hits) / len(hits) if hits else np.nan)


# true-positive-rate gap


def rated(rates):
    """Labels, predictions and attributes of ten samples in each (class, attribute) with these true positive rates."""
    y, predicted, a = [], [], []
    for (label, value), rate in rates.items():
        hits = round(10 * rate)
        y += [label] * 10
        predicted += [label] * hits + [1 - label] * (10 - hits)
        a += [value] * 10
    return np.array(predicted), np.array(y), np.array(a)


def test_tpr_gap_of_two_attribute_values():
    case = rated({(0, 0): 0.9, (0, 1): 0.6, (1, 0): 0.4, (1, 1): 0.8})
    assert tpr_gap(*case) == pytest.approx(math.sqrt((0.3**2 + 0.4**2) / 2))
    assert largest(tpr_gaps(*case)) == pytest.approx(0.4)


def test_tpr_gap_of_three_attribute_values_is_the_largest_difference():
    case = rated({(0, 0): 0.9, (0, 1): 0.6, (0, 2): 0.2, (1, 0): 0.5, (1, 1): 0.5, (1, 2): 0.6})
    assert tpr_gap(*case) == pytest.approx(math.sqrt((0.7**2 + 0.1**2) / 2))


def test_tpr_gap_leaves_out_a_class_that_one_attribute_value_has():
    assert tpr_gap(*rated({(0, 0): 0.9, (0, 1): 0.6, (1, 0): 0.4})) == pytest.approx(0.3)
    three = rated({(0, 0): 0.9, (0, 1): 0.6, (0, 2): 0.3, (1, 0): 0.4, (1, 2): 0.6})
    assert tpr_gap(*three) == pytest.approx(math.sqrt((0.6**2 + 0.2**2) / 2))
    assert math.isnan(tpr_gap(*rated({(0, 0): 0.9, (1, 1): 0.6})))
    assert math.isnan(largest(tpr_gaps(*rated({(0, 0): 0.9, (1, 1): 0.6}))))
    assert math.isnan(tpr_gap(*rated({(0, 0): 0.9, (1, 0): 0.6})))


# leakage


def test_leakage_is_at_chance_for_features_without_information():
    rng = np.random.default_rng(0)
    for values in (2, 4):
        train, test = rng.normal(size=(2000, 5)), rng.normal(size=(4000, 5))
        found = leakage(train, np.arange(2000) % values, test, np.arange(4000) % values)
        assert found == pytest.approx(1 / values, abs=0.04)


def test_leakage_is_one_for_separable_features():
    rng = np.random.default_rng(0)
    a = np.arange(300) % 3
    features = 10 * np.eye(3)[a] + rng.normal(size=(300, 3))
    assert leakage(features[:200], a[:200], features[200:], a[200:]) == 1


def test_leakage_is_measured_on_test_features():
    a = np.array([0, 1] * 20)
    features = np.where(a == 0, -1.0, 1.0)[:, None]
    assert leakage(features, a, -features, a) == 0
    assert leakage(features, a, features[:4], np.array([0, 1, 1, 1])) == 0.75


def test_leakage_attacker_is_not_swayed_by_a_frequent_value():
    rng = np.random.default_rng(0)
    a = np.repeat([0, 1], [1900, 100])
    test_a = np.repeat([0, 1], 500)
    found = leakage(rng.normal(size=(2000, 1)) + a[:, None], a, rng.normal(size=(1000, 1)) + test_a[:, None], test_a)
    assert found == pytest.approx(0.69, abs=0.05)  # of balanced classes one standard deviation apart: Phi(1/2)


def test_leakage_of_a_single_attribute_value_is_not_a_number():
    assert math.isnan(leakage(np.zeros((4, 2)), np.ones(4, int), np.zeros((2, 2)), np.array([0, 1])))


def test_an_attacker_with_a_kernel_reads_what_no_linear_one_can():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 4))
    a = (x[:, 0] * x[:, 1] > 0).astype(int)
    parts = x[:2000], a[:2000], x[2000:], a[2000:]
    assert leakage(*parts) < 0.56 and nonlinear_leakage(*parts) > 0.85
    noise = rng.integers(0, 2, 3000)
    assert nonlinear_leakage(x[:2000], noise[:2000], x[2000:], noise[2000:]) == pytest.approx(0.5, abs=0.05)
    assert math.isnan(nonlinear_leakage(x, np.zeros(3000), x, np.zeros(3000)))


def test_an_attacker_with_a_kernel_reads_what_a_linear_one_can():
    """One direction of many tells the attribute, and varies less than the others: landmarks alone reach .68 here, the
    linear one .96."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 100)) * np.where(np.arange(100) == 0, 0.3, 1.0)
    a = (x[:, 0] > 0).astype(int)
    parts = x[:2000], a[:2000], x[2000:], a[2000:]
    assert leakage(*parts) > 0.9 and nonlinear_leakage(*parts) > leakage(*parts) - 0.02


def test_the_kernel_is_as_wide_as_scikit_learn_s(monkeypatch):
    """``gamma="scale"``: 1 / (number of features * variance)."""
    widths, nystroem = [], fairness.Nystroem
    monkeypatch.setattr(fairness, "Nystroem", lambda **given: widths.append(given["gamma"]) or nystroem(**given))
    x, a = np.random.default_rng(0).normal(0, 3, (60, 5)), np.arange(60) % 2
    nonlinear_leakage(x, a, x, a)
    assert widths == [pytest.approx(SVC(gamma="scale").fit(x, a)._gamma)]


def test_gaps_of_no_class_are_not_numbers():
    for reduce_gaps in (root_mean_square, largest):
        assert np.isnan(reduce_gaps(np.zeros((0, 3)))).tolist() == [True] * 3


# trade-off


def test_tradeoff_by_hand():
    found = tradeoff(np.array([0.8, 0.4]), np.array([0.5, 0.0]), np.array([0.5, 0.75]), np.array([0.6, 0.2]))
    np.testing.assert_allclose(found, [0.5 + 0.25 * 0.5 + 0.125 + 0.125 * 0.5, 0.25 + 0.25 + 0.125 * 0.5 + 0.125])


def test_tradeoff_reproduces_the_printed_column():
    """Table 1, Moji: CE, INLP, Adv, Con^ft, Con."""
    accuracy, gap = np.array([72.09, 72.81, 74.47, 75.99, 75.84]), np.array([40.21, 36.81, 30.59, 14.40, 13.92])
    h, logits = np.array([85.75, 68.15, 81.98, 57.01, 55.75]), np.array([70.96, 67.80, 65.04, 55.42, 55.32])
    found = tradeoff(*(values / 100 for values in (accuracy, gap, h, logits)))
    assert found.round(2).tolist() == [0.77, 0.84, 0.84, 0.99, 1.0]


# mutual information


def test_mutual_information_of_independent_labels_is_near_zero():
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(4000, 3)), rng.integers(0, 4, 4000)
    assert 0 <= information.mutual_information(z, labels) < 0.01
    assert 0 <= information.mutual_information(z, labels, np.arange(2000)) < 0.02


@pytest.mark.parametrize("count", [2, 5])
def test_mutual_information_of_separable_labels_is_near_their_entropy(count):
    labels = np.arange(400) % count
    z = 30 * np.eye(count)[labels] + np.random.default_rng(0).normal(size=(400, count))
    assert information.mutual_information(z, labels) == pytest.approx(math.log(count), rel=0.01)
    assert information.mutual_information(z, labels, np.arange(200)) == pytest.approx(math.log(count), rel=0.02)


def newton(x, y, steps=60):
    """Minimizer (K,D), (K,) of |W|^2 / 2 plus the cross-entropies of logits W x + b, in float64, by Newton's method
    with a pseudo-inverse: an independent reference."""
    rows, count = np.column_stack([x.astype(float), np.ones(len(x))]), y.max() + 1
    w, penalty = np.zeros((count, rows.shape[1])), np.ones(rows.shape[1])
    penalty[-1] = 0
    for _ in range(steps):
        p = scipy.special.softmax(rows @ w.T, axis=1)
        gradient = (p - np.eye(count)[y]).T @ rows + penalty * w
        curvature = np.einsum("nk,kl->nkl", p, np.eye(count)) - p[:, :, None] * p[:, None, :]
        hessian = np.einsum("nkl,ni,nj->kilj", curvature, rows, rows).reshape(w.size, w.size)
        step = np.linalg.pinv(hessian + np.diag(np.tile(penalty, count))) @ gradient.ravel()
        w -= min(1, 5 / np.abs(rows @ step.reshape(w.shape).T).max()) * step.reshape(w.shape)
    return w[:, :-1], w[:, -1]


@pytest.mark.parametrize(("classes", "threads"), [(2, 1), (2, 2), (3, 1)])
def test_the_regression_behind_mutual_information_is_converged_whatever_the_threads(classes, threads):
    """On ill-conditioned features of single precision, where loose tolerances end far from the minimum."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % classes
    z = (rng.normal(size=(300, 6)) + rng.normal(size=(classes, 6))[y]) * np.array([30, 10, 1, 0.3, 0.1, 0.03])
    z = z.astype(np.float32)
    if classes == 2:  # two rows of weights would halve the penalty of the one that scikit-learn has
        weights, biases = newton(z / np.sqrt(2), y)
        logits = z / np.sqrt(2) @ weights.T + biases
    else:
        weights, biases = newton(z, y)
        logits = z @ weights.T + biases
    p = scipy.special.softmax(logits, axis=1)
    expected = np.sum(p * np.log(p * classes), axis=1).mean()
    with threadpool_limits(threads):
        assert information.mutual_information(z, y) == pytest.approx(expected, rel=1e-6)


class Fixed:
    """A posterior that is given, and what it was asked."""

    def __init__(self, posterior):
        self.posterior, self.asked = np.array(posterior), []

    def __call__(self, **settings):
        return self

    def fit(self, z, labels):
        self.asked.append((z.tolist(), labels.tolist()))
        return self

    def predict_proba(self, z):
        self.asked.append(z.tolist())
        return self.posterior


def test_equation_18_by_hand(monkeypatch):
    fixed = Fixed([[0.5, 0.5], [0.9, 0.1], [0.0, 1.0]])
    monkeypatch.setattr(information, "LogisticRegression", fixed)
    z, labels = np.array([[1.0], [2.0], [3.0]]), np.array([4, 4, 9])  # p(y) = 2/3, 1/3
    by_sample = [
        0.5 * math.log(0.5 / (2 / 3)) + 0.5 * math.log(0.5 / (1 / 3)),
        0.9 * math.log(0.9 / (2 / 3)) + 0.1 * math.log(0.1 / (1 / 3)),
        math.log(1 / (1 / 3)),
    ]
    assert information.mutual_information(z, labels) == pytest.approx(sum(by_sample) / 3)
    assert fixed.asked == [(z.tolist(), labels.tolist()), z.tolist()]


def test_half_variant_fits_on_some_rows_and_averages_over_the_others(monkeypatch):
    fixed = Fixed([[0.8, 0.2], [0.4, 0.6]])
    monkeypatch.setattr(information, "LogisticRegression", fixed)
    z, labels = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 1, 1, 0, 1, 1])
    value = information.mutual_information(z, labels, np.array([0, 2, 4, 5]))  # p(y) = 1/2, 1/2 in the others
    expected = [
        0.8 * math.log(0.8 / 0.5) + 0.2 * math.log(0.2 / 0.5),
        0.4 * math.log(0.4 / 0.5) + 0.6 * math.log(0.6 / 0.5),
    ]
    assert value == pytest.approx(sum(expected) / 2)
    assert fixed.asked == [([[0.0], [2.0], [4.0], [5.0]], [0, 1, 1, 1]), [[1.0], [3.0]]]


def test_a_class_without_a_sample_in_the_average_is_left_out(monkeypatch):
    monkeypatch.setattr(information, "LogisticRegression", Fixed([[0.8, 0.2], [0.4, 0.6]]))
    value = information.mutual_information(np.zeros((4, 1)), np.array([0, 1, 1, 1]), np.array([0, 1]))
    assert value == pytest.approx((0.2 * math.log(0.2) + 0.6 * math.log(0.6)) / 2)


def test_mutual_information_with_a_single_label_is_zero():
    assert information.mutual_information(np.random.default_rng(0).normal(size=(10, 2)), np.ones(10, int)) == 0


# alignment


def clouds(sizes=(7, 4, 5), dim=6):
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.normal(loc=i, scale=1 + i, size=(size, dim)) for i, size in enumerate(sizes)])
    a = np.repeat(np.arange(len(sizes)) * 2, sizes)  # attribute values need not be 0, 1, 2
    order = rng.permutation(len(a))
    return z[order], a[order]


def slow_cross_group_distance(z, a, first, second):
    """Eq. 4."""
    total, pairs = 0.0, 0
    for x, of_x in zip(z, a, strict=True):
        for other, of_other in zip(z, a, strict=True):
            if (of_x, of_other) == (first, second):
                total += math.sqrt(sum((x - other) ** 2))
                pairs += 1
    return total / pairs


def test_alignment_loss_is_the_largest_mean_distance_between_groups():
    z, a = clouds()
    expected = max(slow_cross_group_distance(z, a, *pair) for pair in combinations((0, 2, 4), 2))
    assert alignment_loss(z, a) == pytest.approx(expected)


def test_one_group_has_no_alignment():
    z = np.ones((3, 2))
    assert math.isnan(alignment_loss(z, np.zeros(3))) and math.isnan(cosine_similarity(z, np.zeros(3)))
    for majority in (0, 1):
        value, pairs = released_alignment_loss(z, np.zeros(3), majority)
        assert math.isnan(value) and pairs == 0


@pytest.mark.parametrize("majority", [0, 2])
def test_released_alignment_loss_is_that_of_a_literal_version(majority):
    z, a = clouds()
    sides = [
        [row for row, value in zip(z, a, strict=True) if (value == majority) == chosen] for chosen in (True, False)
    ]
    scaled = []
    for side in sides:
        norm = math.sqrt(sum(float(x) ** 2 for row in side for x in row))
        scaled.append([[float(x) / norm for x in row] for row in side])
    pairs = [
        sum((x - y) ** 2 for x, y in zip(first, second, strict=True)) for first in scaled[0] for second in scaled[1]
    ]
    found, count = released_alignment_loss(z, a, majority)
    assert found == pytest.approx(sum(pairs) / len(pairs)) and count == len(pairs)


def test_cosine_similarity_is_that_of_a_loop():
    z, a = clouds()
    by_pair = []
    for first, second in combinations((0, 2, 4), 2):
        values = [x @ y / (np.linalg.norm(x) * np.linalg.norm(y)) for x in z[a == first] for y in z[a == second]]
        by_pair.append(sum(values) / len(values))
    assert cosine_similarity(z, a) == pytest.approx(sum(by_pair) / 3)


def test_cosine_similarity_of_a_zero_vector_is_zero():
    z = np.array([[0.0, 0], [1, 0], [1, 0], [1, 0]])
    assert cosine_similarity(z, np.array([0, 0, 1, 1])) == pytest.approx(0.5)


# weights count samples


@pytest.fixture
def drawn():
    """Labels, predictions, attributes, representations; how often each sample counts, in four bootstrap samples, and in
    some without a group, an attribute value and a class."""
    rng = np.random.default_rng(0)
    y, a = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    predicted = np.where(rng.random(60) < 0.7, y, rng.integers(0, 3, 60))
    z, weights = rng.normal(size=(60, 4)) + y[:, None], rng.integers(0, 4, (4, 60)).astype(float)
    absent = np.stack([(y == 0) & (a == 1), a == 1, y == 2])
    return y, predicted, a, z, np.concatenate([weights, np.where(absent, 0, weights[:3])])


WEIGHTED = {
    "group_accuracies": lambda y, predicted, a, z, w: group_accuracies(predicted == y, np.eye(3, dtype=bool)[y], w),
    "worst_group_accuracy": lambda y, predicted, a, z, w: worst_group_accuracy(
        predicted == y, np.eye(3, dtype=bool)[y], w
    ),
    "weighted_average": lambda y, predicted, a, z, w: weighted_average(
        predicted == y, np.eye(3, dtype=bool)[y], np.array([1, 2, 5]), w
    ),
    "tpr_gap": lambda y, predicted, a, z, w: tpr_gap(predicted, y, a, w),
    "largest_gap": lambda y, predicted, a, z, w: largest(tpr_gaps(predicted, y, a, w)),
    "demographic_parity": lambda y, predicted, a, z, w: demographic_parity_difference(predicted, a, 3, w),
    "equalized_odds": lambda y, predicted, a, z, w: equalized_odds_difference(predicted, y, a, 3, w),
    "calibration_error": lambda y, predicted, a, z, w: calibration_error(scipy.special.softmax(z, axis=1), y, w),
    "alignment_loss": lambda y, predicted, a, z, w: alignment_loss(z, a, w),
    "cosine_similarity": lambda y, predicted, a, z, w: cosine_similarity(z, a, w),
    "cosine_similarity_of_three": lambda y, predicted, a, z, w: cosine_similarity(z, y, w),
    "leakage": lambda y, predicted, a, z, w: leakage(Z, A, z, a, w),
}
Z, A = np.random.default_rng(1).normal(size=(30, 4)), np.arange(30) % 2


@pytest.mark.parametrize("metric", WEIGHTED.values(), ids=WEIGHTED)
def test_weights_are_as_repeating_samples(drawn, metric):
    *columns, weights = drawn
    each = metric(*columns, weights)
    for times, value in zip(weights, each, strict=True):
        np.testing.assert_allclose(
            value, metric(*(column.repeat(times.astype(int), axis=0) for column in columns), None)
        )
    np.testing.assert_allclose(metric(*columns, np.ones((1, 60)))[0], metric(*columns, None))


def test_weighted_mutual_information_is_averaged_over_repeated_samples_of_one_fit(drawn):
    y, _, _, z, weights = drawn
    alone = np.eye(60)
    terms = information.mutual_information(z, y, weights=alone)  # each sample's own term
    for times, value in zip(weights, information.mutual_information(z, y, weights=weights), strict=True):
        assert value == pytest.approx(terms.repeat(times.astype(int)).mean())
    assert information.mutual_information(z, y, weights=np.ones((1, 60)))[0] == pytest.approx(
        information.mutual_information(z, y)
    )


def test_samples_may_count_in_parts():
    correct, groups = np.array([1, 0, 1, 1]), np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    quarter, z, a = np.full(4, 0.25), np.random.default_rng(0).normal(size=(4, 3)), np.array([0, 0, 1, 1])
    assert group_accuracies(correct, groups, quarter).tolist() == [0.5, 1.0]
    assert alignment_loss(z, a, quarter) == pytest.approx(alignment_loss(z, a))


def test_half_precision_gives_the_values_of_single_precision():
    """The sums of squares of these values are beyond the largest number of half precision."""
    a = np.arange(120) % 2
    z = (10 + 4 * a[:, None] + 20 * np.random.default_rng(0).normal(size=(120, 2048))).astype(np.float16)
    full = z.astype(np.float32)
    assert cosine_similarity(full, a) > 0.1
    assert cosine_similarity(z, a) == pytest.approx(cosine_similarity(full, a))
    halves = (z[:80], a[:80], z[80:], a[80:])
    assert nonlinear_leakage(*halves) == nonlinear_leakage(full[:80], a[:80], full[80:], a[80:]) > 0.7


@pytest.mark.parametrize("values", [[0, 3], [-1, 0], [0.5, 1.0], ["0", "1"]])
def test_classes_that_are_no_positions_are_refused(values):
    with pytest.raises(ValueError, match="whole numbers from 0 to 2; got"):
        one_hot(np.array(values), 3)
