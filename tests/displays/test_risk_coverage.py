import numpy as np
import pytest

from calibrant.displays.coverage import RiskCoverageDisplay


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
