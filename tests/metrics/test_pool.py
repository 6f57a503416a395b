"""Pooling: a published meta-analysis, Rubin's rules by hand, and simulations of coverage."""

import numpy as np
import pytest
from scipy import special, stats

import calibrant as cb
from calibrant._numerics.clusters import between_variance
from calibrant.errors import InputError
from calibrant.metrics import Interval

Z = 1.959963984540054
#: The 13 trials of the BCG vaccine (Colditz et al. 1994): cases and others among the vaccinated,
#: then among the controls.
BCG = np.array(
    [
        (4, 119, 11, 128),
        (6, 300, 29, 274),
        (3, 228, 11, 209),
        (62, 13536, 248, 12619),
        (33, 5036, 47, 5761),
        (180, 1361, 372, 1079),
        (8, 2537, 10, 619),
        (505, 87886, 499, 87892),
        (29, 7470, 45, 7232),
        (17, 1699, 65, 1600),
        (186, 50448, 141, 27197),
        (5, 2493, 3, 2338),
        (27, 16886, 29, 17825),
    ],
    dtype=float,
)


def _bcg():
    a, b, c, d = BCG.T
    return np.log(a / (a + b) * (c + d) / c), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


def _intervals(estimate, variance, back=np.asarray, n=100.0):
    half = Z * np.sqrt(variance)
    ends = zip(back(estimate), back(estimate - half), back(estimate + half), strict=True)
    return [Interval(*map(float, one), 0.95, "analytic", n) for one in ends]


def test_sites_as_the_published_analysis_of_the_bcg_trials():
    """metafor's rma(test="knha") prints tau^2 0.3132, I^2 92.22 %, -0.7145 [-1.1084, -0.3206],
    and 0.49 [0.33, 0.73] back on the ratio.
    """
    found = cb.metrics.pool(_intervals(*_bcg(), np.exp), over="sites", scale="log")
    assert found.between**2 == pytest.approx(0.3132, abs=5e-5)
    assert found.share == pytest.approx(0.9222, abs=5e-5)
    assert np.log([found.value, found.low, found.high]) == pytest.approx(
        [-0.7145, -1.1084, -0.3206], abs=1e-4
    )
    assert [round(v, 2) for v in (found.value, found.low, found.high)] == [0.49, 0.33, 0.73]
    error = (np.log(found.high) - np.log(found.value)) / stats.t.ppf(0.975, 12)
    assert error == pytest.approx(0.1808, abs=5e-5)
    half = stats.t.ppf(0.975, 11) * np.sqrt(found.between**2 + error**2)
    assert np.log([found.prediction_low, found.prediction_high]) == pytest.approx(
        [np.log(found.value) - half, np.log(found.value) + half]
    )
    assert (found.count, found.n, found.freedom) == (13, 1300.0, 12.0)


def test_paule_and_mandel_set_q_to_its_mean():
    estimate, variance = _bcg()
    between = between_variance(estimate, variance, "paule-mandel")
    weight = 1 / (variance + between)
    mean = weight @ estimate / weight.sum()
    assert weight @ (estimate - mean) ** 2 == pytest.approx(12.0, abs=1e-8)
    found = cb.metrics.pool(_intervals(estimate, variance), over="sites", method="paule-mandel")
    assert found.between == pytest.approx(np.sqrt(between))


@pytest.mark.parametrize("method", ["reml", "paule-mandel"])
def test_sites_that_agree_have_no_variance_between_them(method):
    found = cb.metrics.pool(
        _intervals(np.array([1.0, 1.01, 0.99, 1.0]), np.full(4, 0.04)), over="sites", method=method
    )
    assert found.between == 0.0
    assert found.share == 0.0
    assert found.value == pytest.approx(1.0)


def test_equal_variances_have_the_textbook_answer():
    """Of equal variances both estimates are the sample variance less that of a site, and the
    mean is the plain one.
    """
    estimate = np.array([0.0, 1.0, 3.0, 4.0])
    for method in ("reml", "paule-mandel"):
        found = cb.metrics.pool(_intervals(estimate, np.full(4, 0.25)), over="sites", method=method)
        assert found.between**2 == pytest.approx(np.var(estimate, ddof=1) - 0.25, rel=1e-6)
        assert found.high - found.value == pytest.approx(
            stats.t.ppf(0.975, 3) * np.std(estimate, ddof=1) / 2, rel=1e-6
        )


