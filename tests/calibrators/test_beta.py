import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from calibrant import Platt
from calibrant.calibrators import Beta
from calibrant.errors import InputError


def planted(a, b, c, n, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.beta(0.7, 0.5, n)
    return s, (rng.random(n) < expit(a * np.log(s) - b * np.log1p(-s) + c)).astype(float)


def loss(theta, s, correct):
    z = theta[0] * np.log(s) - theta[1] * np.log1p(-s) + theta[2]
    return float(np.mean(np.logaddexp(0, z) - correct * z))


@pytest.mark.parametrize("truth", [(0.5, 2.0, 0.3), (3.0, 0.2, -1.0), (1.0, 1.0, 0.0)])
def test_planted_parameters_are_recovered(truth):
    m = Beta().fit(*planted(*truth, 200_000))
    np.testing.assert_allclose([m.a_, m.b_, m.c_], truth, atol=0.1)


@pytest.mark.parametrize(
    "truth", [(0.5, 2.0, 0.3), (-1.0, 2.0, 0.0), (2.0, -0.5, 0.0), (-1.0, -1.0, 0.5)]
)
def test_fit_is_the_constrained_optimum(truth):
    s, correct = planted(*truth, 400, seed=3)
    m = Beta().fit(s, correct)
    best = min(
        minimize(
            loss,
            start,
            (s, correct),
            method="L-BFGS-B",
            bounds=[(0, None), (0, None), (None, None)],
        ).fun
        for start in ([1, 1, 0], [0, 1, 0], [1, 0, 0])
    )
    assert m.a_ >= 0
    assert m.b_ >= 0
    assert loss([m.a_, m.b_, m.c_], s, correct) <= best + 1e-10
    assert m.status_ == "converged"


def test_am_is_platt_without_smoothing():
    s, correct = planted(0.7, 0.7, 0.5, 500)
    m, platt = Beta(parameters="am").fit(s, correct), Platt(smoothing=False).fit(s, correct)
    assert m.a_ == m.b_ == pytest.approx(platt.slope_, rel=1e-8)
    assert m.c_ == pytest.approx(platt.intercept_, abs=1e-8)


def test_ab_passes_through_one_half():
    m = Beta(parameters="ab").fit(*planted(0.5, 2.0, 0.3, 500))
    assert m.predict([0.5])[0] == pytest.approx(0.5)


@pytest.mark.parametrize("parameters", ["abm", "am", "ab"])
@pytest.mark.parametrize(
    ("score", "correct"),
    [
        ([0.0, 1.0], [0, 1]),
        ([0.0, 1.0], [1, 0]),
        ([0.3] * 6, [0, 1] * 3),
        ([0.0] * 6, [0, 1] * 3),
        ([1.0] * 6, [0, 1] * 3),
        ([0.1, 0.4, 0.9], [1, 1, 1]),
        ([0.1, 0.4, 0.9], [0, 0, 0]),
        ([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1]),
        ([0.1, 0.5, 0.9], [0, 1, 0]),
    ],
)
def test_degenerate_data_stay_finite(parameters, score, correct):
    m = Beta(parameters=parameters).fit(score, correct)
    p = m.predict(np.linspace(0, 1, 11))
    assert ((p > 0) & (p < 1)).all()
    assert (np.diff(p) >= 0).all()
    assert np.isfinite([m.a_, m.b_, m.c_]).all()
    assert m.status_ in ("converged", "separable")


def test_separable_data_are_bounded_by_the_number_of_rows():
    score = np.linspace(0.01, 0.99, 20)
    m = Beta().fit(score, score > 0.5)
    assert m.status_ == "separable"
    assert m.predict(score).max() < 1 - 1e-4
    assert m.predict(score).min() > 1e-4


def test_calibrated_input_is_left_alone():
    """The expected log loss rises by 3 parameters / 2 n = 7.5e-05 on average: the price of
    fitting what is already right.
    """
    change = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        s = expit(rng.normal(0.5, 2.0, 20_000))
        p = Beta().fit(s, rng.random(20_000) < s).predict(s)
        change.append(
            (s * (np.log(s) - np.log(p)) + (1 - s) * (np.log1p(-s) - np.log1p(-p))).mean()
        )
    assert np.min(change) >= 0
    assert np.mean(change) < 1e-4


def test_small_probabilities_keep_their_precision():
    s = np.array([1e-9, 1e-7, 0.2, 0.5, 0.7, 1 - 1e-9])
    m = Beta().fit(*planted(1.0, 1.0, 0.0, 5000))
    z = m.a_ * np.log(s) - m.b_ * np.log1p(-s) + m.c_
    np.testing.assert_allclose(logit(m.predict(s)[:5]), z[:5], rtol=1e-12)


def test_unknown_parameters_are_refused():
    with pytest.raises(InputError, match="parameters"):
        Beta(parameters="abc").fit([0.1, 0.2], [0, 1])
