import numpy as np
import pytest

from calibrant import ConfidenceCalibrator, Platt
from calibrant.calibrators import Margin
from calibrant.errors import InputError

P = np.array([[0.6, 0.3, 0.1], [0.2, 0.4, 0.4], [1.0, 0.0, 0.0]])


def test_difference_of_the_two_largest():
    np.testing.assert_allclose(Margin().score(P), [0.3, 0.0, 1.0])


def test_logit_scale_is_a_log_ratio_and_the_same_from_logits():
    logits = np.log(P[:2])
    np.testing.assert_allclose(Margin(scale="logit").score(P[:2]), [np.log(2), 0.0], atol=1e-12)
    np.testing.assert_allclose(
        Margin(scale="logit", inputs="logit").score(logits + 5), [np.log(2), 0.0], atol=1e-12
    )


def test_domain_follows_the_scale_and_maps_are_told():
    assert Margin().tags.domain == "unit"
    assert Margin(scale="logit").tags.domain == "real"
    with pytest.raises(InputError, match="scores in"):
        ConfidenceCalibrator(signal=Margin(scale="logit"), map=Platt()).fit(P, [0, 1, 2])
    cal = ConfidenceCalibrator(signal=Margin(scale="logit"), map=Platt(scale="probability")).fit(
        P, [0, 2, 0]
    )
    assert np.isfinite(cal.predict_confidence(P)).all()


def test_unknown_scale_is_refused():
    with pytest.raises(InputError, match="scale"):
        Margin(scale="odds").score(P)
