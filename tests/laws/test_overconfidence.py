"""Theorem 1 of Wenger et al.: |o P(wrong) - u P(right)| is at most the calibration error of any
order, exact or binned.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import metrics
from calibrant.datasets.sets import data_folder, stored

ERRORS = (
    "expected_calibration_error",
    "root_mean_square_calibration_error",
    "maximum_calibration_error",
)
OUTPUTS = [
    *(
        f"classifier_outputs/{m}-{d}"
        for d in ("kitti", "mnist")
        for m in ("adaboost", "mondrian-forest", "random-forest", "1layer-nn")
    ),
    "network_outputs/lenet-5-cifar10",
    "network_outputs/wideresnet-16-4-cifar10",
    "network_outputs/densenet-bc-100-cifar100",
]


def sides(y, P):
    """(|o P(wrong) - u P(right)|, mean confidence less accuracy)."""
    right = metrics.accuracy(y, P)
    weighed = metrics.overconfidence(y, P) * (1.0 - right) - metrics.underconfidence(y, P) * right
    return weighed, P.max(axis=1).mean() - right


def assert_holds(y, P):
    weighed, gap = sides(y, P)
    assert weighed == pytest.approx(gap, abs=1e-9)
    values = [getattr(metrics, name)(y, P) for name in ERRORS]
    assert abs(weighed) <= values[0] + 1e-9
    assert values == sorted(values)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.sampled_from([2, 3, 7]),
    st.sampled_from([0.1, 1.0, 10.0]),
)
def test_on_any_data(seed, n, n_classes, spread):
    rng = np.random.default_rng(seed)
    assert_holds(rng.integers(0, n_classes, n), rng.dirichlet(np.full(n_classes, spread), n))


def exact_errors(y, P, weight):
    """ECE_p for p = 1, 2, max over distinct confidences, the theorem's own (conditional
    expectations given the confidence), in loops.
    """
    confidence, right = P.max(axis=1), P.argmax(axis=1) == y
    mass, gaps = [], []
    for value in set(confidence.tolist()):
        at = confidence == value
        if weight[at].sum() > 0:
            mass.append(weight[at].sum() / weight.sum())
            gaps.append(abs(value - np.average(right[at], weights=weight[at])))
    mass, gaps = np.array(mass), np.array(gaps)
    return mass @ gaps, np.sqrt(mass @ gaps**2), gaps.max()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.integers(1, 10),
    st.sampled_from([2, 3, 7]),
    st.sampled_from([0.1, 1.0, 10.0]),
    st.sampled_from([1, 5, 15, 100]),
)
def test_on_distinct_confidences(seed, n, distinct, n_classes, spread, n_bins):
    """With ties and weights; bins of any width lie between the two sides, since a bin only lets
    gaps cancel.
    """
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_classes, spread), distinct)[rng.integers(0, distinct, n)]
    y, weight = rng.integers(0, n_classes, n), rng.integers(0, 4, n) + np.eye(n)[0]
    options = {"sample_weight": weight}
    right = metrics.accuracy(y, P, **options)
    weighed = abs(
        metrics.overconfidence(y, P, **options) * (1.0 - right)
        - metrics.underconfidence(y, P, **options) * right
    )
    for norm, exact in zip((1, 2, "max"), exact_errors(y, P, weight), strict=True):
        binned = metrics.expected_calibration_error(y, P, n_bins=n_bins, norm=norm, **options)
        assert weighed <= exact + 1e-9
        assert weighed <= binned + 1e-9
        assert binned <= exact + 1e-9


@pytest.mark.data
@pytest.mark.parametrize("name", OUTPUTS)
def test_on_stored_outputs(name):
    if not (data_folder() / f"{name}.npz").is_file():
        pytest.skip("needs CALIBRANT_DATA")
    arrays = stored(name)
    P = arrays["probabilities"].astype(np.float64)
    assert_holds(arrays["labels"], P / P.sum(axis=1, keepdims=True))


def test_equality_where_confidence_is_constant():
    P = np.tile([0.9, 0.1], (10, 1))
    y = np.array([0] * 6 + [1] * 4)
    assert abs(sides(y, P)[0]) == pytest.approx(metrics.expected_calibration_error(y, P))
