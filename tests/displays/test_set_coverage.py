import numpy as np

import calibrant as cb

Y, SETS = (
    np.array([0, 1, 1, 0, 2]),
    np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool),
)


def test_points_are_the_coverage_of_each_class_with_its_interval():
    display = cb.displays.SetCoverageDisplay.from_sets(Y, SETS, said=0.9, name="$a")
    points, _, (bars,) = display.points_
    assert points.get_xdata().tolist() == [1.0, 0.5, 1.0]
    expected = cb.metrics.set_coverage_by(Y, SETS)
    np.testing.assert_allclose(
        [segment[:, 0] for segment in bars.get_segments()],
        np.column_stack([expected.low, expected.high]),
    )
    display.figure_.canvas.draw()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == [
        "0: 2 rows,\nmean size 1.5",
        "1: 2 rows,\nmean size 1.0",
        "2: 1 row,\nmean size 3.0",
    ]
    assert display.ax_.get_legend().get_texts()[0].get_text() == "nominal: 0.9"
    assert display.ax_.get_title() == "$a"


def test_by_size_and_by_groups():
    size = cb.displays.SetCoverageDisplay.from_sets(Y, SETS, by="size")
    assert size.ax_.get_ylabel() == "Classes in the set"
    assert size.curve.group.tolist() == [1, 2, 3]
    group = cb.displays.SetCoverageDisplay.from_sets(
        Y, SETS, by="groups", groups=["$b", "c", "c", "c", "c"]
    )
    group.figure_.canvas.draw()
    assert group.curve.n.tolist() == [1, 4]


def test_of_many_classes_those_of_the_lowest_coverage_are_drawn_and_all_are_named():
    sets = np.eye(100, dtype=bool)
    wrong = np.arange(3, 100, 7)
    sets[wrong, wrong] = False
    display = cb.displays.SetCoverageDisplay.from_sets(np.arange(100), sets)
    assert len(display.points_[0].get_xdata()) == len(display.ax_.get_yticks()) == 24
    named = [int(text.get_text().split(":")[0]) for text in display.ax_.get_yticklabels()]
    assert named == sorted(named)
    assert set(wrong) <= set(named)
    assert "the 24 of 100 with the lowest coverage" in display.ax_.get_ylabel()
