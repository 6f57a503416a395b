import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from calibrant import metrics
from calibrant.errors import InputError

RNG = np.random.default_rng(0)
P = np.round(RNG.random(500), 2)
Y = (RNG.random(500) < P**2).astype(int)
WEIGHT = RNG.integers(1, 4, 500)


def test_the_parts_are_those_of_an_isotonic_fit():
    fit = IsotonicRegression().fit(P, Y, sample_weight=WEIGHT).predict(P)
    base = np.average(Y, weights=WEIGHT)

    def brier(p):
        return np.average((p - Y) ** 2, weights=WEIGHT)

    parts = metrics.brier_decomposition(Y, P, target="event", sample_weight=WEIGHT)
    assert parts.miscalibration == pytest.approx(brier(P) - brier(fit), abs=1e-12)
    assert parts.discrimination == pytest.approx(brier(base) - brier(fit), abs=1e-12)
    assert parts.uncertainty == pytest.approx(brier(base), abs=1e-12)


def test_no_part_is_negative_and_classes_add_up():
    Q = RNG.dirichlet(np.ones(4), 300)
    y = RNG.integers(0, 4, 300)
    whole = metrics.brier_decomposition(y, Q)
    each = [metrics.brier_decomposition(y, Q, target=k) for k in range(4)]
    for part in ("score", "miscalibration", "discrimination", "uncertainty"):
        assert getattr(whole, part) == pytest.approx(sum(getattr(e, part) for e in each), abs=1e-12)
        assert getattr(whole, part) >= 0.0


def test_impossible_outcomes_keep_the_log_loss_finite():
    parts = metrics.log_loss_decomposition([1, 0], [0.0, 1.0], target="event")
    assert np.isfinite(parts.score)
    assert parts.miscalibration - parts.discrimination + parts.uncertainty == pytest.approx(
        parts.score
    )


def test_refusals():
    with pytest.raises(InputError, match="target must be"):
        metrics.log_loss_decomposition(Y, P, target="classes")
    with pytest.raises(InputError, match="y_true must be"):
        metrics.brier_decomposition(None, P)
