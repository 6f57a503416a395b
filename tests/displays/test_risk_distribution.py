import numpy as np
import pytest

import calibrant as cb


@pytest.mark.parametrize(
    ("shape", "scale"), [((2, 2), "linear"), ((0.5, 40), "log"), ((0.15, 0.15), "logit")]
)
def test_bars_are_shares_of_each_outcome_on_the_scale_that_suits(shape, scale):
    rng = np.random.default_rng(0)
    p = rng.beta(*shape, 2000)
    display = cb.displays.RiskDistributionDisplay.from_predictions(
        (rng.random(2000) < p).astype(int), p
    )
    assert display.ax_.get_xscale() == scale
    up, down = (steps.get_data().values for steps in (display.events_, display.others_))
    assert sum(up) == pytest.approx(1.0)
    assert sum(down) == pytest.approx(-1.0)
    display.figure_.canvas.draw()
    left = np.array(display.events_.get_data().edges[:-1])
    assert np.isfinite(display.ax_.transData.transform(np.column_stack([left, 0.0 * left]))).all()
    low, high = display.ax_.get_xlim()
    assert (left >= low - 1e-12).all()
    assert (left < high).all()


@pytest.mark.parametrize("scale", ["linear", "log", "logit"])
@pytest.mark.parametrize("n_bins", [1, 2, 3])
def test_few_bins_and_one_outcome_can_be_drawn(scale, n_bins):
    cb.displays.RiskDistributionDisplay.from_predictions(
        [0, 0], [0.0, 1.0], scale=scale, n_bins=n_bins
    ).figure_.canvas.draw()


def test_the_legend_counts_the_rows():
    display = cb.displays.RiskDistributionDisplay.from_predictions(
        [0, 1, 1], [0.1, 0.4, 0.8], sample_weight=[1000, 1, 2], name="$a"
    )
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["with the event (3 rows)", "without it (1,000 rows)"]
    assert display.ax_.get_title() == "$a"
