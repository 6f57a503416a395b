"""The made cells of the repair benchmark are what they say, and our repair gains most of what
there is.
"""

from benchmarks.groups import repair


def test_cells_are_reproduced_and_repaired(capsys):
    p, y, groups, truth = repair.cells(4000, 0, nested=True)
    assert groups.shape == (4000, 4)
    assert abs(y.mean() - truth.mean()) < 0.03
    assert abs(p - truth).mean() > 0.03
    half = slice(0, 2000), slice(2000, 4000)
    q = repair.methods()["GroupCalibrator"](
        p[half[0]], y[half[0]], groups[half[0]], p[half[1]], groups[half[1]]
    )
    assert abs(q - truth[2000:]).mean() < abs(p - truth)[2000:].mean()
    assert repair.multicalibration_error(truth, y, groups) < repair.multicalibration_error(
        p, y, groups
    )


def test_smooth_interactions_are_found():
    p, y, X, truth = repair.smooth(6000, 0)
    q = repair.methods()["Multicalibration"](p[:4000], y[:4000], X[:4000], p[4000:], X[4000:])
    assert abs(q - truth[4000:]).mean() < 0.9 * abs(p - truth)[4000:].mean()
    assert repair.methods()["both"](p, y, X, p, X) is None
