"""Groups in the automatic choice: cohorts whose log-odds differ by known offsets, or not at all."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant._numerics.logistic import sigmoid, softmax

CHEAP = ["class rates", "temperature scaling", "sigmoid of the log-odds"]
BY_GROUP = ["offsets by group", "offsets by group alone", "small offsets by group"]
N_NEW = 4_000


def world(n, n_cohorts, spread, seed, centre=-1.0):
    """(log-odds of the model, cohort, true risk, outcome) of n rows to fit and of new ones."""
    rng = np.random.default_rng([54, seed])
    z, cohort = rng.normal(centre, 1.3, n + N_NEW), rng.integers(0, n_cohorts, n + N_NEW)
    shift = rng.normal(size=n_cohorts)
    true = sigmoid(z + spread * ((shift - shift.mean()) / shift.std())[cohort])
    return z, cohort, true, (rng.random(n + N_NEW) < true).astype(int)


def loss(true, q):
    return -np.mean(true * np.log(q) + (1.0 - true) * np.log1p(-q))


def losses(n, n_cohorts, spread, seed):
    """Under the true risks of new rows: of the model, of the choice without and with groups, and of
    one offset a group by maximum likelihood.
    """
    z, cohort, true, y = world(n, n_cohorts, spread, seed)
    p, design = sigmoid(z), np.column_stack([z, np.eye(n_cohorts)[cohort]])
    without = cb.AutoCalibrator(methods=CHEAP).fit(p[:n], y[:n])
    grouped = cb.AutoCalibrator(methods=CHEAP + BY_GROUP).fit(p[:n], y[:n], groups=cohort[:n])
    offsets = LogisticRegression(C=1e4, max_iter=1_000).fit(design[:n], y[:n])
    predicted = (
        p[n:],
        without.predict_proba(p[n:])[:, 1],
        grouped.predict_proba(p[n:], groups=cohort[n:])[:, 1],
        np.clip(offsets.predict_proba(design[n:])[:, 1], 1e-6, 1.0 - 1e-6),
    )
    return [loss(true[n:], q) for q in predicted]


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize(("n", "spread"), [(400, 0.6), (1_200, 0.3), (1_200, 0.6)])
def test_the_choice_is_not_behind_one_offset_a_group_by_more_than_noise(n, spread):
    raw, without, grouped, offsets = np.array([losses(n, 8, spread, seed) for seed in range(5)]).T
    behind = (grouped - offsets) / raw
    assert behind.mean() <= 2.0 * behind.std(ddof=1) / len(behind) ** 0.5
    assert grouped.mean() < without.mean()
    assert grouped.mean() < raw.mean()


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
@pytest.mark.parametrize("n", [60, 400])
def test_next_to_nothing_is_lost_by_cohorts_that_do_not_differ(n):
    """On 30 and 24 other seeds 0.1 % of the log loss at 60 rows and 0.07 % at 400."""
    raw, without, grouped, offsets = np.array([losses(n, 8, 0.0, seed) for seed in range(12)]).T
    assert (grouped - without).mean() <= 0.002 * raw.mean()
    assert grouped.mean() < offsets.mean() - 0.01 * raw.mean()


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_sixty_rows_are_enough_for_cohorts_that_differ_much():
    raw, without, grouped, _ = np.array([losses(60, 4, 1.2, seed) for seed in range(5)]).T
    assert (grouped <= 1.005 * raw).all()
    assert grouped.mean() < 0.95 * without.mean()


@pytest.mark.filterwarnings("ignore::calibrant.errors.CalibrationWarning")
def test_sixty_classes_are_not_too_many():
    rng = np.random.default_rng(0)
    n, K = 1_500, 60
    z, cohort = 2.0 * rng.normal(size=(n + N_NEW, K)), rng.integers(0, 4, n + N_NEW)
    P, true = softmax(z), softmax(z + rng.normal(0.0, 0.7, (4, K))[cohort])
    y = (true.cumsum(axis=1) > rng.random((n + N_NEW, 1))).argmax(axis=1)
    names = ["temperature scaling", "offsets by group alone"]
    fit = {"methods": names, "classes": np.arange(K)}
    grouped = cb.AutoCalibrator(**fit).fit(P[:n], y[:n], groups=cohort[:n])
    Q = grouped.predict_proba(P[n:], groups=cohort[n:])
    raw, after, least = (-np.mean((true[n:] * np.log(q)).sum(axis=1)) for q in (P[n:], Q, true[n:]))
    assert after - least < 0.6 * (raw - least)
