"""The top-label loss: its minimum against a dense search and a general optimiser, its gradient
against differences.
"""

import numpy as np
import pytest
from scipy.optimize import minimize

from calibrant._kernels import temperature
from calibrant._kernels.softmax import log_softmax


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.normal(size=(400, 4))
    truth = np.array(
        [
            rng.choice(4, p=np.exp(row))
            for row in log_softmax(0.6 * logits + np.array([0, 0.5, 0, -0.5]))
        ]
    )
    predicted = logits.argmax(axis=1)
    return (
        logits,
        predicted,
        (predicted == truth).astype(float),
        rng.integers(1, 3, 400).astype(float),
    )


def _loss(parameters, problem, per_class, ridge):
    logits, predicted, correct, weight = problem
    award, t = parameters[:4], parameters[4:]
    z = logits * np.exp(t[predicted] if per_class else t[0])[..., None]
    z[np.arange(len(z)), predicted] += award[predicted]
    log_p = log_softmax(z)
    own = log_p[np.arange(len(z)), predicted]
    rest = np.log(np.maximum(-np.expm1(own), 1e-300))
    return -(weight @ (correct * own + (1 - correct) * rest)) + ridge * (
        np.sum(award**2) + np.sum(t**2)
    )


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_awards_and_temperatures_reach_the_least_loss(problem, per_class, ridge):
    logits, predicted, correct, weight = problem
    others = temperature.other_logits(logits, predicted)
    of, count = (predicted, 4) if per_class else (np.zeros(400, dtype=np.intp), 1)
    beta, award, at_bound = temperature.fit_top_label(
        others, correct, weight, of, count, award_of=predicted, n_awards=4, ridge=ridge
    )
    assert not at_bound.any()
    found = np.concatenate([award, np.log(beta)])
    general = minimize(_loss, np.zeros(4 + count), args=(problem, per_class, ridge), tol=1e-10)
    assert _loss(found, problem, per_class, ridge) <= general.fun + 1e-8
    assert found == pytest.approx(general.x, abs=2e-3)
    for j in range(len(found)):
        step = np.zeros(len(found))
        step[j] = 1e-5
        up, down = (_loss(found + s * step, problem, per_class, ridge) for s in (1, -1))
        assert (up - down) / 2e-5 == pytest.approx(0.0, abs=1e-4)


def test_one_temperature_is_the_best_of_a_dense_grid(problem):
    logits, predicted, correct, weight = problem
    others = temperature.other_logits(logits, predicted)
    beta, _, _ = temperature.fit_top_label(others, correct, weight, np.zeros(400, dtype=np.intp), 1)
    dense = np.linspace(-3, 3, 2001)
    values = [_loss(np.array([0, 0, 0, 0, t]), problem, False, 0.0) for t in dense]
    assert np.log(beta[0]) == pytest.approx(dense[int(np.argmin(values))], abs=0.004)


def test_the_rest_has_its_derivative():
    rng = np.random.default_rng(1)
    others, beta = -rng.exponential(size=(50, 6)), rng.uniform(0.1, 30.0, 50)
    u, slope = temperature.log_rest(others, beta)
    up, down = (temperature.log_rest(others, beta + s * 1e-6)[0] for s in (1, -1))
    assert u == pytest.approx(np.log(np.exp(others * beta[:, None]).sum(axis=1)))
    assert slope == pytest.approx((up - down) / 2e-6, abs=1e-6)


def test_a_class_with_no_rows_stays_at_the_centre(problem):
    logits, predicted, correct, weight = problem
    others = temperature.other_logits(logits, predicted)
    for ridge in (0.0, 1.0):
        beta, _, at_bound = temperature.fit_top_label(
            others, correct, weight, predicted, 5, ridge=ridge, centre=0.7
        )
        assert np.log(beta[4]) == pytest.approx(0.7, abs=1e-6)
        assert not at_bound[4]


@pytest.mark.parametrize("per_class", [False, True])
def test_brier_reaches_a_minimum_below_its_start(problem, per_class):
    logits, predicted, correct, weight = problem
    others = temperature.other_logits(logits, predicted)
    of, count = (predicted, 4) if per_class else (np.zeros(400, dtype=np.intp), 1)

    def brier(beta, award):
        p = 1.0 / (1.0 + np.exp(temperature.log_rest(others, beta[of])[0] - award[predicted]))
        return weight @ (correct - p) ** 2 + 0.5 * (award @ award + np.log(beta) @ np.log(beta))

    start = temperature.fit_top_label(
        others, correct, weight, of, count, award_of=predicted, n_awards=4, ridge=0.5
    )[:2]
    beta, award = temperature.refine_brier(
        *start, others, correct, weight, of, award_of=predicted, ridge=0.5
    )
    assert brier(beta, award) < brier(*start)
    for j in range(4):
        step = 1e-4 * (np.arange(4) == j)
        assert brier(beta, award + step) > brier(beta, award) - 1e-9
        assert brier(beta, award - step) > brier(beta, award) - 1e-9
    assert brier(beta * 1.001, award) > brier(beta, award) - 1e-9
    assert brier(beta * 0.999, award) > brier(beta, award) - 1e-9


