"""The temperature kernel: derivatives, float32, and sums that do not depend on threads."""

import numpy as np
import pytest
from scipy.optimize import minimize

from calibrant._numerics import temperature
from calibrant._numerics.logistic import log_softmax
from calibrant._numerics.temperature import (
    increasing_root,
    inverse_temperature,
    nll_derivatives,
    tilted_losses,
    tilted_root,
    tilts,
)
from calibrant._numerics.threads import threads


def _logits(n, n_classes, beta, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, n_classes)) * 2.0
    return (
        logits,
        (beta * logits + rng.gumbel(size=logits.shape)).argmax(axis=1),
        rng.uniform(0.5, 2.0, n),
    )


def test_derivatives_agree_with_differences():
    logits, labels, weight = _logits(50, 4, 1.0)
    value, slope, curvature = nll_derivatives(0.7, logits, labels, weight)
    h = 1e-5
    ahead, behind = (nll_derivatives(0.7 + d, logits, labels, weight) for d in (h, -h))
    assert (ahead[0] - behind[0]) / (2 * h) == pytest.approx(slope, rel=1e-6)
    assert (ahead[0] - 2 * value + behind[0]) / h**2 == pytest.approx(curvature, rel=1e-3)


def test_single_precision_and_the_coarse_start_do_not_move_the_optimum(monkeypatch):
    logits, labels, weight = _logits(3000, 20, 0.6)
    exact, status = inverse_temperature(logits, labels, weight, 1e-3, 1e3)
    monkeypatch.setattr(temperature, "SINGLE_ENTRIES", 1000)
    single, single_status = inverse_temperature(
        logits.astype(np.float32), labels, weight, 1e-3, 1e3
    )
    assert status == single_status == "converged"
    assert single == pytest.approx(exact, rel=1e-6)


def test_the_number_of_threads_changes_no_bit():
    logits, labels, weight = _logits(2000, 100, 1.3)
    ends = []
    for n in (1, 2, 3):
        with threads(n):
            ends.append(inverse_temperature(logits, labels, weight, 1e-3, 1e3)[0])
    assert len(set(ends)) == 1