def test_rubins_rules_by_hand():
    """Estimates 1, 2, 3 of variance 1/2: T = 1/2 + (4/3) 1; of 100 rows 3.3086 degrees of
    freedom (Barnard and Rubin).
    """
    found = cb.metrics.pool(_intervals(np.array([1.0, 2.0, 3.0]), np.full(3, 0.5)))
    share = (4 / 3) / (11 / 6)
    old, observed = 2 / share**2, 100 / 102 * 99 * (1 - share)
    assert found.share == pytest.approx(share)
    assert found.freedom == pytest.approx(1 / (1 / old + 1 / observed))
    assert found.freedom == pytest.approx(3.3086, abs=5e-4)
    half = stats.t.ppf(0.975, found.freedom) * np.sqrt(11 / 6)
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0 - half, 2.0 + half))
    assert (found.prediction_low, found.n) == (None, 100.0)


def test_imputations_that_agree_leave_the_interval_nearly_as_it_is():
    one = Interval(
        0.8,
        float(special.expit(1.2)),
        float(special.expit(1.2 + 2 * (special.logit(0.8) - 1.2))),
        0.95,
        "analytic",
        5000.0,
    )
    found = cb.metrics.pool([one] * 5, scale="logit")
    assert found.share == 0.0
    assert (found.value, found.low, found.high) == pytest.approx((0.8, one.low, one.high), abs=2e-4)


def test_a_scale_keeps_an_auroc_below_1_and_levels_are_kept():
    sites = [
        Interval(v, v - 0.04, min(v + 0.03, 0.999), 0.9, "analytic", 200.0)
        for v in (0.9, 0.95, 0.97)
    ]
    narrow, wide = (
        cb.metrics.pool(sites, over="sites", scale="logit", level=level) for level in (0.8, 0.99)
    )
    assert wide.prediction_high < 1.0
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
    assert "over 3 sites; at a new site [" in str(narrow)


def _given_outcome(y, rng):
    """Draws of x ~ N(0, 1) given y ~ Bernoulli(expit(x)), by rejection."""
    out, left = np.empty(len(y)), np.arange(len(y))
    while len(left):
        draw = rng.normal(size=len(left))
        kept = rng.random(len(left)) < special.expit(np.where(y[left] == 1, draw, -draw))
        out[left[kept]], left = draw[kept], left[~kept]
    return out


def test_an_incomplete_covariate_is_not_taken_for_a_known_one():
    """Journey: half of the rows lack the predictor; ten imputations from its true law given the
    outcome. The pooled interval of the Brier
    score holds what the whole population has; that of one imputation, taken for data, is
    narrower."""
    rng, inside, widths = np.random.default_rng(0), 0, []
    truth = np.mean((risk := special.expit(rng.normal(size=400_000))) * (1 - risk))
    for _ in range(60):
        x = rng.normal(size=300)
        y = (rng.random(300) < special.expit(x)).astype(int)
        missing, found = rng.random(300) < 0.5, []
        for _ in range(10):
            filled = x.copy()
            filled[missing] = _given_outcome(y[missing], rng)
            found.append(cb.metrics.event_brier_score.interval(y, special.expit(filled)))
        pooled = cb.metrics.pool(found)
        inside += pooled.low <= truth <= pooled.high
        widths.append((pooled.high - pooled.low) / (found[0].high - found[0].low))
    assert inside >= 52
    assert np.mean(widths) > 1.02


BAD = {
    "one": ({"intervals": [Interval(1, 0.5, 2, 0.95, "analytic", 9)]}, "at least 2 intervals"),
    "two sites": (
        {"intervals": [Interval(1, 0.5, 2, 0.95, "analytic", 9)] * 2, "over": "sites"},
        "at least 3 intervals",
    ),
    "numbers": ({"intervals": [1.0, 2.0]}, "pass results of metric.interval"),
    "not a list": ({"intervals": Interval(1, 0.5, 2, 0.95, "analytic", 9)}, "must be a list"),
    "zero on logs": (
        {"intervals": [Interval(0, 0, 2, 0.95, "analytic", 9)] * 2, "scale": "log"},
        "number 0 is 0",
    ),
    "no width": (
        {"intervals": [Interval(1, 1, 1, 0.95, "analytic", 9)] * 2},
        "finite, distinct limits",
    ),
    "nan": (
        {
            "intervals": [
                Interval(1, 0, 2, 0.95, "analytic", 9),
                Interval(np.nan, 0, 2, 0.95, "analytic", 9),
            ]
        },
        "number 1 is nan",
    ),
    "over": ({"intervals": [], "over": "rows"}, "over must be"),
    "scale": ({"intervals": [], "scale": "probit"}, "scale must be"),
    "method": ({"intervals": [], "method": "dl"}, "method must be"),
    "level": ({"intervals": [], "level": 2}, "level must be"),
}


@pytest.mark.parametrize(("given", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        cb.metrics.pool(**given)
