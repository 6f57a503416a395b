import numpy as np

import calibrant as cb


def test_points_are_the_counts():
    y, P = [0, 1, 1, 0], [[0.95, 0.05], [0.4, 0.6], [0.97, 0.03], [1.0, 0.0]]
    display = cb.displays.ConfidenceHistogramDisplay.from_predictions(
        y, P, n_bins=10, target="answer"
    )
    assert display.right_.get_ydata()[-1] == 2
    assert display.wrong_.get_ydata()[-1] == 1
    assert np.isnan(display.wrong_.get_ydata()[0])
    assert not display.ax_.patches  # a length from 0 means nothing on a logarithmic axis
    assert display.histogram.right.sum() == 3
    display.figure_.canvas.draw()


def test_counts_all_rows_with_confidences_of_0_and_1():
    display = cb.displays.ConfidenceHistogramDisplay(
        cb.metrics.confidence_histogram([1, 0], [1.0, 0.0], target=1)
    )
    np.testing.assert_array_equal(
        display.histogram.right + display.histogram.wrong, [1, *[0] * 18, 1]
    )


def test_its_words_follow_the_target():
    y, p = [0, 1, 1], [0.2, 0.6, 0.9]
    event, answer = (
        cb.displays.ConfidenceHistogramDisplay.from_predictions(y, p, target=target).ax_
        for target in (None, "answer")
    )
    assert [text.get_text() for text in event.get_legend().get_texts()] == ["event", "no event"]
    assert [text.get_text() for text in answer.get_legend().get_texts()] == ["right", "wrong"]
    assert event.get_xlabel() == "Predicted risk"
