"""F7: logits at the ends of float32 and float64 gave NaN; their softmax is as plain as that of
any other row.
"""

import numpy as np
import pytest

import calibrant as cb
from calibrant._numerics.logistic import bounded_logits, softmax
from calibrant.errors import InputError
from calibrant.testing.data import problems

DATA = problems()[1]
MASK = {"float32": np.finfo(np.float32).min, "float64": np.finfo(np.float64).min}


@pytest.mark.parametrize(
    "cls",
    [
        cb.TemperatureScaling,
        cb.calibrators.VectorScaling,
        cb.calibrators.MatrixScaling,
        cb.calibrators.StructuredMatrixScaling,
    ],
)
def test_f07_sharpening_float32_logits_at_their_end(cls):
    timid = 0.2 * DATA.logits
    fresh = cls(inputs="logit").fit(timid, DATA.y)
    Q = fresh.predict_proba(np.array([[3.4e38, -3.4e38, 0.0]], dtype=np.float32))
    assert np.isfinite(Q).all()
    assert Q[0].argmax() == 0


@pytest.mark.filterwarnings("ignore:matrix scaling ended:calibrant.errors.FitWarning")
@pytest.mark.parametrize("dtype", MASK)
def test_f07_a_masked_class_is_never_predicted(dtype):
    logits = DATA.logits.astype(dtype)
    logits[DATA.y != 2, 2] = MASK[dtype]
    for calibrator in (
        cb.calibrators.MatrixScaling(smooth=False, inputs="logit"),
        cb.TemperatureScaling(inputs="logit"),
    ):
        Q = calibrator.fit(logits, DATA.y).predict_proba(logits)
        assert np.isfinite(Q).all()
        assert Q[DATA.y != 2, 2].max() < 0.01


def test_f07_the_automatic_choice_takes_the_largest_doubles():
    logits = DATA.logits.copy()
    logits[:3] = np.where(np.eye(3), 1.79e308, -1.79e308)
    Q = cb.AutoCalibrator(inputs="logit").fit(logits, DATA.y).predict_proba(logits)
    assert np.isfinite(Q).all()


def test_f07_platt_refuses_scores_whose_square_is_no_number():
    with pytest.raises(InputError, match=r"score must be at most 1e100 in size; row 1 is 2e\+307"):
        cb.Platt(scale="probability").fit([0.0, 2e307, 1.0], [0, 1, 1])


def test_f07_bounding_changes_no_softmax_and_no_ordinary_logit():
    ordinary = np.array([[1e14, -1e14, 3.0]])
    assert bounded_logits(ordinary) is ordinary
    far = np.array([[3e38, 1e38, -2.0], [5.0, 4.0, -1e300], [1e300, 1e300, 0.0], [1.0, 2.0, 3.0]])
    bounded = bounded_logits(far)
    np.testing.assert_array_equal(softmax(bounded), softmax(far))
    np.testing.assert_array_equal(bounded[3], far[3])
    np.testing.assert_array_equal(bounded[1, :2], [0.0, -1.0])
    assert bounded_logits(far[:1].astype(np.float32)).dtype == np.float32
