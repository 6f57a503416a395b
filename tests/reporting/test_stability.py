"""The section on label stability: the search, the iterations, and three rows of known kind."""

import numpy as np
import pytest

import calibrant as cb

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    logits = 2.0 * rng.standard_normal((900, 4))
    return logits, (logits + 1.5 * rng.gumbel(size=logits.shape)).argmax(axis=1)


def report(world, calibrator, **options):
    logits, y = world
    return cb.report(y, logits, calibrator=calibrator, n_resamples=2, inputs="logit", **options)


def test_the_search_and_the_iterations_are_those_of_the_calibrator(world):
    logits, y = world
    found = report(world, cb.calibrators.HokiCalibrator(inputs="logit"))
    said, own = (
        found.to_dict()["label_stability"],
        cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y),
    )
    assert said["scales"] == own.signal_.scales_.tolist()
    assert said["spread"] == own.signal_.spread_.tolist()
    assert said["scale"] == said["scales"][int(np.argmax(said["spread"]))]
    assert said["iterations"]["count"] == own.n_iter_
    assert [b["kept"] for b in said["iterations"]["bins"]] == pytest.approx(
        own.alpha_[-1][~np.isnan(own.alpha_[-1])]
    )
    page = found.to_html()
    assert f"ended after {own.n_iter_} iteration" in page
    assert 'id="figure-noise-search"' in page
    assert f"Chosen: {own.signal_.scale_:.3g}." in page


def test_the_three_rows_are_what_they_are_called(world):
    logits, y = world
    found = report(world, cb.calibrators.HokiCalibrator(inputs="logit"))
    own = cb.calibrators.HokiCalibrator(inputs="logit").fit(logits, y)
    gamma, right = own.signal_.score(logits), logits.argmax(axis=1) == y
    surest, least, wrong = found.to_dict()["label_stability"]["rows"]
    assert right[surest["row"]]
    assert surest["stability"] == pytest.approx(gamma[right].max())
    assert least["row"] == gamma.argmin()
    assert not right[wrong["row"]]
    assert wrong["stability"] == pytest.approx(gamma[~right].max())
    for row in (surest, least, wrong):
        order = np.argsort(-logits[row["row"]])
        assert row["curve"]["classes"] == order.tolist()
        assert row["label"] == str(order[0])
        assert row["true"] == str(y[row["row"]])
        assert row["confidence"] == pytest.approx(
            own.predict_confidence(logits[[row["row"]]])[0], abs=1e-9
        )
    assert f"Class {least['curve']['classes'][1]} takes over first" in found.to_html()


def test_without_a_search_or_an_error_the_page_shows_what_there_is(world):
    logits, _ = world
    calibrator = cb.ConfidenceCalibrator(
        signal=cb.calibrators.LabelStability(scale=1.0), inputs="logit"
    )
    found = cb.report(
        logits.argmax(axis=1), logits, calibrator=calibrator, n_resamples=2, inputs="logit"
    )
    said = found.to_dict()["label_stability"]
    assert said["iterations"] is None
    assert said["scales"] == []
    assert [row["kind"] for row in said["rows"]] == ["Surest row", "Least stable row"]
    assert 'id="figure-noise-search"' not in found.to_html()
    assert report(world, cb.TemperatureScaling()).to_dict()["label_stability"] is None
