import numpy as np
import pytest
from scipy import stats

from calibrant import metrics
from calibrant.errors import InputError

SETS = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]], dtype=bool)


def test_share_and_exact_interval():
    found = metrics.set_coverage.interval([0, 2, 1, 2], SETS)
    exact = stats.binomtest(3, 4).proportion_ci(0.95, "exact")
    assert found.value == 0.75
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_a_weight_is_a_repetition():
    twice = metrics.set_coverage.interval([0, 2, 1, 2], SETS, sample_weight=[2, 1, 0, 3])
    assert twice == metrics.set_coverage.interval([0, 0, 2, 2, 2, 2], SETS[[0, 0, 1, 3, 3, 3]])


def test_labels_have_names():
    assert (
        metrics.set_coverage.interval(["b", "a"], [[0, 1], [0, 1]], classes=["a", "b"]).value == 0.5
    )


def test_clusters_of_equal_rows_count_about_once():
    rng = np.random.default_rng(0)
    y, held = np.zeros(80, dtype=int), rng.random(80) < 0.8
    sets, rows = np.column_stack([held, ~held]), np.repeat(np.arange(80), 5)
    once, rowwise = (
        metrics.set_coverage.interval(y, sets),
        metrics.set_coverage.interval(y[rows], sets[rows]),
    )
    clustered = metrics.set_coverage.interval(y[rows], sets[rows], cluster=rows)
    assert clustered.high - clustered.low == pytest.approx(once.high - once.low, rel=0.1)
    assert rowwise.high - rowwise.low < 0.6 * (once.high - once.low)


@pytest.mark.parametrize(
    ("y", "sets", "match"),
    [
        ([0, 1], [[0.5, 0.5], [1, 0]], r"booleans"),
        ([0, 1], [True, False], r"\(n, K\) booleans"),
        ([0, 3], [[1, 0], [0, 1]], "column numbers"),
        ([0], [[1, 0], [0, 1]], "one label for each"),
    ],
)
def test_what_is_refused(y, sets, match):
    with pytest.raises(InputError, match=match):
        metrics.set_coverage.interval(y, sets)
