"""The paper's separation: against all pairs, its laws and bound, errata A and B, duplicates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from tests.calibrators.separation import clouds, nearest, scores

import calibrant as cb
from calibrant.errors import InputError


def pairs(x, own, others):
    """(others, own) of M; a duplicate covers nothing of a safe zone and all of a dangerous one:
    minus infinity either way.
    """
    near, far, apart = (
        np.linalg.norm(own - x, axis=1),
        np.linalg.norm(others - x, axis=1),
        cdist(others, own),
    )
    M = (far[:, None] ** 2 - near**2) / (2.0 * np.where(apart == 0.0, 1.0, apart))
    return np.where(apart == 0.0, -np.inf, M)


def brute(X, predicted, X_train, y_train, dangerous="min-max"):
    """Definition 4 by all pairs; no magnitude beyond the distance to the nearest point of the
    side it points to.
    """
    out = []
    for x, k, own, other in zip(
        X, predicted, *nearest(X, predicted, X_train, y_train), strict=True
    ):
        M = pairs(x, X_train[y_train == k], X_train[y_train != k])
        value = (
            M.max(axis=1).min() if own < other or dangerous == "min-max" else M.min(axis=0).max()
        )
        out.append(np.clip(value, -own, other))
    return np.array(out)


@pytest.mark.parametrize("dangerous", ["min-max", "max-min"])
@given(data=clouds())
@settings(max_examples=60, deadline=None)
def test_equals_brute_force(dangerous, data):
    np.testing.assert_allclose(
        scores(cb.calibrators.PairwiseSeparation(dangerous), *data),
        brute(*data, dangerous),
        atol=1e-9,
    )


@given(data=clouds())
@settings(max_examples=60, deadline=None)
def test_erratum_b_the_orders_of_the_bounds(data):
    """In magnitude: fast, then the formula as written, then (dangerous) with the roles
    exchanged.
    """
    fast = scores(cb.calibrators.FastSeparation(), *data)
    literal, swapped = (
        scores(cb.calibrators.PairwiseSeparation(), *data),
        scores(cb.calibrators.PairwiseSeparation("max-min"), *data),
    )
    assert (np.abs(fast) <= np.abs(literal) + 1e-9).all()
    assert (np.abs(literal) <= np.abs(swapped) + 1e-9).all()
    assert (literal * fast >= -1e-12).all()
    own, other = nearest(*data)
    safe = own < other
    assert (literal[safe] == swapped[safe]).all()


@pytest.mark.parametrize("dangerous", ["min-max", "max-min"])
@given(data=clouds())
@settings(max_examples=40, deadline=None)
def test_proposition_3_bounds_the_gap_to_fast_separation(dangerous, data):
    own, other = nearest(*data)
    gap = np.abs(
        scores(cb.calibrators.PairwiseSeparation(dangerous), *data)
        - scores(cb.calibrators.FastSeparation(), *data)
    )
    assert (gap <= 0.5 * (own + other) + 1e-9).all()


@given(data=clouds(), factor=st.sampled_from([1e-6, 0.3, 1e6]), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_motion_scale_and_row_order(data, factor, seed):
    X, predicted, X_train, y_train = data
    rng = np.random.default_rng(seed)
    turn, move = np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0], rng.normal(size=X.shape[1])
    order = rng.permutation(len(y_train))
    # A turn parts duplicates by rounding, so whole-number clouds are only scaled and shuffled.
    whole = (np.round(X_train) == X_train).all()
    carry = (lambda Z: Z * factor) if whole else (lambda Z: (Z @ turn + move) * factor)
    moved = scores(
        cb.calibrators.PairwiseSeparation(),
        carry(X),
        predicted,
        carry(X_train)[order],
        y_train[order],
    )
    np.testing.assert_allclose(
        moved / factor, scores(cb.calibrators.PairwiseSeparation(), *data), atol=1e-6
    )


def test_erratum_a_the_example():
    """Definition 4 gives 1.9007 where every point within 2.125 is nearer to F: no x' alone
    covers the ball.
    """
    X_train, y = np.array([[1.0, 1.5], [1.0, -1.5], [4.0, 0.0]]), np.array([0, 0, 1])
    fast, found, zone = (
        scores(signal, np.zeros((1, 2)), np.array([0]), X_train, y)[0]
        for signal in (
            cb.calibrators.FastSeparation(),
            cb.calibrators.PairwiseSeparation(),
            cb.calibrators.MaximalZone(),
        )
    )
    assert fast == pytest.approx((4 - 3.25**0.5) / 2)
    assert found == pytest.approx((16 - 3.25) / (2 * 11.25**0.5), abs=1e-12)
    rng = np.random.default_rng(0)
    direction = rng.normal(size=(200_000, 2))
    ball = (
        direction
        / np.linalg.norm(direction, axis=1)[:, None]
        * np.sqrt(rng.random(200_000))[:, None]
    )

    def nearer_to_the_other(radius):
        own, other = nearest(ball * radius, np.zeros(len(ball), dtype=int), X_train, y)
        return int((own > other).sum())

    assert nearer_to_the_other(1.1 * found) == nearer_to_the_other(0.9995 * zone) == 0
    assert nearer_to_the_other(1.03 * zone) > 0


def test_larger_set_in_single_precision():
    """Past the size at which whole numbers are kept in float32, to float64 rounding all the
    same.
    """
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 2600)
    centre = rng.integers(60, 200, (3, 800))
    X_train = np.clip(centre[y] + rng.normal(0, 40, (2600, 800)), 0, 255).astype(np.uint8)
    X = np.clip(centre[[0, 1, 2, 0]] + rng.normal(0, 40, (4, 800)), 0, 255).astype(np.uint8)
    predicted = np.array([0, 1, 0, 2])
    signal = cb.calibrators.PairwiseSeparation()
    found = scores(signal, X, predicted, X_train, y)
    assert signal.index_.points_.points.dtype == np.float32
    np.testing.assert_allclose(
        found, brute(X.astype(float), predicted, X_train.astype(float), y), rtol=1e-10
    )


def test_sides_without_points():
    X_train, y, X = np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([0, 0]), np.array([[5.0, 5.0]])
    assert scores(cb.calibrators.PairwiseSeparation(), X, np.array([1]), X_train, y).tolist() == [
        -1.0
    ]
    assert scores(cb.calibrators.PairwiseSeparation(), X, np.array([0]), X_train, y).tolist() == [
        1.0
    ]


def test_added_points():
    rng = np.random.default_rng(5)
    X_train, y, X, predicted = (
        rng.normal(size=(40, 3)),
        rng.integers(0, 2, 40),
        rng.normal(size=(6, 3)),
        rng.integers(0, 2, 6),
    )
    P = np.eye(2)[predicted]
    signal = (
        cb.calibrators.PairwiseSeparation(scale="none")
        .fit(P, predicted, X=X, reference=(X_train[:25], y[:25]))
        .add(X_train[25:], y[25:])
    )
    np.testing.assert_allclose(signal.score(P, X=X), brute(X, predicted, X_train, y), atol=1e-10)


def test_unknown_order():
    with pytest.raises(InputError, match="dangerous"):
        cb.calibrators.PairwiseSeparation("max").fit(
            [[0.5, 0.5]], [0], X=[[0.0]], reference=([[0.0]], [0])
        )