def test_the_series_about_one_temperature_tells_losses_and_roots_near_by():
    rng = np.random.default_rng(5)
    logits, weight = rng.normal(size=(2000, 4)) * 2.0, rng.uniform(0.5, 2.0, 2000)
    labels = (0.6 * logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    beta, _ = inverse_temperature(logits, labels, weight)
    series = tilts(beta, logits, labels)
    near = beta * 1.01
    exact = np.log(np.exp(near * logits).sum(axis=1)) - near * logits[np.arange(2000), labels]
    np.testing.assert_allclose(tilted_losses(series, near - beta), exact, atol=1e-8)
    part = rng.random(2000) < 0.8
    root, _ = inverse_temperature(logits[part], labels[part], weight[part])
    assert beta + tilted_root(series[part], weight[part], 0.1) == pytest.approx(root, rel=1e-6)
    assert tilted_root(series[part], weight[part], 1e-9) is None


def test_derivatives_by_hand_in_blocks_of_any_size(monkeypatch):
    rng = np.random.default_rng(0)
    z, labels, weight, beta = (
        rng.normal(size=(7, 3)) * 2,
        rng.integers(0, 3, 7),
        rng.uniform(0.5, 2.0, 7),
        0.7,
    )
    p = np.exp(beta * z) / np.exp(beta * z).sum(axis=1, keepdims=True)
    own, mean = z[np.arange(7), labels], (p * z).sum(axis=1)
    loss = -np.log(p[np.arange(7), labels])
    second = (p * z * z).sum(axis=1) - mean**2
    expected = [np.average(one, weights=weight) for one in (loss, mean - own, second)]
    for entries in (65_536, 6, 1):
        monkeypatch.setattr(temperature, "BLOCK_ENTRIES", entries)
        np.testing.assert_allclose(nll_derivatives(beta, z, labels, weight), expected)
        found = tilts(beta, z, labels)
        centred = z - mean[:, None]
        third, fourth = (p * centred**3).sum(axis=1), (p * centred**4).sum(axis=1)
        np.testing.assert_allclose(
            found,
            np.column_stack([loss, mean - own, second, third, fourth - 3 * second**2]),
            atol=1e-12,
        )
    np.testing.assert_allclose(
        tilted_losses(found, 0.1), found @ [1.0, 0.1, 0.005, 0.001 / 6, 0.0001 / 24]
    )
    change = tilted_root(found, weight, 10.0)
    slope = weight @ found[:, 1:]
    assert slope @ [1.0, change, change**2 / 2, change**3 / 6] == pytest.approx(0.0, abs=1e-9)
    assert tilted_root(found, weight, 0.5 * abs(change)) is None


def test_where_the_loss_has_no_finite_optimum():
    """Labels that are all the largest logit are fitted to targets smoothed by 1 / (n + 1); flat
    logits keep their temperature.
    """
    z = np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    labels, weight = np.array([0, 1, 0]), np.array([1.0, 2.0, 1.0])
    beta, status = inverse_temperature(z, labels, weight)
    assert status == "separable"
    p = 1.0 / (1.0 + np.exp(-beta * np.array([2.0, 1.0, 3.0])))
    lead = np.array([2.0, 1.0, 3.0])
    # The slope -(1 - p) lead, and a fifth of the half by which the own logit is above the mean.
    assert weight @ (-(1 - p) * lead + 0.5 * lead / 5.0) == pytest.approx(0.0, abs=1e-6)
    assert inverse_temperature(np.full((4, 3), 7.0), np.zeros(4, dtype=int), np.ones(4)) == (
        1.0,
        "flat",
    )
    ulp = np.spacing(7.0)
    assert (
        inverse_temperature(7.0 + ulp * np.array([[0, 4], [4, 0.0]]), np.array([0, 1]), np.ones(2))[
            1
        ]
        == "flat"
    )
    assert (
        inverse_temperature(7.0 + ulp * np.array([[0, 5], [4, 0.0]]), np.array([0, 1]), np.ones(2))[
            1
        ]
        != "flat"
    )
    assert temperature.is_separable(z, labels)
    assert not temperature.is_separable(z, np.array([0, 1, 1]))
    assert temperature.is_separable(np.array([[1.0, 1.0]]), np.array([1]))
    many = np.repeat(z, 400, axis=0)
    wrong = np.append(np.repeat(labels, 400)[:-1], 1)
    assert not temperature.is_separable(many, wrong)
    assert temperature.is_separable(many, np.repeat(labels, 400))


# -- roots --------------------------------------------------------------------------------------
# The safeguarded Newton iteration: its root, its bounds, and what it says.


@pytest.mark.parametrize("root", [2e-3, 0.5, 1.0, 7.0, 900.0])
@pytest.mark.parametrize("start", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shape", ["line", "cube", "log", "arctan"])
def test_finds_the_root_from_anywhere(shape, start, root):
    functions = {
        "line": lambda x: (x - root, 1.0),
        "cube": lambda x: (x**3 - root**3, 3 * x**2),
        "log": lambda x: (np.log(x / root), 1 / x),
        # Newton alone diverges on it.
        "arctan": lambda x: (np.arctan(50 * (x - root)), 50 / (1 + (50 * (x - root)) ** 2)),
    }
    x, status = increasing_root(functions[shape], 1e-3, 1e3, start)
    assert status == "converged"
    assert x == pytest.approx(root, rel=1e-9)


def test_stops_at_the_bounds_and_says_so():
    assert increasing_root(lambda x: (x + 1.0, 1.0), 1e-3, 1e3, 1.0) == (1e-3, "at lower bound")
    assert increasing_root(lambda x: (x - 1e9, 1.0), 1e-3, 1e3, 1.0) == (1e3, "at upper bound")
    # However little is missing there; at a bound that is the root itself nothing is.
    assert increasing_root(lambda x: (x, 1.0), 1e-3, 1e3, 1.0) == (1e-3, "at lower bound")
    assert increasing_root(lambda x: (x - 1000.1, 1.0), 1e-3, 1e3, 1.0) == (1e3, "at upper bound")
    assert increasing_root(lambda x: (x - 1e-3, 1.0), 1e-3, 1e3, 1.0) == (1e-3, "converged")
    assert increasing_root(lambda x: (x - 1e3, 1.0), 1e-3, 1e3, 1.0) == (1e3, "converged")


def test_nothing_to_learn_stays_at_the_start():
    assert increasing_root(lambda _: (0.0, 0.0), 1e-3, 1e3, 1.0) == (1.0, "flat")


def test_a_step_function_ends():
    x, status = increasing_root(lambda x: (np.sign(x - 3.0), 0.0), 1e-3, 1e3, 1.0)
    assert x == pytest.approx(3.0, rel=1e-9)
    assert status == "converged"


def test_too_few_steps_are_reported():
    assert (
        increasing_root(lambda x: (x**3 - 8.0, 3 * x**2), 1e-3, 1e3, 500.0, max_steps=2)[1]
        == "max steps"
    )


# -- top label ----------------------------------------------------------------------------------
# The top-label loss: its minimum against a dense search and a general optimiser, its gradient
# against differences.


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
        temperature.TopLabels(
            others, correct, weight, of, count, award_of=predicted, n_awards=4, ridge=ridge
        )
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
    beta, _, _ = temperature.fit_top_label(
        temperature.TopLabels(others, correct, weight, np.zeros(400, dtype=np.intp), 1)
    )
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
            temperature.TopLabels(others, correct, weight, predicted, 5, ridge=ridge, centre=0.7)
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

    rows = temperature.TopLabels(
        others, correct, weight, of, count, award_of=predicted, n_awards=4, ridge=0.5
    )
    start = temperature.fit_top_label(rows)[:2]
    beta, award = temperature.refine_brier(*start, rows)
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
        rows = temperature.TopLabels(others, correct, weight, of, 2, award_of, n_awards, 0.3, 0.2)
        t = np.array([0.4, -0.3])
        value, slope, award = temperature._profile(t, rows)
        assert len(award) == n_awards
        for k in range(2):
            step = 1e-5 * np.eye(2)[k]
            ends = [temperature._profile(t + sign * step, rows)[0].sum() for sign in (1, -1)]
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
        temperature.TopLabels(others, np.ones(2), np.ones(2), np.zeros(2, dtype=int), 1)
    )
    assert beta[0] == pytest.approx(1e3)
    assert bound.tolist() == [True]
    beta, _, bound = temperature.fit_top_label(
        temperature.TopLabels(others, np.zeros(2), np.ones(2), np.zeros(2, dtype=int), 1)
    )
    assert beta[0] == pytest.approx(1e-3)
    assert bound.tolist() == [True]
    beta, _, bound = temperature.fit_top_label(
        temperature.TopLabels(
            0 * others, np.array([1.0, 0.0]), np.ones(2), np.zeros(2, dtype=int), 1, centre=0.7
        )
    )
    assert beta[0] == pytest.approx(np.exp(0.7))
    assert bound.tolist() == [False]
