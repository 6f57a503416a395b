import calibrant as cb
from calibrant.reporting.calibrate import shown_name


def test_each_by_the_label_it_declares():
    assert shown_name(cb.TemperatureScaling()) == "temperature scaling"
    assert shown_name(cb.OneVsRest(cb.Isotonic())) == "one-vs-rest isotonic regression"
    assert (
        shown_name(cb.ConfidenceCalibrator(map=cb.Isotonic()))
        == "confidence by isotonic regression"
    )
    assert (
        shown_name(cb.ConfidenceCalibrator().fit([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]], [0, 1]))
        == "confidence by isotonic regression"
    )
