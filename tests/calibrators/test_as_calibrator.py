import numpy as np
import pytest

import calibrant as cb
from calibrant.calibrators.multiclass import as_calibrator
from calibrant.core.estimators import offered
from calibrant.errors import InputError

MAPS = offered(cb.core.Map)


def test_a_calibrator_stands_for_itself_and_none_for_the_default():
    cal = cb.TemperatureScaling()
    assert as_calibrator(cal) is cal
    assert isinstance(as_calibrator(cb.TemperatureScaling), cb.TemperatureScaling)
    assert (
        as_calibrator(None, default=cb.calibrators.Identity).get_params()
        == cb.calibrators.Identity().get_params()
    )
    with pytest.raises(InputError, match="got None"):
        as_calibrator(None)


@pytest.mark.parametrize("cls", MAPS)
def test_every_map_goes_one_vs_rest_and_fits_two_classes_and_three(cls):
    for given in (cls, cls()):
        one = as_calibrator(given)
        assert isinstance(one, cb.OneVsRest)
        assert type(one.map) is cls
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        P = rng.dirichlet(np.ones(n_classes), 120)
        Q = one.fit(P, np.arange(120) % n_classes).predict_proba(P)
        np.testing.assert_allclose(Q.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "got"),
    [
        ("isotonic", "'isotonic'"),
        (cb.StdScaling(), r"StdScaling, a calibrator of forecasts; .*"),
        (3, "3"),
        (cb.StdScaling, "StdScaling, a calibrator of forecasts; .*"),
        (cb.calibrators.Margin(), "Margin, a signal; .*"),
    ],
)
def test_anything_else_is_one_clear_sentence(given, got):
    from sklearn.naive_bayes import GaussianNB

    P, y = [[0.9, 0.1], [0.2, 0.8]] * 5, [0, 1] * 5
    match = (
        r"calibrator must be a calibrator of classes such as .*, or a map such as Isotonic\(\).*;"
        rf" got {got}\."
    )
    for use in (
        lambda: as_calibrator(given),
        lambda: cb.calibrators.cross_fitted(given, P, y),
        lambda: cb.calibrators.PerClass(given).fit(P, y),
        lambda: cb.CalibratedClassifier(GaussianNB(), given).fit(P, y),
    ):
        with pytest.raises(InputError, match=match):
            use()


@pytest.mark.parametrize("wrong", [cb.TemperatureScaling(), "isotonic", cb.Isotonic], ids=repr)
@pytest.mark.parametrize("wrapper", [cb.OneVsRest, lambda map: cb.ConfidenceCalibrator(map=map)])
def test_a_map_is_asked_for_by_name(wrapper, wrong):
    with pytest.raises(InputError, match=r"map must be a map such as Isotonic\(\); got"):
        wrapper(wrong).fit([[0.9, 0.1], [0.2, 0.8]] * 5, [0, 1] * 5)


def test_a_fitted_map_is_refused_only_where_it_would_be_used_as_it_is():
    fitted = cb.Isotonic().fit([0.1, 0.9], [0, 1])
    assert isinstance(as_calibrator(fitted), cb.OneVsRest)
    with pytest.raises(InputError, match=r"a fitted Isotonic, a map .* OneVsRest\(Isotonic\(\)\)"):
        as_calibrator(fitted, fitted=True)
