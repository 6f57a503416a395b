"""Bugs that bit other tools' calibrators, on every whole-vector scaling."""

import warnings

import numpy as np
import pytest

import calibrant as cb
from calibrant import metrics
from calibrant._numerics.logistic import softmax

SCALINGS = (
    cb.TemperatureScaling,
    cb.calibrators.EnsembleTemperature,
    cb.calibrators.VectorScaling,
    cb.calibrators.MatrixScaling,
    cb.calibrators.DirichletCalibration,
    cb.calibrators.StructuredVectorScaling,
    cb.calibrators.StructuredMatrixScaling,
    cb.calibrators.EnsembleMatrixScaling,
    cb.calibrators.PretrainedAverage,
    cb.calibrators.IsotonicPreserving,
    cb.calibrators.IsotonicOneVsRest,
    cb.calibrators.IntraOrderPreserving,
)
KEEP_LABEL = [s for s in SCALINGS if s.tags.keeps_argmax]
every_scaling = pytest.mark.parametrize("scaling", SCALINGS, ids=lambda s: s.__name__)


def _rows(n=300, n_classes=4, seed=0, sharpness=1.0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, n_classes)) * 2
    return sharpness * logits, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def _fit(scaling, P, y):
    """Fitted; a temperature at its documented bound may say so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "temperature scaling ended at", cb.errors.FitWarning)
        return scaling.fit(P, y)


def _assert_sound(Q, n, n_classes):
    assert Q.shape == (n, n_classes)
    assert np.isfinite(Q).all()
    assert (Q >= 0).all()
    assert (Q <= 1).all()
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-9)


def test_temperature_stays_positive_where_scores_mislead():
    logits, _ = _rows()
    with pytest.warns(cb.errors.FitWarning, match="T = 1000"):
        cal = cb.TemperatureScaling(inputs="logit").fit(logits, logits.argmin(axis=1))
    assert cal.temperature_ == 1e3
    np.testing.assert_array_equal(cal.predict(logits), logits.argmax(axis=1))


@pytest.mark.parametrize("planted", [0.05, 0.3, 1.0, 4.0, 20.0])
def test_the_optimiser_moves_and_does_not_stop_early(planted):
    # Every row once for each class, weighted by its true probability: the optimum is the planted
    # temperature itself.
    logits, _ = _rows(50, 5)
    truth = softmax(logits / planted)
    rows, labels, weight = np.repeat(logits, 5, axis=0), np.tile(np.arange(5), 50), truth.ravel()
    cal = cb.TemperatureScaling(inputs="logit").fit(rows, labels, sample_weight=weight)
    assert cal.status_ == "converged"
    assert cal.temperature_ == pytest.approx(planted, rel=1e-6)


@every_scaling
def test_no_fit_silently_becomes_the_identity(scaling):
    logits, y = _rows(2000, sharpness=3.0)
    P = softmax(logits)
    cal = scaling().fit(P, y)
    assert cal.status_ in ("converged", "exact")
    assert metrics.log_loss(y, cal.predict_proba(P)) < metrics.log_loss(y, P) - 0.2


@pytest.mark.parametrize(
    "scaling",
    [
        cb.calibrators.VectorScaling,
        cb.calibrators.StructuredVectorScaling,
        cb.calibrators.EnsembleTemperature,
        cb.calibrators.IntraOrderPreserving,
    ],
)
def test_thousand_classes_converge(scaling):
    logits, y = _rows(300, 1000, sharpness=3.0)
    cal = scaling(inputs="logit").fit(logits, y)
    assert cal.status_ == "converged"
    assert (
        metrics.log_loss(y, cal.predict_proba(logits)) < metrics.log_loss(y, softmax(logits)) - 0.2
    )


@every_scaling
@pytest.mark.parametrize("n", [5, 50])
def test_separable_rows_do_not_bring_certainty(scaling, n):
    P = np.full((3 * n, 3), 0.05)
    y = np.tile(np.arange(3), n)
    P[np.arange(3 * n), y] = 0.9
    wrong = 1 - scaling().fit(P, y).predict_proba(P)[np.arange(3 * n), y]
    assert (wrong > 0.05 / (3 * n + 1)).all()
    assert (wrong < 0.3).all()


@every_scaling
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e8])
def test_huge_and_tiny_scores_keep_their_ranking(scaling, scale):
    logits, y = _rows(200)
    Q = _fit(scaling(inputs="logit"), logits * scale, y).predict_proba(logits * scale)
    _assert_sound(Q, 200, 4)
    if scaling in KEEP_LABEL:
        np.testing.assert_array_equal(Q.argmax(axis=1), logits.argmax(axis=1))
    assert metrics.accuracy(y, Q) > 0.5


@every_scaling
def test_a_calibrated_model_is_hardly_changed(scaling):
    logits, y = _rows(20_000)
    P = softmax(logits)
    fit, test = slice(10_000), slice(10_000, None)
    Q = scaling().fit(P[fit], y[fit]).predict_proba(P[test])
    change = metrics.log_loss(y[test], Q) - metrics.log_loss(y[test], P[test])
    isotonic = scaling in (cb.calibrators.IsotonicPreserving, cb.calibrators.IsotonicOneVsRest)
    assert change < (1e-2 if isotonic else 1.5e-3)


@every_scaling
def test_logits_and_probabilities_give_the_same_answer(scaling):
    logits, y = _rows()
    shifted = logits + np.random.default_rng(1).normal(size=(300, 1)) * 20
    by_logit = scaling(inputs="logit").fit(shifted, y).predict_proba(shifted)
    by_probability = scaling().fit(softmax(logits), y).predict_proba(softmax(logits))
    np.testing.assert_allclose(by_logit, by_probability, atol=1e-7)


@every_scaling
def test_log_loss_is_finite_on_rows_unlike_those_fitted(scaling):
    logits, y = _rows(100)
    Q = (
        scaling()
        .fit(softmax(logits), y)
        .predict_proba(np.vstack([np.eye(4), np.full((1, 4), 0.25)]))
    )
    _assert_sound(Q, 5, 4)
    for label in range(4):
        assert np.isfinite(metrics.log_loss(np.full(5, label), Q))


@every_scaling
def test_float16_and_float32_rows_are_taken(scaling):
    logits, y = _rows()
    P = softmax(logits)
    exact = scaling().fit(P, y).predict_proba(P)
    # A jump of an isotonic step may fall between two roundings of one score.
    for dtype, tolerance in ((np.float32, 2e-5), (np.float16, 2e-2)):
        Q = scaling().fit(P.astype(dtype), y).predict_proba(P.astype(dtype))
        _assert_sound(Q, 300, 4)
        assert np.quantile(np.abs(Q - exact), 0.95) < tolerance


@every_scaling
def test_perfect_separation_does_not_crash(scaling):
    Q = scaling().fit([0.0, 1.0], [0, 1]).predict_proba([0.0, 1.0, 0.5])
    _assert_sound(Q, 3, 2)
    assert Q[0, 0] >= 0.5 >= Q[1, 0]


@every_scaling
@pytest.mark.parametrize("constant", [0.0, 0.3, 1.0])
def test_constant_predictions_do_not_crash(scaling, constant):
    y = np.array([0, 1, 0, 0, 1, 0])
    _assert_sound(
        _fit(scaling(), np.full(6, constant), y).predict_proba(np.full(6, constant)), 6, 2
    )


@every_scaling
def test_one_class_only_leaves_the_others_possible(scaling):
    P = softmax(_rows(40)[0])
    Q = _fit(scaling(), P, np.zeros(40, dtype=int)).predict_proba(P)
    _assert_sound(Q, 40, 4)
    assert (Q > 0).all()


@every_scaling
def test_an_absent_class_keeps_mass_and_its_column(scaling):
    logits, y = _rows(200)
    seen = y != 2
    names = np.array(["a", "b", "c", "d"])
    P = softmax(logits)
    cal = scaling(classes=names).fit(P[seen], names[y[seen]])
    Q = cal.predict_proba(P)
    _assert_sound(Q, 200, 4)
    assert cal.classes_.tolist() == ["a", "b", "c", "d"]
    assert (Q[:, 2] > 0).all()


@every_scaling
def test_three_classes_of_which_two_are_seen_are_not_binary(scaling):
    logits, y = _rows(100, 3)
    seen = y < 2
    Q = scaling().fit(softmax(logits)[seen], y[seen]).predict_proba(softmax(logits))
    _assert_sound(Q, 100, 3)


@every_scaling
def test_names_follow_columns_whatever_their_order(scaling):
    logits, y = _rows(200, 3)
    P, names = softmax(logits), np.array(["z", "a", "m"])
    plain = scaling().fit(P, y)
    named = scaling(classes=names).fit(P, names[y])
    np.testing.assert_array_equal(named.predict(P), names[plain.predict(P)])
    order = [2, 0, 1]
    shuffled = scaling(classes=names[order]).fit(P[:, order], names[y])
    np.testing.assert_allclose(
        shuffled.predict_proba(P[:, order]), plain.predict_proba(P)[:, order], atol=1e-6
    )


@every_scaling
def test_a_second_fit_does_not_see_the_first(scaling):
    logits, y = _rows(200)
    cal = scaling()
    before = cal.get_params()
    other, other_y = _rows(100, 7, seed=5)
    cal.fit(softmax(other), other_y)
    again = cal.fit(softmax(logits), y).predict_proba(softmax(logits))
    np.testing.assert_array_equal(
        again, scaling().fit(softmax(logits), y).predict_proba(softmax(logits))
    )
    assert cal.get_params() == before


@pytest.mark.parametrize(
    "scaling", [cb.TemperatureScaling, cb.calibrators.VectorScaling, cb.calibrators.MatrixScaling]
)
def test_small_probabilities_keep_their_relative_precision(scaling):
    # One in 1e9 and its complement: a factor of two between two tiny probabilities survives a map
    # near the identity.
    p = np.array([1e-9, 2e-9, 1 - 1e-9, 1 - 2e-9])
    rng = np.random.default_rng(0)
    base = rng.uniform(0.01, 0.99, 4000)
    options = {} if scaling is cb.TemperatureScaling else {"smooth": False}
    Q = scaling(**options).fit(base, (rng.random(4000) < base).astype(int)).predict_proba(p)
    ratio = Q[1, 1] / Q[0, 1]
    assert ratio == pytest.approx(2.0, rel=0.2)
    assert Q[3, 0] / Q[2, 0] == pytest.approx(2.0, rel=0.2)


@pytest.mark.parametrize(
    "scaling", [cb.calibrators.IsotonicPreserving, cb.calibrators.IsotonicOneVsRest]
)
def test_tied_scores_sum_their_weights(scaling):
    P = np.array([0.2, 0.2, 0.6, 0.8])
    y = np.array([1, 0, 0, 1])
    weighted = scaling().fit(P, y, sample_weight=[3, 1, 2, 1]).predict_proba(P)
    repeated = (
        scaling().fit(np.repeat(P, [3, 1, 2, 1]), np.repeat(y, [3, 1, 2, 1])).predict_proba(P)
    )
    np.testing.assert_allclose(weighted, repeated, atol=1e-12)


@pytest.mark.parametrize(
    "scaling",
    [
        cb.calibrators.MatrixScaling,
        cb.calibrators.DirichletCalibration,
        cb.calibrators.StructuredMatrixScaling,
        cb.calibrators.EnsembleMatrixScaling,
    ],
    ids=lambda s: s.__name__,
)
def test_a_matrix_over_too_many_classes_is_refused_with_a_way_out(scaling):
    with pytest.raises(
        cb.errors.InputError, match=r"at most 2,000 classes; got 2,001; use StructuredVectorScaling"
    ):
        scaling(inputs="logit").fit(np.zeros((2, 2001)), [0, 1])
