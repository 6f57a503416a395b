"""Coverage in each bin of the std, and in each group."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError, SparseDataWarning
from calibrant.testing import check_guarantee


def _rows(rng, n):
    """Errors that are far too small for what is said of the bold half, and far too large for the
    timid one.
    """
    std = np.exp(rng.uniform(-1.0, 1.0, n))
    return np.zeros(n), std, std**2 * rng.standard_t(4, n)


def _held(cal, forecast, y, part, level):
    low, high = forecast.interval(level)
    return np.mean(((low <= y) & (y <= high))[part])


def test_each_bin_of_the_std_keeps_the_promise_and_one_quantile_for_all_does_not():
    rng = np.random.default_rng(0)
    cal, level, runs = cb.regression.MondrianIntervals(n_bins=3, least_rows=20), 0.8, 300
    held, plain = np.zeros((2, runs, 3))
    for k in range(runs):
        mean, std, y = _rows(rng, 60)
        new_mean, new_std, new_y = _rows(rng, 300)
        forecast = cal.fit(mean, y, std=std).predict(new_mean, new_std)
        one = cb.ConformalIntervals().fit(mean, y, std=std).predict(new_mean, new_std)
        part = np.searchsorted(cal.edges_, new_std)
        for j in range(3):
            held[k, j], plain[k, j] = (
                _held(cal, f, new_y, part == j, level) for f in (forecast, one)
            )
    said = cal.guarantee(level)
    assert (said.over, said.n) == ("new rows of each bin of the std", 19)
    for j in range(3):
        check_guarantee(said, held[:, j])
    with pytest.raises(AssertionError, match="mean of"):
        check_guarantee(said, plain[:, 2])


def test_the_rows_at_the_edges_are_no_scores():
    std = np.arange(1.0, 31.0)
    cal = cb.regression.MondrianIntervals(n_bins=3, least_rows=10).fit(np.zeros(30), std, std=std)
    assert cal.edges_.tolist() == [10.0, 20.0]
    assert [one.mass_[-1] for one in cal.intervals_] == [9.0, 9.0, 10.0]
    tied = cb.regression.MondrianIntervals(n_bins=3, least_rows=10).fit(
        np.zeros(30), std, std=np.repeat([1.0, 2.0, 3.0], 10)
    )
    assert [one.mass_[-1] for one in tied.intervals_] == [10.0, 10.0, 10.0]


def test_each_group_keeps_the_promise():
    rng = np.random.default_rng(1)
    level, held = 0.8, {"few": [], "many": []}
    group = np.repeat(["few", "many"], [12, 60])
    cal = cb.regression.MondrianIntervals(by="groups")
    for _ in range(300):
        y = np.where(group == "few", 5.0, 1.0) * rng.standard_t(4, 72)
        new = rng.standard_t(4, 200)
        forecast = cal.fit(np.zeros(72), y, std=np.ones(72), groups=group).predict(
            [0.0, 0.0], [1.0, 1.0], groups=["many", "few"]
        )
        low, high = forecast.interval(level)
        held["many"].append(np.mean((low[0] <= new) & (new <= high[0])))
        held["few"].append(np.mean((low[1] <= 5.0 * new) & (5.0 * new <= high[1])))
    assert cal.guarantee(level).n == 12
    for each in held.values():
        check_guarantee(cal.guarantee(level), each)


def test_a_group_of_few_rows_says_how_many_it_needs():
    group = np.repeat(["few", "many"], [3, 60])
    cal = cb.regression.MondrianIntervals(by="groups").fit(
        np.zeros(63), np.arange(63.0), std=np.ones(63), groups=group
    )
    with pytest.warns(SparseDataWarning, match=r"level 0\.9 needs 9 calibration rows; got 3"):
        high = cal.predict(np.zeros(2), np.ones(2), groups=["few", "many"]).interval(0.9)[1]
    assert high.tolist() == [np.inf, 57.0]  # the 55th (61 * .9, rounded up) of 3, 4, ...


def test_groups_are_asked_for_where_they_are_used_and_known():
    cal = cb.regression.MondrianIntervals(by="groups")
    with pytest.raises(InputError, match="MondrianIntervals needs groups="):
        cal.fit(np.zeros(4), np.ones(4), std=np.ones(4))
    cal.fit(np.zeros(4), np.ones(4), std=np.ones(4), groups=list("aabb"))
    with pytest.raises(InputError, match=r"among those of fit; got \['c'\]"):
        cal.predict([0.0], [1.0], groups=["c"])
    with pytest.raises(InputError, match="MondrianIntervals does not use groups"):
        cb.regression.MondrianIntervals().fit(
            np.zeros(4), np.ones(4), std=np.ones(4), groups=list("aabb")
        )
    with pytest.raises(InputError, match="intervals must be ConformalIntervals"):
        cb.regression.MondrianIntervals(cb.StdScaling()).fit(
            np.zeros(4), np.ones(4), std=np.ones(4)
        )


def test_several_outputs_groups_and_saving(tmp_path):
    rng = np.random.default_rng(2)
    mean, std, y = np.zeros((90, 2)), np.ones((90, 2)), rng.normal(size=(90, 2)) * [1.0, 3.0]
    group = [None if k % 3 == 0 else k % 3 for k in range(90)]
    cal = cb.regression.MondrianIntervals(by="groups").fit(mean, y, std=std, groups=group)
    again = cb.load(cal.save(tmp_path / "mondrian.calibrant"))
    low, high = again.predict(mean[:3], std[:3], groups=group[:3]).interval(0.8)
    first = np.sort(np.abs(y[::3, 0]))[int(np.ceil(31 * 0.8)) - 1]
    assert high[0, 0] == first
    np.testing.assert_array_equal(
        cal.predict(mean[:3], std[:3], groups=group[:3]).interval(0.8), (low, high)
    )


def test_nothing_is_promised_of_bins_cut_through_clusters():
    rng = np.random.default_rng(0)
    cal = cb.regression.MondrianIntervals(n_bins=2, least_rows=20)
    cal.fit(
        np.zeros(60),
        rng.normal(size=60),
        std=rng.uniform(1, 2, 60),
        cluster=np.repeat(np.arange(20), 3),
    )
    assert cal.guarantee(0.5) is None
    assert "clusters" in cal.explain()
