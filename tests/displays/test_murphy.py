import calibrant as cb


def test_draws_its_numbers_and_its_parts_where_it_has_them():
    from matplotlib.figure import Figure

    ax, other = Figure().subplots(1, 2)
    data = [1, 1, 0, 1], [0.9, 0.8, 0.3, 0.2]
    display = cb.displays.MurphyDisplay.from_predictions(*data, name="$a", ax=ax)
    x, y = display.line_.get_data()
    assert (x.tolist(), y.tolist()) == (
        display.curve.threshold.tolist(),
        display.curve.score.tolist(),
    )
    assert ax.get_title() == "$a"
    assert len(ax.get_lines()) == 1
    cb.displays.MurphyDisplay.from_predictions(*data, decompose=True, ax=other)
    assert len(other.get_lines()) == 4
