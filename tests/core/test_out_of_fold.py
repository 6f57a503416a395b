import numpy as np
import pytest

import calibrant as cb
from calibrant.core.folds import fit_clone, out_of_fold, stratified_folds
from calibrant.core.predictions import read
from calibrant.errors import InputError


@pytest.fixture
def record():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(0.5 * np.ones(4), 203)
    y = np.array([rng.choice(4, p=p) for p in P**0.5 / (P**0.5).sum(axis=1, keepdims=True)])
    return read(P, np.array(list("abcd"))[y], classes=list("abcd"))


def test_each_class_is_dealt_out_evenly():
    labels = np.repeat(np.arange(4), [53, 17, 4, 1])
    folds = stratified_folds(labels, 5)
    for k in range(4):
        counts = np.bincount(folds[labels == k], minlength=5)
        assert counts.max() - counts.min() <= 1
    sizes = np.bincount(folds)
    assert sizes.max() - sizes.min() <= 1


def test_no_row_is_calibrated_by_a_fit_that_saw_it(record):
    Q, folds = out_of_fold(cb.TemperatureScaling(), record)
    for k in range(5):
        part = folds == k
        fitted = cb.TemperatureScaling(classes=list("abcd")).fit(
            record.values[~part], record.classes[record.labels[~part]]
        )
        np.testing.assert_array_equal(Q[part], fitted.predict_proba(record.values[part]))


def test_a_class_absent_from_a_fit_keeps_its_column(record):
    labels = record.labels.copy()
    labels[labels == 3] = 0
    labels[7] = 3
    Q, _ = out_of_fold(cb.ConfidenceCalibrator(), read(record.values, labels))
    assert Q.shape == (203, 4)
    np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-9)


def test_leaves_the_calibrator_as_it_is_and_reports_progress(record):
    calibrator, seen = cb.TemperatureScaling(), []
    out_of_fold(calibrator, record, n_splits=3, progress=seen.append)
    assert vars(calibrator) == vars(cb.TemperatureScaling())
    assert seen == [0, 1, 2]


def test_logits_stay_logits(record):
    logits = read(3.0 * record.log_probabilities, record.labels, inputs="logit")
    assert fit_clone(cb.TemperatureScaling(), logits).inputs == "logit"
    assert fit_clone(cb.TemperatureScaling(), logits).temperature_ == pytest.approx(
        3.0 * fit_clone(cb.TemperatureScaling(), record).temperature_
    )


@pytest.mark.parametrize("n_splits", [1, 0, 204, 2.5])
def test_refuses_impossible_numbers_of_folds(record, n_splits):
    with pytest.raises(InputError, match="n_splits"):
        out_of_fold(cb.calibrators.Identity(), record, n_splits=n_splits)
