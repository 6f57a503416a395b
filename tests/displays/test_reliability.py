import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant as cb
from calibrant.errors import InputError
from calibrant.metrics import reliability_curve

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 400)
    return rng.integers(0, 3, 400), P


def test_draws_the_curve_it_stores(data):
    display = cb.displays.ReliabilityDisplay.from_predictions(*data)
    curve = reliability_curve(*data)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.confidence)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.accuracy)
    np.testing.assert_array_equal(
        [s[:, 1] for s in display.bands_.get_segments()], np.column_stack([curve.low, curve.high])
    )
    assert display.figure_ is display.ax_.figure
    assert [bar.get_height() for bar in display.counts_ax_.patches] == curve.n.tolist()
    display.figure_.canvas.draw()


def test_plot_returns_itself_and_uses_the_axes_given(data):
    _, ax = pyplot.subplots()
    display = cb.displays.ReliabilityDisplay(reliability_curve(*data))
    assert display.plot(ax, counts=False) is display
    assert display.ax_ is ax
    assert display.counts_ax_ is None
    assert len(pyplot.get_fignums()) == 1


def test_from_estimator_knows_its_classes():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = LogisticRegression().fit(X, y)
    display = cb.displays.ReliabilityDisplay.from_estimator(model, X, y, target="yes")
    np.testing.assert_array_equal(display.curve.n.sum(), 200)
    assert display.ax_.get_title() == "LogisticRegression"


def test_from_estimator_without_probabilities():
    with pytest.raises(InputError, match="predict_proba"):
        cb.displays.ReliabilityDisplay.from_estimator(object(), [[0.0]], [0])


def test_a_hostile_name_stays_text(data):
    display = cb.displays.ReliabilityDisplay.from_predictions(*data, name=r"$\frac{<script>")
    display.figure_.canvas.draw()
    assert display.ax_.get_title() == r"$\frac{<script>"


def test_weights_reach_the_curve(data):
    y, P = data
    weight = np.arange(400) % 3
    rows = np.repeat(np.arange(400), weight)
    weighted = cb.displays.ReliabilityDisplay.from_predictions(y, P, sample_weight=weight).curve
    repeated = cb.displays.ReliabilityDisplay.from_predictions(y[rows], P[rows]).curve
    for name in ("n", "confidence", "accuracy", "low", "high"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12)


def test_logit_axes_hold_every_point_inside_0_and_1():
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 3.0, 2000)
    curve = reliability_curve((rng.random(2000) < p).astype(int), p, target=1, strategy="mass")
    display = cb.displays.ReliabilityDisplay(curve, target=1).plot(scale="logit")
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "logit"
    assert 0.0 < low < curve.confidence.min()
    assert curve.confidence.max() < high < 1.0
    assert cb.displays.ReliabilityDisplay(curve).plot().ax_.get_xscale() == "linear"


def test_logit_axes_show_shares_and_confidences_of_exactly_0_and_1():
    P = np.repeat([0.0, 0.2, 0.8, 1.0], 10)
    y = np.concatenate([np.zeros(10), np.zeros(10), np.arange(10) > 1, np.ones(10)]).astype(int)
    display = cb.displays.ReliabilityDisplay(
        reliability_curve(y, P, target=1, n_bins=10), target=1
    ).plot(scale="logit")
    display.figure_.canvas.draw()
    x, share = display.line_.get_data()
    np.testing.assert_allclose(share, [0.05, 0.05, 0.8, 0.95])
    pixels = display.ax_.transData.transform(np.column_stack([x, share]))
    assert np.isfinite(pixels).all()
    assert (display.ax_.transAxes.inverted().transform(pixels) > 0.0).all()
    assert x.min() > 0.0
    assert x.max() < 1.0


def events(shape, n=3000):
    rng = np.random.default_rng(0)
    p = rng.beta(*shape, n)
    return (rng.random(n) < p).astype(int), p


@pytest.mark.parametrize(
    ("shape", "scale"), [((2, 2), "linear"), ((0.5, 40), "log"), ((0.15, 0.15), "logit")]
)
def test_an_event_is_drawn_on_the_scale_that_suits_it(shape, scale):
    display = cb.displays.ReliabilityDisplay.from_predictions(*events(shape))
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == scale
    assert (display.distribution is None) == (scale == "linear")
    display.figure_.canvas.draw()
    pixels = display.ax_.transAxes.inverted().transform(
        display.ax_.transData.transform(np.column_stack(display.line_.get_data()))
    )
    assert ((pixels > -1e-9) & (pixels < 1.0 + 1e-9)).all()
    assert (
        cb.displays.ReliabilityDisplay.from_predictions(
            *events(shape), scale="linear"
        ).ax_.get_xscale()
        == "linear"
    )
    assert (
        cb.displays.ReliabilityDisplay.from_predictions(
            *events(shape), target="answer"
        ).ax_.get_xscale()
        == "linear"
    )


def test_a_rare_event_has_few_bins_each_with_some_events():
    y, p = events((0.5, 40), 2000)
    curve = cb.displays.ReliabilityDisplay.from_predictions(y, p).curve
    assert len(curve.n) == int(np.sqrt(y.sum()))
    assert np.ptp(curve.n) <= 1.0


@pytest.mark.parametrize("smooth", ["loess", "spline"])
def test_a_smooth_curve_has_its_band_and_the_risks_below(smooth):
    y, p = events((1, 2), 300)
    display = cb.displays.ReliabilityDisplay.from_predictions(y, p, smooth=smooth)
    curve = getattr(cb.metrics, f"{smooth}_curve")(y, p)
    np.testing.assert_array_equal(display.smooth_.get_ydata(), curve.observed)
    np.testing.assert_array_equal(display.smooth_.get_xdata(), curve.score)
    assert display.line_.get_linewidth() == 0.0
    assert display.distribution.events.sum() == y.sum()
    steps = [patch.get_data().values for patch in display.counts_ax_.patches]
    assert [len(values) for values in steps] == [80, 80]
    display.figure_.canvas.draw()


def test_a_smooth_curve_keeps_off_the_logit_axes_unless_asked():
    y, p = events((0.15, 0.15), 400)
    assert (
        cb.displays.ReliabilityDisplay.from_predictions(y, p, smooth="loess").ax_.get_xscale()
        == "linear"
    )
    display = cb.displays.ReliabilityDisplay.from_predictions(y, p, smooth="loess", scale="logit")
    assert display.ax_.get_xscale() == "logit"
    display.figure_.canvas.draw()


def test_smooth_is_a_name(data):
    with pytest.raises(InputError, match="smooth must be"):
        cb.displays.ReliabilityDisplay.from_predictions(*data, smooth="lowess")


@pytest.mark.parametrize(
    ("target", "word"),
    [("answer", "Confidence"), ("event", "Predicted risk"), (1, "Predicted probability")],
)
def test_the_words_follow_the_target(target, word):
    display = cb.displays.ReliabilityDisplay.from_predictions(*events((2, 2), 100), target=target)
    assert display.counts_ax_.get_xlabel().startswith(word)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0], [0.3]),
        ([0, 0], [0.0, 0.0]),
        ([1, 0], [0.0, 1.0]),
        ([0] * 9 + [1], [1e-300] * 9 + [1e-12]),
    ],
)
@pytest.mark.parametrize("scale", ["auto", "log", "logit"])
def test_extreme_risks_and_few_rows_can_be_drawn(y, p, scale):
    cb.displays.ReliabilityDisplay.from_predictions(y, p, scale=scale).figure_.canvas.draw()
