import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from calibrant._numerics.thresholds import _rising_likelihoods, crossing_interval


def expit(z):
    return 1.0 / (1.0 + np.exp(-z))


def held(n, risk, slope, base, repeats, seed, values=0):
    """How often the interval holds the score where the risk crosses; with ``values``, scores are
    rounded to so many a unit.
    """
    rng, inside = np.random.default_rng(seed), 0
    crossing = (np.log(risk / (1.0 - risk)) - base) / slope
    for _ in range(repeats):
        score = rng.normal(size=n)
        score = np.round(score * values) / values if values else score
        hit = (rng.random(n) < expit(base + slope * score)).astype(float)
        unique, index = np.unique(score, return_inverse=True)
        low, high = crossing_interval(
            unique, np.bincount(index, weights=hit), np.bincount(index).astype(float), risk, 0.95
        )
        first = np.ceil(crossing * values - 1e-9) / values if values else crossing
        inside += low < first <= high
    return inside / repeats


def test_it_holds_the_crossing():
    # 150 runs: 0.95 - 3 standard errors.
    assert held(150, 0.2, 1.0, -1.0, 150, 1) >= 0.896
    assert held(200, 0.05, 1.5, -3.0, 100, 2, values=4) >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize("values", [0, 4])
@pytest.mark.parametrize(
    ("n", "risk", "slope", "base"),
    [
        (300, 0.2, 1.0, -1.0),
        (1000, 0.5, 0.5, 0.0),
        (500, 0.05, 1.5, -3.0),
        (300, 0.2, 0.02, -1.386),
    ],
)
def test_it_holds_the_crossing_over_many_runs(n, risk, slope, base, values):
    assert held(n, risk, slope, base, 600, 3, values) >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / 600)


def test_a_weight_is_a_repetition():
    score, hits, mass = (
        np.arange(6.0),
        np.array([0.0, 1.0, 0.0, 2.0, 1.0, 3.0]),
        np.array([3.0, 4.0, 2.0, 3.0, 1.0, 3.0]),
    )
    rows = np.repeat(score, mass.astype(int))
    outcome = np.concatenate(
        [np.r_[np.ones(int(h)), np.zeros(int(m - h))] for h, m in zip(hits, mass, strict=True)]
    )
    unique, index = np.unique(rows, return_inverse=True)
    again = crossing_interval(
        unique, np.bincount(index, weights=outcome), np.bincount(index).astype(float), 0.4, 0.9
    )
    assert again == crossing_interval(score, hits, mass, 0.4, 0.9)


def test_where_rows_say_nothing_the_ends_are_infinite():
    one = np.ones(1)
    assert crossing_interval(np.array([0.3]), one, one, 0.5, 0.95) == (-np.inf, np.inf)
    # A thousand events and nothing else: the crossing is below them all.
    assert crossing_interval(
        np.array([0.2, 0.3]), np.full(2, 500.0), np.full(2, 500.0), 0.5, 0.95
    ) == (-np.inf, 0.2)


def test_the_likelihoods_are_those_of_the_best_rising_rates():
    from calibrant._numerics.thresholds import _rising_likelihoods

    rng = np.random.default_rng(4)
    mass, most = rng.integers(2, 9, 5).astype(float), 0.6
    hits = np.minimum(rng.integers(1, 8, 5), mass - 1.0)

    def loss(steps):
        rate = np.clip(np.cumsum(np.abs(steps)), 1e-9, most)
        return -(hits * np.log(rate) + (mass - hits) * np.log1p(-rate)).sum()

    best = min(
        minimize(
            loss,
            np.full(5, start),
            method="Nelder-Mead",
            options={"maxiter": 20_000, "xatol": 1e-9, "fatol": 1e-12},
        ).fun
        for start in (0.05, 0.1, 0.2)
    )
    assert _rising_likelihoods(hits, mass, most)[-1] == pytest.approx(-best, abs=1e-4)


def test_one_score_by_the_likelihood_ratio():
    """Three in ten hits at a risk of one half, and half a hit below them.

    Twice n times the divergence is held against the wider limit, that of few values at 95 %.
    """

    def ratio(n):
        hits, rows = 0.3 * n + 0.5, n + 0.5
        rate = hits / rows
        return 2.0 * rows * (rate * np.log(2.0 * rate) + (1.0 - rate) * np.log(2.0 * (1.0 - rate)))

    for level, limit in ((0.95, 1.6448536**2), (0.5, (0.79 * 0.6744898) ** 2)):
        edge = brentq(lambda n, limit=limit: ratio(n) - limit, 2.0, 1000.0)
        for share, low in ((0.99, -np.inf), (1.01, 4.0)):
            n = share * edge
            found = crossing_interval(
                np.array([4.0]), np.array([0.3 * n]), np.array([n]), 0.5, level
            )
            assert found == (low, np.inf)
            # The mirror image: half a row that is no hit above seven in ten.
            found = crossing_interval(
                np.array([4.0]), np.array([0.7 * n]), np.array([n]), 0.5, level
            )
            assert found == (-np.inf, np.inf if share < 1.0 else 4.0)


def test_few_events_at_the_top_do_not_end_the_interval():
    """The top three of 300 rows are events, by chance: the crossing may lie above them."""
    hits = np.append(np.zeros(297), np.ones(3))
    assert crossing_interval(np.arange(300.0), hits, np.ones(300), 0.6, 0.95)[1] == np.inf


def test_the_likelihoods_of_rising_rates_by_isotonic_fits():
    from scipy.optimize import isotonic_regression
    from scipy.special import xlog1py, xlogy

    rng = np.random.default_rng(0)
    mass = rng.uniform(0.5, 3.0, 12)
    hits = mass * rng.random(12)
    for most in (1.0, 0.6, 0.3):
        found = _rising_likelihoods(hits, mass, most)
        assert found[0] == 0.0
        for j in range(1, 13):
            rate = np.minimum(isotonic_regression(hits[:j] / mass[:j], weights=mass[:j]).x, most)
            np.testing.assert_allclose(
                found[j], (xlogy(hits[:j], rate) + xlog1py((mass - hits)[:j], -rate)).sum()
            )
