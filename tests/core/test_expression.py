"""Expressions of fitted parts: what they are made of, who has one, and that the check of the
suite catches a wrong one.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core import Calibrator, Map, RegressionCalibrator, Signal
from calibrant.core.compiled import MADE, PLAIN, Compiled
from calibrant.core.expression import PRIMITIVES, constant, join, source
from calibrant.errors import InputError
from calibrant.testing import (
    all_calibrators,
    all_maps,
    all_regression_calibrators,
    all_signals,
    check_calibrator,
)

#: Parts that stay in Python, each because of what it is made of.
NOT_SAID = {
    "ClusteredCalibration": "its regions are of features, which predictions do not say",
    "ForecastGroupCalibrator": "its forecasts are moved by groups, which forecasts do not say",
    "ForecastMulticalibration": "its trees ask for features and groups, which forecasts do not say",
    "HokiCalibrator": "its signal counts label changes under noise",
    "StackedConfidence": "its signals may hold a training set",
    "GeometricCalibrator": "its signal holds a training set",
    "FastSeparation": "holds a training set",
    "LabelStability": "counts label changes under noise",
    "MaximalZone": "holds a training set",
    "PairwiseSeparation": "holds a training set",
    "OnlineCalibrator": "it changes with every label",
    "BoundedOutcomes": "its distributions are of no one shape",
}


def test_every_part_has_an_expression_or_a_reason():
    templates = {
        Calibrator._expression,
        RegressionCalibrator._expression,
        Map._expression,
        Signal._expression,
    }
    parts = [*all_calibrators(), *all_regression_calibrators(), *all_maps(), *all_signals()]
    silent = {type(part).__name__ for part in parts if type(part)._expression in templates}
    assert silent == set(NOT_SAID)


def test_every_primitive_is_computed():
    assert set(PLAIN) | set(MADE) | {"input", "constant", "join"} == set(PRIMITIVES)
    assert not set(PLAIN) & set(MADE)


def test_what_two_parts_share_is_one_node():
    x = source(3)
    shared = x.softmax()
    both = shared * 2.0 + shared.log()
    assert [node.op for node in both.nodes()].count("softmax") == 1
    assert np.allclose(
        Compiled(both)([[0.0, 1.0, 2.0]]),
        2 * np.exp([[0, 1, 2]]) / np.exp([0, 1, 2]).sum()
        + np.log(np.exp([[0, 1, 2]]) / np.exp([0, 1, 2]).sum()),
    )


def test_steps_and_lines_are_exact_on_their_knots():
    x = np.array([[-1.0], [0.0], [0.5], [1.0], [2.0]])
    step = source(1).step([0.0, 1.0], [10.0, 20.0, 30.0])
    assert Compiled(step)(x).ravel().tolist() == [10.0, 20.0, 20.0, 30.0, 30.0]
    below = source(1).step([0.0, 1.0], [10.0, 20.0, 30.0], closed=False)
    assert Compiled(below)(x).ravel().tolist() == [10.0, 10.0, 20.0, 20.0, 30.0]
    line = source(1).interpolate([0.0, 1.0], [0.0, 4.0], 1.0, 2.0)
    assert Compiled(line)(x).ravel().tolist() == [-1.0, 0.0, 2.0, 4.0, 6.0]


def test_constants_and_numbers_stand_on_either_side():
    x = source(2)
    out = Compiled(join([1.0 - x, 2.0 / x, np.array([3.0, 4.0]) * x, constant([7.0])]))(
        [[1.0, 2.0], [4.0, 5.0]]
    )
    assert out.tolist() == [
        [0.0, -1.0, 2.0, 1.0, 3.0, 8.0, 7.0],
        [-3.0, -4.0, 0.5, 0.4, 12.0, 20.0, 7.0],
    ]


class SaysItWrongly(cb.core.Calibrator):
    """Mixes in the class rates, and says it mixes in less."""

    def _fit(self, record):
        counts = (
            np.bincount(record.labels, weights=record.weights, minlength=record.n_classes) + 1.0
        )
        self.rate_ = counts / counts.sum()

    def _predict_proba(self, record):
        return 0.9 * record.probabilities + 0.1 * self.rate_

    def _expression(self, record):
        return record.probabilities * 0.91 + self.rate_ * 0.09


def test_the_suite_catches_a_wrong_expression():
    cb.core.register(SaysItWrongly)
    with pytest.raises(AssertionError, match="'expression'"):
        check_calibrator(SaysItWrongly())


def test_what_cannot_be_said_says_so_in_one_sentence():
    P, y = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]] * 10), [0, 1, 1] * 10
    with pytest.raises(InputError, match="HokiCalibrator cannot be exported"):
        cb.calibrators.HokiCalibrator().fit(P, y).expression()


def test_compiled_checks_the_shape_only_and_fills_out():
    run = cb.TemperatureScaling().fit([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1]).compile()
    out = np.empty((1, 2), dtype=np.float32)
    assert run([[0.25, 0.75]], out=out) is out
    with pytest.raises(ValueError, match=r"shape \(n, 2\); got \(3,\)"):
        run([0.1, 0.2, 0.7])


def test_equal_parts_are_computed_once_and_equal_numbers_stay():
    x = source(3)
    twice = [
        (x * 2.0 + 1.0).log().exp() * [1.0, 2.0, 3.0] + x.step([0.5], [1.0, k]) for k in (2, 2)
    ]
    other = x.step([0.5], [1.0, 3.0])
    whole = join([*twice, other])
    ops = [node.op for node in whole.shared().nodes()]
    assert (ops.count("step"), ops.count("multiply"), ops.count("exp")) == (2, 2, 0)
    rows = [[0.2, 0.5, 0.9], [0.7, 0.1, 0.4]]
    expected = (2.0 * np.array(rows) + 1.0) * [1.0, 2.0, 3.0] + np.where(
        np.array(rows) >= 0.5, 2.0, 1.0
    )
    np.testing.assert_allclose(Compiled(whole)(rows)[:, 3:6], expected, rtol=1e-14)
    np.testing.assert_array_equal(Compiled(whole)(rows)[:, 6:], np.array(rows) // 0.5 * 2.0 + 1.0)
