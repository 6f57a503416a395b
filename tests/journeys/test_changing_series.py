"""A person with a series whose spread doubles: fixed intervals fail her, adaptive ones do not."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.monitoring import AdaptiveIntervals

DAYS, CHANGE, PAST = 1_500, 500, 300


def world(seed):
    """Forecasts and demand; the errors double on day 800, and their centre moves on day 1300."""
    rng = np.random.default_rng([seed, 11])
    n = PAST + DAYS
    day = np.arange(n)
    forecast = 100.0 + 10.0 * np.sin(day / 30.0)
    spread = np.where(day < PAST + CHANGE, 2.0, 4.0)
    return forecast, forecast + spread * rng.standard_t(5, n) + np.where(day < 1_300, 0.0, 3.0)


def daily(forecast, y, late):
    """She predicts every day and learns each outcome ``late`` days later, by its day."""
    adaptive = AdaptiveIntervals(level=0.9, delay=late).fit(forecast[:PAST], y[:PAST])
    held = []
    for day in range(PAST, PAST + DAYS):
        low, high = adaptive.predict_one(forecast[day], key=day)
        held.append(low <= y[day] <= high)
        if day - late >= PAST:
            adaptive.learn_one(forecast[day - late], y[day - late], key=day - late)
    return adaptive, np.array(held)


@pytest.mark.parametrize("late", [0, 7])
def test_the_level_survives_what_breaks_fixed_intervals(late):
    kept, broken = [], []
    for seed in range(3):
        forecast, y = world(seed)
        fixed = cb.ConformalIntervals(score="absolute").fit(
            forecast[:PAST], y[:PAST], std=np.ones(PAST)
        )
        low, high = fixed.predict(forecast[PAST:], np.ones(DAYS)).interval(0.9)
        broken.append(((low <= y[PAST:]) & (y[PAST:] <= high))[CHANGE:].mean())
        adaptive, held = daily(forecast, y, late)
        kept.append(held[CHANGE:].mean())
        # What she is told holds for her own rows, and names the delay.
        assert adaptive.guarantee().least <= held.mean()
        assert f"after at most {late} later ones" in adaptive.explain()
    assert np.mean(broken) < 0.75
    assert 0.87 < np.mean(kept) < 0.93
