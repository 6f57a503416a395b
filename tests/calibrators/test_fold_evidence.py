"""What the agreement of models says about their average, on answers whose truth is known."""

import numpy as np
import pytest

from calibrant.calibrators.training_rows import (
    agreement,
    averaged,
    chosen_told,
    exponent_of,
    fit_before_held_out,
)

HALF = np.array([0.5, 0.5])


def two(logit):
    return np.column_stack([1.0 / (1.0 + np.exp(logit)), 1.0 / (1.0 + np.exp(-logit))])


def test_agreement_of_equal_and_of_opposite_answers():
    Q = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    rates = np.full(3, 1 / 3)
    assert agreement(Q, Q, rates) == pytest.approx(1.0)
    z = np.linspace(-2.0, 2.0, 9)
    assert agreement(two(z), two(-z), HALF) == pytest.approx(-1.0)
    assert agreement(two(0.0 * z), two(0.0 * z), HALF) == 1.0


def test_agreement_counts_from_the_class_rates_and_by_weight():
    rates = np.array([0.9, 0.1])
    base = np.log(1 / 9)
    one, other = two(base + np.array([1.0, 1.0])), two(base + np.array([1.0, -1.0]))
    assert agreement(one, other, rates) == pytest.approx(0.0, abs=1e-12)
    assert agreement(one, other, rates, np.array([3.0, 1.0])) == pytest.approx(0.5)


def test_exponent_is_one_where_all_agree_and_the_number_of_models_where_none_does():
    assert [exponent_of(rho, 5) for rho in (1.0, 0.5, 0.0, -0.3)] == pytest.approx(
        [1.0, 5 / 3, 5.0, 5.0]
    )


def test_average_of_one_answer_is_that_answer():
    Q = np.random.default_rng(1).dirichlet(np.ones(4), 20)
    np.testing.assert_allclose(averaged([Q, Q, Q], np.full(4, 0.25), 1.0), Q, rtol=1e-9)


def test_sharpened_average_of_calibrated_answers_is_calibrated():
    """Five models see the score of two normal classes through noise of their own; each alone is
    calibrated.
    """
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 40_000)
    score = np.where(y == 1, 1.0, -1.0) + rng.normal(size=len(y))
    seen = score + rng.normal(size=(5, len(y)))
    answers = [
        two(logit) for logit in seen
    ]  # two normal classes at -1 and 1 with variance 2: the log-odds are the score itself
    rho = agreement(answers[0], answers[1], HALF)
    mean = seen.mean(axis=0)
    fitted = exponent_of(rho, 5)
    assert 1.1 < fitted < 2.0 / 1.2
    slopes = {s: np.polyfit(s * mean, 2.0 * mean / 1.2, 1)[0] for s in (1.0, fitted)}
    assert abs(slopes[fitted] - 1.0) < abs(slopes[1.0] - 1.0)
    losses = [
        -np.log(averaged(answers, HALF, s)[np.arange(len(y)), y]).mean() for s in (1.0, fitted)
    ]
    assert losses[1] < losses[0]


def test_splits_in_time_are_known_by_their_order():
    a, b = np.arange(5), np.arange(5, 10)
    assert fit_before_held_out([(a, b)])
    assert not fit_before_held_out([(a, b), (b, a)])


def test_told_in_a_sentence():
    assert chosen_told("given", {}, 1) is None
    assert "comparable models" in chosen_told("refit", {}, 1)
    assert "agree by 0.990" in chosen_told("refit", {"agreement": 0.99}, 1)
    assert chosen_told("average", {"agreement": 0.6, "exponent": 1.25}, 5).startswith(
        "The average of the 5 models of the folds, raised to the power 1.25"
    )