def test_the_other_logits_and_their_rest_in_blocks_of_any_size(monkeypatch):
    logits = np.array([[1.0, 3.0, 0.0], [2.0, 2.5, 4.0]])
    others = temperature.other_logits(logits, np.array([1, 0]))
    assert others.tolist() == [[-2.0, -3.0], [0.5, 2.0]]
    beta = np.array([0.5, 2.0])
    for cells in (65_536, 2, 1):
        monkeypatch.setattr(temperature, "BLOCK_CELLS", cells)
        u, slope = temperature.log_rest(others, beta)
        np.testing.assert_allclose(u, np.log(np.exp(beta[:, None] * others).sum(axis=1)))
        weights = np.exp(beta[:, None] * others - u[:, None])
        np.testing.assert_allclose(slope, (weights * others).sum(axis=1))


def test_awards_by_hand():
    """One group whose odds are right at 3 of 4: logit(3/4) above u; none right or all: as far as
    there is room; a ridge: its root.
    """
    u, group = np.full(4, 0.7), np.zeros(4, dtype=int)
    right = np.array([1.0, 1.0, 1.0, 0.0])
    np.testing.assert_allclose(
        temperature._awards(u, right, np.ones(4), group, 1, 0.0), 0.7 + np.log(3.0)
    )
    np.testing.assert_allclose(
        temperature._awards(u, np.ones(4), np.ones(4), group, 1, 0.0), 20.7, atol=1e-6
    )
    np.testing.assert_allclose(
        temperature._awards(u, np.zeros(4), np.ones(4), group, 1, 0.0), 0.7 - 20.0, atol=1e-6
    )
    award = temperature._awards(u, right, np.array([1.0, 2.0, 1.0, 3.0]), group, 1, 0.4)[0]
    np.testing.assert_allclose(
        7.0 / (1.0 + np.exp(0.7 - award)) - 4.0 + 0.8 * award, 0.0, atol=1e-9
    )


def test_the_profile_has_its_slope():
    rng = np.random.default_rng(0)
    others, correct, weight = (
        rng.normal(-1, 1, (9, 2)),
        rng.integers(0, 2, 9).astype(float),
        rng.uniform(0.5, 2, 9),
    )
    of = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    for n_awards, award_of in ((0, None), (2, of), (1, np.zeros(9, dtype=int))):
        given = (others, correct, weight, of, 2, award_of, n_awards, 0.3, 0.2)
        t = np.array([0.4, -0.3])
        value, slope, award = temperature._profile(t, *given)
        assert len(award) == n_awards
        for k in range(2):
            step = 1e-5 * np.eye(2)[k]
            ends = [temperature._profile(t + sign * step, *given)[0].sum() for sign in (1, -1)]
            several = 2 if n_awards == 1 else 1  # one award's ridge is counted for each temperature
            if several == 1:
                np.testing.assert_allclose(slope[k], (ends[0] - ends[1]) / 2e-5, atol=1e-6)
        margin = (award[award_of] if n_awards else 0.0) - temperature.log_rest(
            others, np.exp(t)[of]
        )[0]
        loss = weight * (
            np.log1p(np.exp(-margin)) * correct + np.log1p(np.exp(margin)) * (1 - correct)
        )
        ridge = 0.3 * ((award**2 if n_awards == 2 else (award**2).sum()) + (t - 0.2) ** 2)
        np.testing.assert_allclose(value, np.bincount(of, loss) + ridge)


def test_roots_of_several_functions_at_once():
    found = temperature._roots(
        lambda t: np.array([t[0] ** 3 - 2.0, t[1] + 5.0, t[2] - 9.0, np.exp(t[3]) - 1.0]),
        np.full(4, -1.0),
        np.full(4, 2.0),
    )
    np.testing.assert_allclose(found, [2.0 ** (1 / 3), -1.0, 2.0, 0.0], atol=1e-9)


def test_a_temperature_at_its_bound_says_so():
    """Rows that are all right want to be sure without end; rows of no slope keep the centre."""
    others = np.array([[-1.0], [-2.0]])
    beta, _, bound = temperature.fit_top_label(
        others, np.ones(2), np.ones(2), np.zeros(2, dtype=int), 1
    )
    assert beta[0] == pytest.approx(1e3)
    assert bound.tolist() == [True]
    beta, _, bound = temperature.fit_top_label(
        others, np.zeros(2), np.ones(2), np.zeros(2, dtype=int), 1
    )
    assert beta[0] == pytest.approx(1e-3)
    assert bound.tolist() == [True]
    beta, _, bound = temperature.fit_top_label(
        0 * others, np.array([1.0, 0.0]), np.ones(2), np.zeros(2, dtype=int), 1, centre=0.7
    )
    assert beta[0] == pytest.approx(np.exp(0.7))
    assert bound.tolist() == [False]
