import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit

from calibrant import Isotonic, Platt
from calibrant._numerics.smoothing import curved_basis, penalty_root
from calibrant.calibrators import Spline
from calibrant.errors import InputError


def test_squared_coefficients_are_the_roughness():
    knots = np.array([-1.0, -0.2, 0.5, 1.5])
    root, b = penalty_root(knots), np.array([0.7, -0.4])

    def second(x, h=1e-3):
        at = curved_basis(np.array([x - h, x, x + h]), knots, root) @ b
        return ((at[0] - 2 * at[1] + at[2]) / h**2) ** 2

    assert quad(second, -1, 1.5, limit=200, points=knots[1:-1])[0] == pytest.approx(b @ b, rel=1e-2)
    outside = curved_basis(np.array([2.0, 3.0, 4.0]), knots, root) @ b
    assert outside[2] - outside[1] == pytest.approx(outside[1] - outside[0])


def test_straight_data_give_platt():
    rng = np.random.default_rng(0)
    score = expit(rng.normal(0, 2, 5000))
    correct = rng.random(5000) < expit(0.6 * logit(score) + 0.2)
    m = Spline().fit(score, correct)
    inner = score[(score > 0.05) & (score < 0.95)]
    np.testing.assert_allclose(
        m.predict(inner), Platt().fit(score, correct).predict(inner), atol=0.01
    )


def test_bent_data_are_followed():
    rng = np.random.default_rng(1)
    score = expit(rng.normal(0, 2, 5000))
    truth = 0.5 + 0.4 * np.tanh(2 * np.sin(2 * logit(score)))
    correct = (rng.random(5000) < truth).astype(float)
    m = Spline(n_knots=20).fit(score, correct)
    assert np.isfinite(m.penalty_)
    error = {
        name: np.mean((other.fit(score, correct).predict(score) - truth) ** 2)
        for name, other in (("spline", m), ("platt", Platt()))
    }
    assert error["spline"] < 0.1 * error["platt"]


def test_smooth_truth_is_better_met_than_by_isotonic():
    ratio = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        score = rng.random(2000)
        truth = score**2 * (3 - 2 * score)
        correct = rng.random(2000) < truth
        a, b = (
            np.mean((other.fit(score, correct).predict(score) - truth) ** 2)
            for other in (Spline(), Isotonic())
        )
        ratio.append(a / b)
    assert np.mean(ratio) < 0.5


def test_calibrated_input_is_left_alone():
    change = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        s = expit(rng.normal(0.5, 2.0, 20_000))
        p = Spline().fit(s, rng.random(20_000) < s).predict(s)
        change.append(
            (s * (np.log(s) - np.log(p)) + (1 - s) * (np.log1p(-s) - np.log1p(-p))).mean()
        )
    assert np.min(change) >= 0
    assert np.mean(change) < 1e-4


@pytest.mark.parametrize(
    "score",
    [[0.0, 1.0] * 5, [0.0] * 5 + [1.0] * 5, [1.0] * 10, np.linspace(0, 1, 10), np.full(10, 0.3)],
)
def test_hard_cases_stay_inside_zero_and_one(score):
    correct = np.repeat([0, 1], 5)
    p = Spline().fit(score, correct).predict(np.linspace(0, 1, 50))
    assert ((p > 0) & (p < 1)).all()


def test_too_few_knots_are_refused():
    with pytest.raises(InputError, match="n_knots"):
        Spline(n_knots=2).fit([0.1, 0.2], [0, 1])
