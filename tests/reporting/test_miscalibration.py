"""The joint test of a report, its equivalence, and how many rows it wants."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import calibrant as cb
from calibrant._numerics.logistic import sigmoid
from calibrant._numerics.normal_scores import smallest_p
from calibrant.core.forecast_record import read_forecast
from calibrant.core.groups import clustered
from calibrant.core.predictions import read
from calibrant.errors import InputError
from calibrant.metrics import validation_size
from calibrant.reporting import miscalibration as kernel
from calibrant.reporting.miscalibration import miscalibration
from calibrant.reporting.regression.task import miscalibration_of_forecasts


def of(p, y, groups=None, *, after=False, cluster=None, seed=0):
    rows = clustered(read(p, y), cluster).as_pair("event")
    index = None if groups is None else SimpleNamespace(index=groups)
    return miscalibration(rows, index, None, centred=after, random_state=seed)


def sample(n, seed, centre=-0.5, spread=1.3):
    rng = np.random.default_rng(seed)
    z = rng.normal(centre, spread, n)
    return z, sigmoid(z), rng


def test_the_smallest_p_value_is_exact_where_the_draws_are():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20, 3)) ** 2
    found = sorted(smallest_p(values[b], np.delete(values, b, axis=0))[1] for b in range(20))
    assert np.mean(np.array(found) <= 0.1) <= 0.1
    own, together = smallest_p(np.array([1.0, 5.0]), np.array([[0.0, 1.0], [2.0, 2.0], [1.0, 3.0]]))
    assert own.tolist() == [0.75, 0.25]
    assert together == 0.5  # the draw (2, 2) has the smallest p-value of the first check


@pytest.mark.parametrize(
    ("n", "centre", "spread"), [(150, 0.0, 1.3), (600, -3.0, 1.0), (100, 0.0, 4.0)]
)
@pytest.mark.parametrize("after", [False, True])
def test_true_risks_are_called_off_in_one_of_twenty(n, centre, spread, after):
    called = 0
    for seed in range(200):
        _, p, rng = sample(n, seed, centre, spread)
        y = (rng.random(n) < p).astype(int)
        if 0 < y.sum() < n:
            called += of(p, y, rng.integers(3, size=n), after=after, seed=seed).seen
    assert called / 200 <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 200)


def test_risks_right_on_average_pass_the_centred_test_alone():
    """Of 2,000 rows said .5, half are surely events: single risks are far off, the mean is
    right.
    """
    rng = np.random.default_rng(3)
    p = np.repeat([0.3, 0.7], 1000)
    truth = np.where(rng.random(2000) < p, 0.999, 0.001)
    y = (rng.random(2000) < truth).astype(int)
    assert not of(p, y, after=True).seen


@pytest.mark.parametrize(
    ("shift", "slope", "worst"),
    [(0.5, 1.0, {"offset", "smooth", "binned"}), (0.0, 1.6, {"slope", "smooth", "binned"})],
)
def test_what_is_off_is_found_and_named(shift, slope, worst):
    z, p, rng = sample(3000, 5, 0.0)
    y = (rng.random(3000) < sigmoid(slope * z + shift)).astype(int)
    found = of(p, y)
    assert found.seen
    assert not found.within
    assert found.worst in worst
    assert found.low < np.sqrt(np.mean((sigmoid(slope * z + shift) - p) ** 2)) < found.high


def test_a_group_that_is_off_is_named():
    _, p, rng = sample(4000, 6, 0.0)
    group = rng.integers(4, size=4000)
    y = (
        rng.random(4000) < np.clip(p + np.array([0.12, -0.04, -0.04, -0.04])[group], 0.0, 1.0)
    ).astype(int)
    found = of(p, y, group)
    assert found.seen
    assert found.worst == "group"
    assert not of(p, y).checks.keys() & {"group"}


def test_clusters_are_one_row():
    rng = np.random.default_rng(7)
    called = 0
    for seed in range(60):
        effect, cluster = rng.normal(0.0, 1.0, 60), np.repeat(np.arange(60), 10)
        z = rng.normal(0.0, 1.0, 600)
        p = np.mean(
            [sigmoid(z + e) for e in np.random.default_rng(0).normal(0.0, 1.0, 400)], axis=0
        )
        y = (rng.random(600) < sigmoid(z + effect[cluster])).astype(int)
        called += of(p, y, cluster=cluster, seed=seed).seen
    assert called <= 8


def test_many_rows_are_within_the_margin_and_few_are_not():
    _, p, rng = sample(60_000, 8, 0.0)
    y = (rng.random(60_000) < p + 0.003 * np.sin(9.0 * p)).astype(int)
    assert of(p, y).within
    assert not of(p[:300], y[:300]).within


def test_the_margin_of_a_rare_event_is_a_fifth_of_its_rate():
    p = np.full(2000, 0.01)
    y = (np.arange(2000) % 100 == 0).astype(int)
    assert of(p, y).margin == pytest.approx(0.002)
    assert (
        cb.report(y, p, calibrator=cb.calibrators.Identity(), n_resamples=0, margin=0.05).to_dict()[
            "miscalibration"
        ]["before"]["margin"]
        == 0.05
    )
    with pytest.raises(InputError, match="margin must be between 0 and 1"):
        cb.report(y, p, margin=2.0)


@pytest.mark.parametrize("spread", [0.4, 2.0])
def test_as_many_rows_as_are_wanted_show_true_risks_to_be_within_the_margin(spread):
    """The number of a report is that of a plan for the same risks, and holds on average."""
    _, p, rng = sample(2000, 9, 0.0, spread)
    wanted = of(p, (rng.random(2000) < p).astype(int)).wanted
    planned = validation_size(risks=p, margin=0.02).criteria[-1]
    assert planned.name == "typical error"
    assert wanted == pytest.approx(planned.rows, abs=1.0)
    _, p, rng = sample(round(wanted), 10, 0.0, spread)
    high = [of(p, (rng.random(len(p)) < p).astype(int), seed=seed).high for seed in range(30)]
    assert np.median(high) == pytest.approx(0.02, rel=0.1)


def forecasts(n, seed, df=None, factor=1.0):
    rng = np.random.default_rng(seed)
    std = rng.uniform(0.5, 2.0, n)
    error = rng.standard_normal(n) if df is None else rng.standard_t(df, n)
    return miscalibration_of_forecasts(
        read_forecast(np.zeros(n), factor * std, std * error), None, random_state=seed
    )


def test_true_error_bars_are_called_off_in_one_of_twenty():
    assert np.mean([forecasts(120, seed).seen for seed in range(120)]) <= 0.05 + 3.5 * np.sqrt(
        0.05 * 0.95 / 120
    )


def test_wrong_error_bars_are_found_and_right_ones_shown_to_be_so():
    small = forecasts(500, 1, factor=0.6)
    assert small.seen
    assert small.low > 0.05
    assert forecasts(2000, 2, df=3).worst in ("spread", "shape")
    assert forecasts(30_000, 3).within


def test_as_many_error_bars_as_are_wanted_show_that_they_are_right():
    wanted = round(forecasts(100, 0).wanted)
    shown = [forecasts(wanted, seed).high <= 0.02 for seed in range(40)]
    assert 0.25 <= np.mean(shown) <= 0.75


def test_checks_of_many_rows_have_the_law_of_the_rows(monkeypatch):
    # Rare events: the lowest hundredth expects less than one.
    rng = np.random.default_rng(11)
    n = 20_000
    p = 1.0 / (1.0 + np.exp(-rng.normal(-4.0, 2.0, n)))
    weight = rng.integers(1, 3, n).astype(float)
    ranks = np.unique(p, return_inverse=True)
    record = SimpleNamespace(
        confidence=p,
        correct=(rng.random(n) < p).astype(float),
        weights=weight,
        cluster=None,
        ranks=ranks,
    )
    groups = SimpleNamespace(index=rng.integers(0, 3, n))
    variance = weight * p * (1.0 - p)
    part, ends = kernel._parts(variance, ranks), [*kernel._tails(p, weight, ranks).values()]
    slope = kernel._slope(p, variance)
    sums = kernel._sums(weight, slope, part, ends, groups.index)
    scale = np.asarray(sums.power(2) @ (variance / weight**2)).ravel()
    monkeypatch.setattr(kernel, "draws_of", lambda n: 3_000)
    monkeypatch.setattr(kernel, "DRAWN_PARTS", 100)
    checks = list[np.ndarray]()
    for least in (n + 1, n):
        monkeypatch.setattr(kernel, "MANY_ROWS", least)
        drawn = kernel._drawn(sums, record, part, ends, groups, np.random.default_rng(12))
        assert drawn.shape == (3_000, len(scale))
        # As in the test, sums that differ by rounding are equal.
        checks.append(np.round(kernel._checks(drawn, int(part.max()) + 1, len(ends), scale), 6))
    for by_rows, pooled in zip(checks[0].T, checks[1].T, strict=True):
        assert stats.ks_2samp(by_rows, pooled).pvalue > 1e-3
    assert not np.array_equal(*checks)


def test_the_sums_of_errors_are_those_of_their_rows():
    rng = np.random.default_rng(13)
    n = 500
    weight, slope, error = rng.random(n), rng.normal(size=n), rng.normal(size=n)
    part, group = rng.integers(0, 4, n), rng.integers(0, 300, n)
    group[:2] = 0, 299
    ends = [rng.random(n) < 0.1, rng.random(n) < 0.3]
    rows = [part == k for k in range(4)], ends, [group == k for k in range(300)]
    expected = [
        *((weight * error)[own].sum() for own in rows[0]),
        (weight * slope * error).sum(),
        *((weight * error)[own].sum() for own in (*rows[1], *rows[2])),
    ]
    assert kernel._sums(weight, slope, part, ends, group) @ error == pytest.approx(expected)


def test_tails_are_those_of_the_sorted_rows():
    rng = np.random.default_rng(14)
    score, weight = np.round(rng.random(5_000), 3), rng.integers(1, 3, 5_000) * 1.0
    found = kernel._tails(score, weight, np.unique(score, return_inverse=True))
    order = np.argsort(score, kind="stable")
    below = np.cumsum(weight[order]) / weight.sum()
    low, high = (score[order[np.argmax(below >= share)]] for share in (0.05, 0.95))
    assert np.array_equal(found["lowest 5 %"], score <= low)
    assert np.array_equal(found["highest 5 %"], score >= high)
