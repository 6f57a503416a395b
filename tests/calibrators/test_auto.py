"""The safe default: what it picks on planted problems, when it does nothing, and what it says."""

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import softmax
from calibrant.calibrators.auto import default_calibrator
from calibrant.calibrators.candidates import candidates_for
from calibrant.calibrators.held_out import canonical
from calibrant.core.calibrator import Calibrator
from calibrant.core.predictions import read
from calibrant.errors import InputError


def planted(n, K, factor, shift=0.0, seed=0):
    """Logits whose truth is their softmax, handed out multiplied by ``factor`` and with the
    first class shifted.
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, K)) * 2.0
    y = (softmax(logits).cumsum(axis=1) > rng.uniform(size=(n, 1))).argmax(axis=1)
    logits = logits * factor
    logits[:, 0] += shift
    return softmax(logits), y


def test_what_is_calibrated_is_hardly_touched():
    worse = []
    for seed in range(5):
        P, y = planted(2300, 3, 1.0, seed=seed)
        cal = cb.AutoCalibrator().fit(P[:300], y[:300])
        worse.append(
            metrics.log_loss(y[300:], cal.predict_proba(P[300:]))
            / metrics.log_loss(y[300:], P[300:])
            - 1.0
        )
    assert np.mean(worse) < 0.003
    assert max(worse) < 0.02


def test_doing_nothing_keeps_most_of_the_weight_where_little_speaks_against_it():
    kept = []
    for seed in range(8):
        P, y = planted(250, 3, 1.0, seed=seed)
        table = cb.AutoCalibrator().fit(P, y).table_
        kept.append(next(row["weight"] for row in table if row["name"] == "uncalibrated"))
    assert np.mean(kept) > 0.5


@pytest.mark.parametrize(("K", "shift"), [(2, 0.0), (3, 1.5), (10, 0.0)])
def test_planted_miscalibration_is_repaired(K, shift):
    P, y = planted(3000, K, 3.0, shift)
    cal = cb.AutoCalibrator().fit(P[:1000], y[:1000])
    assert cal.status_ == "pooled"
    after, before = (
        metrics.log_loss(y[1000:], cal.predict_proba(P[1000:])),
        metrics.log_loss(y[1000:], P[1000:]),
    )
    singles = [
        metrics.log_loss(y[1000:], c.fit(P[:1000], y[:1000]).predict_proba(P[1000:]))
        for c in (cb.TemperatureScaling(),)
    ]
    assert after < 0.8 * before
    assert after < min(singles) + 0.003


@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_the_table_accounts_for_every_candidate(objective):
    P, y = planted(400, 3, 2.0)
    cal = cb.AutoCalibrator(objective=objective).fit(P, y)
    assert {row["name"] for row in cal.table_} == {c.name for c in candidates_for(400, 3)}
    assert sum(row["weight"] for row in cal.table_) == pytest.approx(1.0)
    assert cal.table_[0]["name"] == "uncalibrated"
    assert cal.table_[0]["score"] == cal.uncalibrated_score_
    assert cal.score_ <= min(row["score"] for row in cal.table_) + 0.01
    assert cal.explain().startswith("400 rows, 3 classes: ")
    assert "standard errors" in cal.explain()


def test_too_few_rows_and_one_class_change_nothing():
    P, y = planted(19, 3, 3.0)
    cal = cb.AutoCalibrator().fit(P, y)
    assert cal.status_ == "identity: too few rows"
    np.testing.assert_allclose(cal.predict_proba(P), P, atol=1e-12)
    cal.fit(np.repeat(P, 3, axis=0) + 0.0, np.zeros(57, dtype=int))
    assert cal.status_.startswith("identity")
    assert "kept as is" in cal.explain()


@pytest.mark.parametrize("objective", ["log_loss", "brier"])
@pytest.mark.parametrize("n", [20, 25, 40])
@pytest.mark.parametrize("K", [2, 3, 10])
def test_twenty_rows_are_enough_to_try(n, K, objective):
    P, y = planted(n, K, 3.0)
    cal = cb.AutoCalibrator(objective=objective).fit(P, y)
    assert cal.table_
    Q = cal.predict_proba(P)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-12)
    assert (Q > 0.0).all()


@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_thirty_calibrated_rows_are_harmed_less_than_by_one_temperature(objective):
    score = metrics.log_loss if objective == "log_loss" else metrics.brier_score
    harm = []
    for seed in range(6):
        P, y = planted(1030, 3, 1.0, seed=seed)
        fitted = [
            c.fit(P[:30], y[:30])
            for c in (cb.AutoCalibrator(objective=objective), cb.TemperatureScaling())
        ]
        harm.append(
            [
                score(y[30:], cal.predict_proba(P[30:])) / score(y[30:], P[30:]) - 1.0
                for cal in fitted
            ]
        )
    automatic, temperature = np.mean(harm, axis=0)
    assert automatic < temperature


@pytest.mark.parametrize("n", [30, 600])
def test_a_class_without_rows_keeps_a_column_and_a_chance(n):
    P, y = planted(n, 4, 2.0)
    y = np.where(y == 3, 0, y)
    cal = cb.AutoCalibrator(classes=[0, 1, 2, 3]).fit(P, y)
    Q = cal.predict_proba(P)
    assert Q.shape == (n, 4)
    assert (Q[:, 3] > 0.0).all()
    assert np.isfinite(metrics.log_loss(np.full(n, 3), Q))


def test_a_class_with_one_row_is_absent_from_most_folds_and_all_is_well():
    P, y = planted(200, 3, 2.0)
    y = np.where(y == 2, 0, y)
    y[7] = 2
    cal = cb.AutoCalibrator().fit(P, y)
    assert all(np.isfinite(row["score"]) for row in cal.table_ if not row["note"])
    assert np.isfinite(cal.predict_proba(P)).all()


def test_zeros_that_were_never_wrong_do_not_win():
    # The model says 0 or 1 where it is right 19 times of 20; twenty-five lucky rows do not make it
    # certain.
    rng = np.random.default_rng(0)
    p, sure = rng.uniform(0.3, 0.7, 250), np.arange(250) < 25
    p[sure] = rng.integers(0, 2, 25)
    y = np.where(sure, p, rng.uniform(size=250) < p).astype(int)
    P = np.column_stack([1 - p, p])
    cal = cb.AutoCalibrator().fit(P, y)
    assert cal.status_ == "pooled"
    assert cal.predict_proba(P)[sure].min() > 1e-4


def test_equal_predictions_with_several_labels_are_in_several_folds():
    # Eleven values only, as of ten neighbours, each with its own rate: a fold that held out all of
    # a value's hits would mislead every map.
    rng = np.random.default_rng(0)
    p = rng.integers(0, 11, 1200) / 10
    y = (rng.uniform(size=1200) < 0.2 + 0.6 * p**2).astype(int)
    P = np.column_stack([1 - p, p])
    cal = cb.AutoCalibrator(methods=["quadratic scaling"]).fit(P, y)
    single = cb.OneVsRest(cb.calibrators.QuadraticScaling()).fit(P, y)
    in_sample = metrics.log_loss(y, single.predict_proba(P))
    assert cal.table_[1]["score"] == pytest.approx(in_sample, abs=0.005)
    # The same rows as weights of the distinct ones.
    rows, count = np.unique(np.column_stack([p, y]), axis=0, return_counts=True)
    weighted = cb.AutoCalibrator(methods=["quadratic scaling"])
    weighted.fit(
        np.column_stack([1 - rows[:, 0], rows[:, 0]]), rows[:, 1].astype(int), sample_weight=count
    )
    np.testing.assert_allclose(weighted.predict_proba(P), cal.predict_proba(P), atol=1e-12)


def test_heavy_rows_of_distinct_predictions_stay_whole():
    P, y = planted(60, 2, 2.0)
    merged = canonical(read(P, y, sample_weight=np.full(60, 7.0)))
    assert len(merged.row) == 60
    again = canonical(
        read(np.vstack([P, P[:, ::-1]]), np.append(y, y), sample_weight=np.full(120, 7.0))
    )
    assert len(again.row) == 120, "no prediction twice"
    discrete = canonical(
        read(np.vstack([P, P]), np.append(y, 1 - y), sample_weight=np.full(120, 7.0))
    )
    assert len(discrete.row) == 7 * 120
    assert discrete.weight.sum() == pytest.approx(7 * 120)


@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_complementary_candidates_share_the_weight(objective):
    P, y = planted(2000, 3, 2.5, shift=1.0)
    cal = cb.AutoCalibrator(objective=objective).fit(P, y)
    best = min(row["score"] for row in cal.table_)
    assert cal.score_ < best + 0.001
    assert sum(row["weight"] > 0.0 for row in cal.table_) > 1


def test_a_thousand_classes_work():
    P, y = planted(1200, 1000, 2.0)
    cal = cb.AutoCalibrator(max_cost=6.0).fit(P[:600], y[:600])
    assert metrics.log_loss(y[600:], cal.predict_proba(P[600:])) < metrics.log_loss(
        y[600:], P[600:]
    )


def test_unknown_names_are_refused():
    P, y = planted(50, 3, 1.0)
    with pytest.raises(InputError, match="methods must be"):
        cb.AutoCalibrator(methods=["magic"]).fit(P, y)
    with pytest.raises(InputError, match="objective must be"):
        cb.AutoCalibrator(objective="accuracy").fit(P, y)


@pytest.mark.parametrize(
    ("change", "chosen"),
    [
        (lambda z: z, "nothing"),
        (lambda z: z - 0.7, "intercept"),
        (lambda z: 2.0 * z - 0.5, "intercept and slope"),
    ],
)
def test_the_closed_test_is_a_policy(change, chosen):
    rng = np.random.default_rng(0)
    z = rng.normal(size=1500)
    y = (rng.random(1500) < 1.0 / (1.0 + np.exp(-z))).astype(int)
    p = 1.0 / (1.0 + np.exp(-change(z)))
    cal = cb.AutoCalibrator(policy="closed_test").fit(p, y)
    assert cal.status_ == f"closed test: {chosen}"
    assert cal.explain() == f"1,500 rows, 2 classes: the closed test chose {chosen}."
    np.testing.assert_array_equal(
        cal.predict_proba(p)[:, 1], cb.calibrators.ClosedTest().fit(p, y).predict(p)
    )
    assert (
        cb.AutoCalibrator(policy="closed_test").fit(p[:15], y[:15]).status_
        == "identity: too few rows"
    )


def test_what_the_closed_test_refuses():
    P, y = planted(60, 3, 1.0)
    with pytest.raises(
        InputError, match="two classes and independent rows; got 3 classes; leave policy out"
    ):
        cb.AutoCalibrator(policy="closed_test").fit(P, y)
    with pytest.raises(InputError, match="got 2 classes and clusters"):
        cb.AutoCalibrator(policy="closed_test").fit(
            P[:, 0], (y == 0).astype(int), cluster=np.arange(60) // 3
        )
    with pytest.raises(InputError, match="policy must be"):
        cb.AutoCalibrator(policy="test").fit(P, y)
    with pytest.raises(InputError, match="does not use X"):
        cb.AutoCalibrator(policy="closed_test").fit(P[:, 0], (y == 0).astype(int), X=P)


def test_the_default_is_a_new_unfitted_calibrator_each_time():
    first, second = default_calibrator(), default_calibrator()
    assert isinstance(first, Calibrator)
    assert first is not second
    assert not hasattr(first, "classes_")
