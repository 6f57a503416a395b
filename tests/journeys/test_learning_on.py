"""Journey: a model's probabilities drift, and labels come a day later.

Three people have the same model and the same first month of labels. One calibrates once, one
calibrates anew each day on all rows so far, and one learns on. They are judged by the true
probabilities of the rows: by what a person loses who trusts the numbers of a day before its labels
arrive. In a world without drift, learning on must cost nothing.
"""

import numpy as np
import pytest
from scipy.special import expit

import calibrant as cb

DAY, DAYS = 60, 100
#: The days of the first labels.
MONTH = 30


def world(kind, seed):
    """Log-odds of the model, their true values, and labels, day by day."""
    rng = np.random.default_rng(seed)
    n = DAY * DAYS
    z, day = rng.normal(-1.0, 1.5, n), np.arange(n) // DAY
    slope, shift = np.full(n, 0.8), np.full(n, -0.3)
    if kind == "sudden":
        shift[day >= 55] = 1.2
    elif kind == "gradual":
        shift += 1.8 * np.maximum(day - MONTH, 0) / (DAYS - MONTH)
    elif kind == "sharper, then blunter":
        slope = 0.8 + 0.4 * np.sin(day / 12.0)
    truth = expit(slope * z + shift)
    return expit(z), truth, (rng.random(n) < truth).astype(int)


def days():
    return [slice(DAY * d, DAY * (d + 1)) for d in range(MONTH, DAYS)]


def kept(p, y, seen):
    fixed = cb.calibrators.Platt().fit(p[:seen], y[:seen])
    return np.concatenate([fixed.predict(p[rows]) for rows in days()])


def refitted(p, y, seen):
    return np.concatenate(
        [
            cb.calibrators.Platt().fit(p[: rows.start], y[: rows.start]).predict(p[rows])
            for rows in days()
        ]
    )


def learnt(p, y, seen):
    cal, out = cb.OnlineCalibrator().fit(p[:seen], y[:seen]), []
    for rows in days():
        out.append(cal.predict_proba(p[rows])[:, 1])
        cal.partial_fit(p[rows], y[rows])
    return np.concatenate(out)


def excess(truth, q):
    """Expected log loss above that of the true probabilities."""
    return float(np.mean(truth * np.log(truth / q) + (1 - truth) * np.log((1 - truth) / (1 - q))))


def losses(kind):
    seen, found = DAY * MONTH, []
    for seed in range(4):
        p, truth, y = world(kind, seed)
        found.append([excess(truth[seen:], way(p, y, seen)) for way in (kept, refitted, learnt)])
    return np.mean(found, axis=0)


@pytest.mark.parametrize("kind", ["sudden", "gradual", "sharper, then blunter"])
def test_who_learns_on_loses_least_when_the_model_drifts(kind):
    once, daily, online = losses(kind)
    assert online < 0.4 * once
    assert online < 0.6 * daily


def test_who_learns_on_loses_nothing_without_drift():
    once, daily, online = losses("still")
    # In nats a row: the log loss itself is about 0.5.
    assert online < once + 0.001
    assert online < daily + 0.002
