import numpy as np

from calibrant.displays.event import IsotonicCurveDisplay


def test_draws_its_numbers_and_band():
    from matplotlib.figure import Figure

    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    ax = Figure().add_subplot()
    display = IsotonicCurveDisplay.from_predictions(y, p, target="event", name="$a", ax=ax)
    x, drawn = display.line_.get_data()
    assert x.tolist() == np.sort(p).tolist()
    assert (np.diff(drawn) >= 0).all()
    assert ax.get_title() == "$a"
    assert len(display.band_.get_paths()) == 1
