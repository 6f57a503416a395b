import numpy as np

import calibrant as cb
from calibrant.metrics import joint_distribution


def test_draws_the_three_tables():
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    names = ["a", "$b$", "c"]
    display = cb.displays.JointDistributionDisplay.from_predictions(
        np.array(names)[y], P, classes=names, name="all"
    )
    joint = joint_distribution(y, P)
    drawn = [ax.images[0].get_array().data for ax in display.axes_]
    np.testing.assert_allclose(drawn[0], joint.counts / joint.counts.max())
    np.testing.assert_array_equal(drawn[1], joint.by_true)
    np.testing.assert_array_equal(drawn[2], joint.by_predicted)
    assert display.axes_[0].texts[0].get_text() == f"{joint.counts[0, 0]:,.0f}"
    display.figure_.canvas.draw()


def test_many_classes_are_drawn_without_numbers():
    P = np.random.default_rng(0).dirichlet(np.ones(20), 100)
    display = cb.displays.JointDistributionDisplay.from_predictions(P.argmax(axis=1), P)
    assert not display.axes_[0].texts
    display.figure_.canvas.draw()
