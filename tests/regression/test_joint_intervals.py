"""Intervals that hold all outputs of a row together: by hand, and simulated where outputs depend on
each other, have heavy tails and wrong scales.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant import regression
from calibrant.errors import InputError, SparseDataWarning


def boxes(rng, n):
    """(mean, std, y) of four outputs with one heavy-tailed factor; the stds are wrong."""
    mean, std = np.zeros((n, 4)), rng.uniform(0.5, 2.0, (n, 4))
    common = rng.standard_t(2, (n, 1))
    errors = 0.8 * common + 0.6 * rng.standard_t(3, (n, 4)) * np.array([0.5, 1.0, 2.0, 1.0])
    return mean, std, mean + std * errors


def held(ends, y):
    """Share of the rows whose outcomes all lie in their intervals."""
    low, high = ends
    return np.mean(((low <= y) & (y <= high)).all(axis=1))


def test_the_largest_error_of_a_row_is_its_score():
    mean, std = np.zeros((4, 2)), np.tile([1.0, 2.0], (4, 1))
    y = [[0.5, 0.0], [0.1, -4.0], [3.0, 2.0], [0.0, 0.4]]  # scores 0.5, 2, 3, 0.2
    cal = cb.ConformalIntervals(jointly=True).fit(mean, y, std=std)
    # ceil(5 * 0.6) = 3rd, and ceil(5 * 0.8) = 4th.
    forecast = cal.predict([[1.0, 1.0]], [[1.0, 10.0]])
    for level, score in ((0.6, 2.0), (0.8, 3.0)):
        low, high = forecast.interval(level)
        np.testing.assert_allclose(low, [[1.0 - score, 1.0 - 10.0 * score]])
        np.testing.assert_allclose(high, [[1.0 + score, 1.0 + 10.0 * score]])
    with pytest.warns(SparseDataWarning, match="needs 9 calibration rows"):
        assert np.isinf(forecast.interval(0.9)[1]).all()
    assert "all 2 outputs together" in cal.explain(0.8)
    assert cal.guarantee(0.8).n == 4


@pytest.mark.parametrize("score", ["scaled", "absolute", "distributional"])
def test_all_outputs_are_held_together_as_often_as_promised(score):
    rng = np.random.default_rng(0)
    n, level, runs = 25, 0.8, 1500
    together, alone = [], []
    for _ in range(runs):
        mean, std, y = boxes(rng, n + 40)
        for jointly, shares in ((True, together), (False, alone)):
            cal = cb.ConformalIntervals(score=score, jointly=jointly)
            cal.fit(mean[:n], y[:n], std=std[:n])
            shares.append(held(cal.predict(mean[n:], std[n:]).interval(level), y[n:]))
    exact = np.ceil((n + 1) * level) / (n + 1)
    error = np.std(together) / np.sqrt(runs)
    assert np.mean(together) == pytest.approx(exact, abs=4.0 * error)
    assert np.mean(alone) < level - 0.1


def test_each_cluster_counts_once():
    """Rows of a cluster are copies: only the number of clusters matters."""
    rng = np.random.default_rng(1)
    mean, std, y = boxes(rng, 30)
    copies = rng.integers(1, 6, 30)
    rows = np.repeat(np.arange(30), copies)
    cal = cb.ConformalIntervals(jointly=True)
    plain = cal.fit(mean, y, std=std).predict(mean, std).interval(0.9)
    clustered = cal.fit(mean[rows], y[rows], std=std[rows], cluster=rows)
    np.testing.assert_array_equal(clustered.predict(mean, std).interval(0.9), plain)
    assert cal.guarantee(0.9).n == 30


def test_it_is_saved_and_its_outputs_are_named(tmp_path):
    mean, std, y = boxes(np.random.default_rng(2), 50)
    cal = cb.ConformalIntervals(jointly=True).fit(mean, y, std=std)
    cal.save(tmp_path / "cal.calibrant")
    again = cb.load(tmp_path / "cal.calibrant")
    ends = cal.predict(mean, std).interval(0.9)
    np.testing.assert_array_equal(again.predict(mean, std).interval(0.9), ends)
    assert str(again.guarantee(0.9)) == str(cal.guarantee(0.9))


def test_a_file_from_before_joint_intervals_loads(tmp_path):
    mean, std, y = boxes(np.random.default_rng(2), 50)
    cal = cb.ConformalIntervals().fit(mean, y, std=std)
    del cal.jointly
    cal.save(tmp_path / "cal.calibrant")
    assert "together" not in cb.load(tmp_path / "cal.calibrant").explain(0.9)


@pytest.mark.parametrize(
    "options",
    [
        {"score": "quantile"},
        {"side": "upper"},
        {"symmetric": False},
        {"calibrator": cb.StdScaling()},
    ],
)
def test_what_has_no_joint_score_is_refused(options):
    mean, std, y = boxes(np.random.default_rng(3), 20)
    with pytest.raises(InputError, match="jointly=True needs one score"):
        cb.ConformalIntervals(jointly=True, **options).fit(mean, y, std=std)


def test_one_output_is_refused():
    cal = cb.ConformalIntervals(jointly=True)
    for calibrator in (cal, regression.MondrianIntervals(cal, least_rows=5)):
        with pytest.raises(InputError, match="needs forecasts of several outputs"):
            calibrator.fit(np.zeros(20), np.arange(20.0), std=np.linspace(1.0, 2.0, 20))
