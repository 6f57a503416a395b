import calibrant as cb


def test_draws_its_numbers_from_the_origin():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    display = cb.displays.GainDisplay.from_predictions(
        [1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2], name="$a", ax=ax
    )
    x, y = display.line_.get_data()
    assert x.tolist() == [0.0, *display.curve.flagged.tolist()]
    assert y.tolist() == [0.0, *display.curve.found.tolist()]
    assert ax.get_title() == "$a"
    assert (ax.get_xlim(), ax.get_ylim()) == ((0.0, 1.0), (0.0, 1.0))
