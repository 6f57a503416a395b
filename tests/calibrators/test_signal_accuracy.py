"""The share right over a signal: bins, intervals and fits, by hand and against the maps."""

import numpy as np
import pytest

import calibrant as cb
from calibrant._numerics.intervals import wilson
from calibrant.errors import InputError


@pytest.fixture(scope="module")
def blobs():
    """(X_train, y_train), and rows (X, y, P) of a model that says the nearer of two means,
    blurred.
    """
    rng = np.random.default_rng(2)

    def draw(n):
        y = rng.integers(0, 2, n)
        X = rng.normal(2.0 * y[:, None] - 1.0, 1.0, (n, 2))
        p = 1.0 / (1.0 + np.exp(-X.sum(axis=1) - rng.normal(0.0, 1.5, n)))
        return X, y, np.column_stack([1.0 - p, p])

    X_train, y_train, _ = draw(300)
    return (X_train, y_train), draw(800)


def test_bins_are_shares_of_equal_weight(blobs):
    _, (_, y, P) = blobs
    found = cb.calibrators.signal_accuracy(y, P, cb.calibrators.TopProbability(), n_bins=4)
    top, right = P.max(axis=1), (P.argmax(axis=1) == y).astype(float)
    order = np.argsort(top).reshape(4, 200)
    np.testing.assert_allclose(found.bins.accuracy, right[order].mean(axis=1))
    np.testing.assert_allclose(found.bins.score, top[order].mean(axis=1))
    np.testing.assert_allclose(
        [found.bins.low, found.bins.high], wilson(right[order].sum(axis=1), np.full(4, 200.0), 0.95)
    )
    np.testing.assert_array_equal(found.bins.frame()["lower"], top[order].min(axis=1))


def test_fits_are_the_two_maps_on_all_rows(blobs):
    reference, (X, y, P) = blobs
    signal = cb.calibrators.FastSeparation().fit(P, y, X=X, reference=reference)
    found = cb.calibrators.signal_accuracy(y, P, signal, X=X)
    right = (P.argmax(axis=1) == y).astype(float)
    score = signal.score(P, X=X)
    np.testing.assert_array_equal(
        found.fits.isotonic, cb.Isotonic().fit(score, right).predict(found.fits.score)
    )
    np.testing.assert_array_equal(
        found.fits.sigmoid,
        cb.Platt(scale="probability").fit(score, right).predict(found.fits.score),
    )
    assert found.name == "FastSeparation"
    # From among another class to among its own a row changes from mostly wrong to mostly right.
    assert found.bins.score[0] < 0.0
    assert found.bins.accuracy[0] < 0.3
    assert found.bins.accuracy[-1] > 0.95


def test_an_unfitted_signal_is_fitted_on_the_side(blobs):
    reference, (X, y, P) = blobs
    signal = cb.calibrators.FastSeparation()
    fresh = cb.calibrators.signal_accuracy(y, P, signal, X=X, reference=reference)
    assert not hasattr(signal, "index_")
    fitted = cb.calibrators.signal_accuracy(y, P, signal.fit(P, y, X=X, reference=reference), X=X)
    np.testing.assert_array_equal(fresh.bins.accuracy, fitted.bins.accuracy)


def test_weights_are_repetition(blobs):
    _, (_, y, P) = blobs
    weight = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = cb.calibrators.signal_accuracy(y, P, cb.calibrators.Margin(), sample_weight=weight)
    repeated = cb.calibrators.signal_accuracy(y[rows], P[rows], cb.calibrators.Margin())
    for name in ("n", "accuracy", "low", "high"):
        np.testing.assert_allclose(
            getattr(weighted.bins, name), getattr(repeated.bins, name), atol=1e-9
        )


def test_wrong_arguments_are_refused_by_name(blobs):
    _, (X, y, P) = blobs
    for change, word in [
        ({"signal": cb.Isotonic()}, "signal"),
        ({"n_bins": 0}, "n_bins"),
        ({"level": 2.0}, "level"),
        ({"y_true": None}, "y_true"),
        ({"signal": cb.calibrators.FastSeparation(), "X": X}, "reference"),
    ]:
        with pytest.raises(InputError, match=word):
            cb.calibrators.signal_accuracy(
                **{"y_true": y, "P": P, "signal": cb.calibrators.Margin(), **change}
            )
