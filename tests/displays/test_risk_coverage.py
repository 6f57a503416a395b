import numpy as np
import pytest

from calibrant.displays.classes import RiskCoverageDisplay


def test_draws_its_numbers():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    display = RiskCoverageDisplay.from_predictions(
        [1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], name="$a", ax=ax
    )
    x, y = display.line_.get_data()
    assert x.tolist() == display.curve.coverage.tolist()
    assert y.tolist() == display.curve.risk.tolist()
    assert ax.get_title() == "$a"
    assert np.isclose(ax.get_ylim()[0], 0.0)


def test_the_band_of_the_whole_curve_is_wider_where_it_looks_closest():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(int)
    each, all_ = (
        RiskCoverageDisplay.from_predictions(y, p, band=band).curve
        for band in ("pointwise", "simultaneous")
    )
    assert (each.risk == all_.risk).all()
    assert (all_.high[-50:] > each.high[-50:]).all()
    with pytest.raises(ValueError, match="band must be"):
        RiskCoverageDisplay.from_predictions(y, p, band="both")


def test_the_axis_ends_near_the_data_and_not_at_the_first_few_predictions():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.6, 1.0, 2000)
    y = (rng.random(2000) < p).astype(int)
    display = RiskCoverageDisplay.from_predictions(y, p)
    kept = display.curve.coverage >= 0.1
    assert display.curve.high.max() > 0.5
    top = display.ax_.get_ylim()[1]
    assert display.curve.high[kept].max() < top < 1.3 * display.curve.high[kept].max()
    assert top < 0.3
